// Patches: sets of locations and of cells.
