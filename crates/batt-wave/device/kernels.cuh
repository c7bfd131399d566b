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

/// The most cells and elements in a container, and the most elements: the costs of ops in the tables
/// hold up to here.
const u32 MOST_MASS = 8192;
const u32 MOST_LENGTH = 1024;
/// The largest product of the sizes of two arguments of which one is a tuple. The CPU may compare
/// each element of one with each of the other.
const u32 MOST_PAIRS = 4096;

#ifdef BATT_HOST
#define OUTLINE static
#else
#define OUTLINE static __device__ __noinline__
#endif

template <int DEPTH> INLINE u32 mass_of(const V &v);
/// The same for the elements of a container. Few calls have any, so this is no part of their code.
template <int DEPTH> OUTLINE u32 mass_of_elements(u64 items, u32 count) {
  if (DEPTH == 0 || count > MOST_LENGTH) return MOST_MASS + 1;
  u32 mass = 1;
  for (u32 k = 0; k < count && mass <= MOST_MASS; k++)
    mass += mass_of<(DEPTH ? DEPTH - 1 : 0)>(((const V *)items)[k]);
  return mass;
}
/// How many cells and elements a value has; more than MOST_MASS if containers nest too deeply. The
/// CPU takes a quarter of the work for a cell of a grid.
template <int DEPTH> INLINE u32 mass_of(const V &v) {
  if (is_any_grid(v)) return 1 + v.a * v.b / 4;
  if (v.kind == RAGGED) return 1 + v.a * SIDE / 4;
  if (is_patch(v)) return 1 + size_of_patch(v);
  if (v.kind != TUPLE && v.kind != SET) return 1;
  return mass_of_elements<DEPTH>(v.bits, v.len);
}
/// The same, by all lanes.
INLINE u32 mass_by_all(const V &v) {
  if ((v.kind != TUPLE && v.kind != SET) || v.len > MOST_LENGTH) return mass_of<1>(v);
  sync();
  const V *items = (const V *)v.bits;
  return 1 + sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < v.len && own <= MOST_MASS; k += 32) own += mass_of<3>(items[k]);
    return own;
  }));
}
/// Might the CPU compare each element of one value with each of the other?
INLINE u32 pairs_of(const V &x, const V &y) {
  return x.kind == TUPLE || y.kind == TUPLE ? (u32)min_of((u64)length_of(x) * length_of(y), (u64)MOST_PAIRS + 1) : 0;
}

/// The CPU's steps for each cell and element of the arguments and the result of a call, with what its
/// memory comes to: the fifth field of the table.
INLINE u32 rate_of() { return 24; }
INLINE u32 rate_of(u32) { return 24; }
INLINE u32 rate_of(u32, u32 rate) { return rate; }
/// What every call costs.
const u32 CALL_COST = 96;
const u32 CLOSURE_UNIT = 16;

/// What a lane has done with an item.
struct Done {
  bool paid, left; // must its cost be counted; is it left to all lanes?
  u32 cost;
};
/// The sample that an item in a closure belongs to.
INLINE u32 sample_of(const Node &node, u32 item) { return node.owners ? ((const u32 *)node.owners)[item] : item; }
INLINE u32 units_of(u32 cost) { return (CALL_COST + cost + CLOSURE_UNIT - 1) / CLOSURE_UNIT; }
/// Counts what a call in a closure costs, for its sample.
INLINE void pay(const Node &node, u32 item, u32 cost) {
  atomic_add((u32 *)node.costs + sample_of(node, item), units_of(cost));
}
#ifndef BATT_HOST
/// The same for all lanes with an item each. Those of one sample are added up before.
INLINE void pay_together(const Node &node, u32 item, const Done &done) {
  u32 payers = __ballot_sync(ALL, done.paid);
  if (!done.paid) return;
  u32 sample = sample_of(node, item), units = units_of(done.cost);
#if __CUDA_ARCH__ >= 800
  u32 same = __match_any_sync(payers, sample);
  units = __reduce_add_sync(same, units);
  if (lowest(same) != lane()) return;
#endif
  atomic_add((u32 *)node.costs + sample, units);
}
#endif
INLINE u32 cost_of_pairs(const V &x, const V &y) {
  return is_patch(x) && is_patch(y) ? size_of_patch(x) * size_of_patch(y) / 8 : 50 * pairs_of(x, y);
}

