// Mirrors, rotations and scalings.
#pragma once
#include "op.cuh"
