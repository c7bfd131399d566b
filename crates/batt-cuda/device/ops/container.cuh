// Generic containers: tuples and frozensets of anything.
#pragma once
#include "op.cuh"
