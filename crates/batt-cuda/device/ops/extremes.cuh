// tokpidjin: extremes of patches.
#pragma once
#include "op.cuh"
