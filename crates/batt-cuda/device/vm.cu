// The device VM as NVRTC compiles it.
#include "all.cuh"
