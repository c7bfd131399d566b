// Sorting: order and what is built on it.
#pragma once
#include "op.cuh"
