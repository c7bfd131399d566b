// Lines, frames and neighbourhoods.
#pragma once
#include "op.cuh"
