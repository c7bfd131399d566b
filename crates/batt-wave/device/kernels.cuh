// A kernel for each op: it fetches the arguments of its items, calls the body and stores the values.

#ifdef BATT_HOST

#define KERNEL(name) static void name(const Wave &w)
/// Calls `f(node, item)` for every item of the wave, with all lanes.
template <class F> INLINE void each_row_item(const Wave &w, F f) {
  for (u32 n = 0; n < w.node_count; n++) {
    const Node &node = ((const Node *)w.nodes)[n];
    for (u32 item = 0; item < node.items; item++) f(node, item);
  }
}
#define each_thread_item each_row_item

#else

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(256) name(const Wave w)
template <class F> INLINE void each_row_item(const Wave &w, F f) {
  u32 stride = gridDim.x * (blockDim.x >> 5), first = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  for (u32 n = blockIdx.y; n < w.node_count; n += gridDim.y) {
    const Node &node = ((const Node *)w.nodes)[n];
    for (u32 item = first; item < node.items; item += stride) f(node, item);
  }
}
/// The same with a lane for each item.
template <class F> INLINE void each_thread_item(const Wave &w, F f) {
  u32 stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  for (u32 n = blockIdx.y; n < w.node_count; n += gridDim.y) {
    const Node &node = ((const Node *)w.nodes)[n];
    for (u32 item = first; item < node.items; item += stride) f(node, item);
  }
}

#endif

INLINE Ctx context(const Wave &w, const Node &node, u32 item, u32 room) {
  Ctx c = {&w, room && node.payload ? node.payload + (u64)item * room : 0, room, item, node.dialect};
  return c;
}

/// What a call gives if some of its arguments are no values: Python evaluates them from left to right.
INLINE V failure_of(const V &x, const V &y) {
  if (is_value(x)) return y;
  if (is_value(y) || (x.kind == y.kind && x.a == y.a)) return x;
  return stopped(ODD);
}

#define FETCH(x, number) V x = arg_of(node.args[number], item)
#define CHECK(x, y) if (!is_value(x) || !is_value(y)) return STORE(failure_of(x, y))
#define BODY_1(name) FETCH(x, 0); CHECK(x, x); STORE(op_##name(c, x))
#define BODY_2(name) FETCH(x, 0); FETCH(y, 1); CHECK(x, y); STORE(op_##name(c, x, y))
#define BODY_3(name)                         \
  FETCH(x, 0); FETCH(y, 1); FETCH(z, 2);     \
  CHECK(x, y); CHECK(z, z);                  \
  STORE(op_##name(c, x, y, z))
#define BODY_4(name)                                   \
  FETCH(x, 0); FETCH(y, 1); FETCH(z, 2); FETCH(t, 3);  \
  CHECK(x, y); CHECK(z, t);                            \
  STORE(op_##name(c, x, y, z, t))
#define ROW(name, count, room)                             \
  KERNEL(wave_##name) {                                    \
    each_row_item(w, [&](const Node &node, u32 item) {     \
      Ctx c = context(w, node, item, room);                \
      auto STORE = [&](const V &v) { put((V *)node.out + item, v); }; \
      BODY_##count(name);                                  \
    });                                                    \
  }
#define THREAD(name, count, room)                          \
  KERNEL(wave_##name) {                                    \
    each_thread_item(w, [&](const Node &node, u32 item) {  \
      Ctx c = context(w, node, item, room);                \
      auto STORE = [&](const V &v) { ((V *)node.out)[item] = v; }; \
      BODY_##count(name);                                  \
    });                                                    \
  }
#include "ops.inc"
#undef ROW
#undef THREAD

#include "ops/closures.cuh"

/// Judges runs. args[0], args[1]: the value and the expected grid; args[2]: the steps; args[3]: the
/// charges. out: a Record an item.
KERNEL(wave_judge) {
  each_row_item(w, [&](const Node &node, u32 item) {
    Ctx c = context(w, node, item, 0);
    V result = arg_of(node.args[0], item), expected = arg_of(node.args[1], item);
    Record r = judge(c, node, result, expected);
    put((Record *)node.out + item, r);
    // Few runs are left, so they do not wait for each other here.
    if (r.end == LEFT) count_left(c, r.which);
  });
}

#ifdef BATT_HOST

typedef void (*HostKernel)(const Wave &);
#define ROW(name, count, room) wave_##name,
#define THREAD(name, count, room) wave_##name,
static const HostKernel KERNELS[] = {
#include "ops.inc"
  wave_count, wave_spread, wave_select, wave_collect_each, wave_collect_filter, wave_collect_first,
  wave_collect_argmax, wave_collect_argmin, wave_collect_valmax, wave_collect_valmin,
  wave_collect_order, wave_judge};
#undef ROW
#undef THREAD

/// Runs a kernel, by its place in ops.inc; `judge` comes after the last op.
extern "C" void batt_wave_host(u32 kernel, const Wave *wave) { KERNELS[kernel](*wave); }
extern "C" u32 batt_wave_host_kernels() { return sizeof(KERNELS) / sizeof(KERNELS[0]); }

#endif
