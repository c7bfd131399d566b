// Tuples and sets.
