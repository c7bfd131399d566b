// Mirrors, rotations and scalings.
