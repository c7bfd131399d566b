// Measures of grids, patches and pieces: sizes, corners, centres.
#pragma once
#include "op.cuh"
