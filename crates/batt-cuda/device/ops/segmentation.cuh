// Objects, partitions, frontiers.
#pragma once
#include "op.cuh"
