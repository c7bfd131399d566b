// Everything: the machine, once more for a lane alone where there are several, and what runs jobs on it. The files do
// not include one another otherwise: NVRTC knows them by these names alone.
#if defined(__CUDACC__) || defined(LANES_HEADER)
namespace alone {
#define ALONE
#include "machine.cuh"
#undef ALONE
}
#endif
#include "machine.cuh"
#include "wire.cuh"
#include "vm.cuh"
