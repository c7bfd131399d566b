// tokpidjin: what the demonstrations tell.
#pragma once
#include "op.cuh"
