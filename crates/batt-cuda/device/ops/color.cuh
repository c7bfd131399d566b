// Colours.
#pragma once
#include "op.cuh"