/// Which parameters of a body are of type Any: they may be wide grids.
template <class T> struct IsAny { static constexpr bool value = false; };
template <> struct IsAny<Any> { static constexpr bool value = true; };
template <class F> struct Parameters;
template <class A> struct Parameters<V(const Ctx &, A)> {
  static constexpr bool first = IsAny<A>::value;
};
template <class A, class B> struct Parameters<V(const Ctx &, A, B)> : Parameters<V(const Ctx &, A)> {
  static constexpr bool second = IsAny<B>::value;
};
template <class A, class B, class C> struct Parameters<V(const Ctx &, A, B, C)> : Parameters<V(const Ctx &, A, B)> {
  static constexpr bool third = IsAny<C>::value;
};
template <class A, class B, class C, class D>
struct Parameters<V(const Ctx &, A, B, C, D)> : Parameters<V(const Ctx &, A, B, C)> {
  static constexpr bool fourth = IsAny<D>::value;
};
/// Is this a value that the parameter takes?
template <bool ANY> INLINE bool is_taken(const V &v) { return v.kind > FAULT && (ANY || v.kind < WIDE); }
/// What a call gives if some of its arguments are not taken.
INLINE V refusal_of(const V &x, const V &y) {
  V failed = failure_of(x, y);
  return is_value(failed) ? stopped(SIZE) : failed;
}

#define FETCH(x, number) V x = arg_of(node.args[number], item)
#define CHECK(x, of_x, y, of_y)                                            \
  if (!is_taken<Taken::of_x>(x) || !is_taken<Taken::of_y>(y)) return STORE(refusal_of(x, y))
