// The device engine: waves. docs/waves.md explains it.
#include "base.cuh"
#include "rows.cuh"
#include "value.cuh"
#include "memory.cuh"
#include "wide.cuh"
#include "hash.cuh"
#include "order.cuh"
#include "walk.cuh"
#include "sets.cuh"
#include "build.cuh"
#include "judge.cuh"

/// Declares the body of an op.
#define ROW_OP(name) INLINE V op_##name
#define THREAD_OP(name) INLINE V op_##name

#include "ops/color.cuh"
// coded.cuh has the ops of grids: those of grid.cuh for more grids.
#undef ROW_OP
#undef THREAD_OP
#define ROW_OP(name) INLINE V plain_##name
#define THREAD_OP(name) INLINE V plain_##name
#include "ops/grid.cuh"
#undef ROW_OP
#undef THREAD_OP
#define ROW_OP(name) INLINE V op_##name
#define THREAD_OP(name) INLINE V op_##name
#include "ops/patch.cuh"
#include "ops/numbers.cuh"
#include "ops/container.cuh"
#include "ops/coded.cuh"
#include "ops/objects.cuh"
#include "ops/tok_patch.cuh"
#include "ops/tok_numbers.cuh"
#include "ops/tok_container.cuh"
#include "ops/tok_grid.cuh"
// On a GPU these are compiled apart from the kernels, which are compiled in several parts.
#if !defined(BATT_KERNELS)
#include "replay.cuh"
#endif
#if !defined(BATT_ORDERS)
#include "kernels.cuh"
#endif
