// Grids put together, cut and painted.
#pragma once
#include "op.cuh"
