// tokpidjin: elements by rank.
#pragma once
#include "op.cuh"
