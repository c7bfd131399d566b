// Patches: sets of locations and of cells.
#pragma once
#include "op.cuh"
