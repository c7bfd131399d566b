// Patches: their bounds, and moving, mirroring and surrounding them.
