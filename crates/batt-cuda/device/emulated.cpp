// The device VM for the host: one lane, the same source.
#include "all.cuh"
