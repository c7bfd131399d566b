// Measures of grids, patches and pieces: sizes, corners, centres.
