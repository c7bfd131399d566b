// Grids put together, cut and painted.