#define BODY_1(name) FETCH(x, 0); CHECK(x, first, x, first); PAY(x); STORE(op_##name(c, x))
#define BODY_2(name)                                                    \
  FETCH(x, 0); FETCH(y, 1); CHECK(x, first, y, second);                 \
  PAY(x); PAY(y); cost += cost_of_pairs(x, y);                          \
  if (pairs_of(x, y) > MOST_PAIRS) return STORE(stopped(LIMIT));        \
  STORE(op_##name(c, x, y))
#define BODY_3(name)                         \
  FETCH(x, 0); FETCH(y, 1); FETCH(z, 2);     \
  CHECK(x, first, y, second);                \
  CHECK(z, third, z, third);                 \
  PAY(x); PAY(y); PAY(z);                    \
  STORE(op_##name(c, x, y, z))
#define BODY_4(name)                                   \
  FETCH(x, 0); FETCH(y, 1); FETCH(z, 2); FETCH(t, 3);  \
  CHECK(x, first, y, second);                          \
  CHECK(z, third, t, fourth);                          \
  PAY(x); PAY(y); PAY(z); PAY(t);                      \
  STORE(op_##name(c, x, y, z, t))

/// Stores a result of all lanes, unless the CPU might take long with it.
INLINE void store_by_all(const Node &node, u32 item, V v, u32 rate, u32 cost) {
  bool many = v.kind == TUPLE || v.kind == SET;
  u32 mass = many || (node.costs && rate) ? mass_by_all(v) : 0;
  if (mass > MOST_MASS) v = stopped(LIMIT);
  put((V *)node.out + item, v);
  if (!node.costs) return;
#ifdef BATT_HOST
  pay(node, item, cost + rate * mass);
#else
  if (lane() == 0) pay(node, item, cost + rate * mass);
#endif
}
/// The same for a lane alone. Returns what the call costs.
INLINE u32 store_alone(const Node &node, u32 item, V v, u32 rate, u32 cost) {
  bool many = v.kind == TUPLE || v.kind == SET;
  u32 mass = (many || node.costs) && rate ? mass_of<4>(v) : 0;
  if (mass > MOST_MASS) v = stopped(LIMIT);
  ((V *)node.out)[item] = v;
  return cost + rate * mass;
}

/// Calls `f` for each item, in a lane of its own, and `by_all` for those that are left, with all lanes.
template <class F, class G> INLINE void each_own_item(const Wave &w, F f, G by_all) {
#ifdef BATT_HOST
  each_row_item(w, [&](const Node &node, u32 item) {
    Done done = {false, false, 0};
    f(node, item, done);
    if (node.costs && done.paid) pay(node, item, done.cost);
    if (done.left) by_all(node, item);
  });
#else
  u32 stride = gridDim.x * blockDim.x, first = (blockIdx.x * blockDim.x + threadIdx.x) & ~31u;
  for (u32 n = blockIdx.y; n < w.node_count; n += gridDim.y) {
    const Node &node = ((const Node *)w.nodes)[n];
    for (u32 start = first; start < node.items; start += stride) {
      u32 item = start + lane();
      Done done = {false, false, 0};
      if (item < node.items) f(node, item, done);
      __syncwarp();
      if (node.costs) pay_together(node, item, done);
      for (u32 left = __ballot_sync(ALL, done.left); left; left &= left - 1) by_all(node, start + lowest(left));
    }
  }
#endif
}

#define ROW(name, count, room, ...)                                                        \
  KERNEL(wave_##name) {                                                                    \
    each_row_item(w, [&](const Node &node, u32 item) {                                     \
      Ctx c = context(w, node, item, room);                                                \
      using Taken = Parameters<decltype(op_##name)>;                                       \
      const u32 rate = rate_of(__VA_ARGS__);                                               \
      u32 cost = 0;                                                                        \
      auto PAY = [&](const V &v) { if (node.costs && rate) cost += rate * mass_by_all(v); }; \
      auto STORE = [&](const V &v) { store_by_all(node, item, v, rate, cost); };           \
      BODY_##count(name);                                                                  \
    });                                                                                    \
  }
/// By a lane, and if that leaves an item, by all.
#define BY_LANES(name, count, room, by_all, ...)                                           \
  KERNEL(wave_##name) {                                                                    \
    each_own_item(w, [&](const Node &node, u32 item, Done &done) {                         \
      Ctx c = context(w, node, item, room);                                                \
      using Taken = Parameters<decltype(op_##name)>;                                       \
      const u32 rate = rate_of(__VA_ARGS__);                                               \
      u32 cost = 0;                                                                        \
      auto PAY = [&](const V &v) { if (node.costs && rate) cost += rate * mass_of<4>(v); };  \
      auto STORE = [&](const V &v) {                                                       \
        done.left = is_deferred(v);                                                        \
        done.paid = !done.left;                                                            \
        if (done.paid) done.cost = store_alone(node, item, v, rate, cost);                 \
      };                                                                                   \
      BODY_##count(name);                                                                  \
    }, by_all);                                                                            \
  }
#define THREAD(name, count, room, ...) BY_LANES(name, count, room, [](const Node &, u32) {}, __VA_ARGS__)
#define BOTH(name, count, room, ...)                                                       \
  BY_LANES(name, count, room, [&](const Node &node, u32 item) {                            \
    Ctx c = context(w, node, item, room);                                                  \
    using Taken = Parameters<decltype(op_##name##_by_all)>;                                \
    const u32 rate = rate_of(__VA_ARGS__);                                                 \
    u32 cost = 0;                                                                          \
    auto PAY = [&](const V &v) { if (node.costs && rate) cost += rate * mass_by_all(v); };   \
    auto STORE = [&](const V &v) { store_by_all(node, item, v, rate, cost); };             \
    BODY_##count(name##_by_all);                                                           \
  }, __VA_ARGS__)
#include "ops.inc"
#undef ROW
#undef THREAD
#undef BOTH

#include "ops/closures.cuh"
#include "pack.cuh"

/// Judges runs. args[0], args[1]: the value and the expected grid; args[2]: the steps; args[3]: the
/// charges. out: a Record an item.
INLINE void run_judge(const Wave &w) {
  each_row_item(w, [&](const Node &node, u32 item) {
    Ctx c = context(w, node, item, 0);
    V result = arg_of(node.args[0], item), expected = arg_of(node.args[1], item);
    Record r = judge(c, node, result, expected);
    put((Record *)node.out + item, r);
    // Few runs are left, so they do not wait for each other here.
    if (r.end == LEFT) count_left(c, r.which);
  });
}

/// Writes the table of neighbours, once for a device.
INLINE void run_tables(const Wave &w) { each_thread_item(w, write_neighbors); }

#define OTHER(name) KERNEL(wave_##name) { run_##name(w); }
#include "others.inc"
#undef OTHER

#ifdef BATT_HOST

typedef void (*HostKernel)(const Wave &);
#define ROW(name, count, room, ...) wave_##name,
#define THREAD ROW
#define BOTH ROW
#define OTHER(name) wave_##name,
static const HostKernel KERNELS[] = {
#include "ops.inc"
#include "others.inc"
};
#undef ROW
#undef THREAD
#undef BOTH
#undef OTHER

/// Runs a kernel, by its place in ops.inc; `judge` comes after the last op.
extern "C" void batt_wave_host(u32 kernel, const Wave *wave) { KERNELS[kernel](*wave); }
extern "C" u32 batt_wave_host_kernels() { return sizeof(KERNELS) / sizeof(KERNELS[0]); }

#endif
