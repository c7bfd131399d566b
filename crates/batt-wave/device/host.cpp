// The device source, compiled for the host.
#define BATT_HOST
#include "waves.cu"
