// The ground everything stands on: lanes, memory, values, faults.
//
// A warp executes one run. All lanes follow the same control flow and hold the same values in their variables
// ("uniform" code); only loops over cells or elements are shared out among the lanes:
//
//     for (u32 k = lane(); k < n; k += LANES) { ... }   // each lane its own elements
//     sync();                                           // before anybody reads what others wrote
//
// Rules for such code, all of which the compiler cannot check:
//   - A collective (sync, any, sum, ...) is called by all lanes or by none: never inside a shared-out loop.
//   - What one lane wrote to memory, another reads only after a sync().
//   - Uniform code stores single values through `put`, which one lane does, and syncs.
//   - Read-modify-write of memory in uniform code is done by lane 0 alone: if (lane() == 0) { ... } sync();
//
//   - A function that lanes run through each on its own way does not call itself, but another one that does (`..._inside`).
//     ptxas takes one that calls itself for uniform: it counts its loops in registers of the warp, and does not bring lanes
//     together again.
//
// With a single lane all of this is ordinary sequential code. So it is on the host, where only warp.cpp has 32 lanes, which
// keep watch over the rules; and so it is where the lanes of a warp go their own ways for a while (alone.cuh).

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;

#if defined(ALONE) || !(defined(__CUDACC__) || defined(LANES_HEADER))
#define SINGLE_LANE
#else
#undef SINGLE_LANE
#endif

/// Lanes that go their own ways at the same time, and share the time it takes.
#ifdef ALONE
const u32 COMPANY = 32;
#else
const u32 COMPANY = 1;
#endif

#ifdef __CUDACC__

#define DEVICE __device__
#define INLINE __device__ __forceinline__
#define OUTLINE __device__ __noinline__
#define CONSTANT __device__ const
INLINE u32 popcount(u32 bits) { return __popc(bits); }
/// The lowest set bit; 32 for none.
INLINE u32 lowest(u32 bits) { return bits ? __ffs(bits) - 1 : 32; }
/// The highest set bit of some.
INLINE u32 highest(u32 bits) { return 31 - __clz(bits); }
INLINE u64 clock_cycles() { return clock64(); }
INLINE void atomic_add(u64 *at, u64 n) { atomicAdd(at, n); }
INLINE u64 atomic_take(u64 *at, u64 n) { return atomicAdd(at, n); }

#else

#include <cmath>
#include <cstring>
#define DEVICE static
#define INLINE static inline
#define OUTLINE static
#define CONSTANT static const
INLINE u32 popcount(u32 bits) { return __builtin_popcount(bits); }
INLINE u32 lowest(u32 bits) { return bits ? __builtin_ctz(bits) : 32; }
INLINE u32 highest(u32 bits) { return 31 - __builtin_clz(bits); }
INLINE u64 clock_cycles() { return __builtin_ia32_rdtsc(); }
INLINE void atomic_add(u64 *at, u64 n) { __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }
INLINE u64 atomic_take(u64 *at, u64 n) { return __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }

#endif

#if defined(__CUDACC__) && !defined(SINGLE_LANE)

const u32 LANES = 32;
const u32 ALL = 0xffffffffu;
INLINE u32 lane() { return threadIdx.x & 31; }
INLINE void sync() { __syncwarp(); }
INLINE bool any(bool p) { return __any_sync(ALL, p); }
INLINE bool all(bool p) { return __all_sync(ALL, p); }
/// One bit for each lane.
INLINE u32 ballot(bool p) { return __ballot_sync(ALL, p); }
/// The lanes before this one.
INLINE u32 lanes_before() { return (1u << lane()) - 1; }
/// The value that a lane holds, for all.
template <class T> INLINE T from_lane(T x, u32 source) { return __shfl_sync(ALL, x, source); }
template <class T> INLINE T shifted(T x, u32 by) { return __shfl_xor_sync(ALL, x, by); }
template <class T> INLINE T shifted_up(T x, u32 by) { return __shfl_up_sync(ALL, x, by); }
// On memory that the lanes of a run have in common.
INLINE u32 atomic_or(u32 *at, u32 bits) { return atomicOr(at, bits); }
INLINE u32 atomic_add32(u32 *at, u32 n) { return atomicAdd(at, n); }
INLINE u32 atomic_min(u32 *at, u32 n) { return atomicMin(at, n); }
INLINE u32 atomic_swap_if(u32 *at, u32 old, u32 fresh) { return atomicCAS(at, old, fresh); }

#else

#ifdef SINGLE_LANE
const u32 LANES = 1;
INLINE u32 lane() { return 0; }
INLINE void sync() {}
INLINE bool any(bool p) { return p; }
INLINE bool all(bool p) { return p; }
INLINE u32 ballot(bool p) { return p ? 1 : 0; }
INLINE u32 lanes_before() { return 0; }
template <class T> INLINE T from_lane(T x, u32) { return x; }
template <class T> INLINE T shifted(T x, u32) { return x; }
template <class T> INLINE T shifted_up(T x, u32) { return x; }
#else
// 32 lanes on the host: see warp.cpp.
#include LANES_HEADER
#endif
INLINE u32 atomic_or(u32 *at, u32 bits) { u32 old = *at; *at |= bits; return old; }
INLINE u32 atomic_add32(u32 *at, u32 n) { u32 old = *at; *at += n; return old; }
INLINE u32 atomic_min(u32 *at, u32 n) { u32 old = *at; if (n < old) *at = n; return old; }
INLINE u32 atomic_swap_if(u32 *at, u32 old, u32 fresh) { u32 was = *at; if (was == old) *at = fresh; return was; }

#endif

// Reductions over the lanes: every lane gets the result.
template <class T> INLINE T sum(T x) {
  for (u32 by = LANES / 2; by; by >>= 1) x += shifted(x, by);
  return x;
}
template <class T> INLINE T least(T x) {
  for (u32 by = LANES / 2; by; by >>= 1) { T y = shifted(x, by); if (y < x) x = y; }
  return x;
}
template <class T> INLINE T largest(T x) {
  for (u32 by = LANES / 2; by; by >>= 1) { T y = shifted(x, by); if (x < y) x = y; }
  return x;
}
template <class T> INLINE T xor_all(T x) {
  for (u32 by = LANES / 2; by; by >>= 1) x ^= shifted(x, by);
  return x;
}
/// The sum over the lanes before this one.
INLINE u32 sum_before(u32 x) {
  u32 total = x;
  for (u32 by = 1; by < LANES; by <<= 1) {
    u32 y = shifted_up(total, by);
    if (lane() >= by) total += y;
  }
  return total - x;
}

template <class T> INLINE T min_of(T a, T b) { return b < a ? b : a; }
template <class T> INLINE T max_of(T a, T b) { return a < b ? b : a; }

// ---- Values ----------------------------------------------------------------------------------------------

enum Kind : u8 {
  NONE, BOOL, INT, FLOAT, PAIR, CELL, ROW, GRID, TUPLE, SET_P, SET_C, SET_V, OP_, CLOSURE,
  FAILED,  // a fault on its way to the caller
  STOPPED, // the run cannot be finished here, see Ctx::stop
};

/// What Python would have raised; the numbers are positions in `Fault::ALL`.
enum Fault : u8 {
  TYPE_, INDEX_, KEY_, ATTRIBUTE_, VALUE_, STOP_ITERATION, RUNTIME_, ZERO_DIVISION, RECURSION_, OVERFLOW_,
};

/// Why a run is left to the CPU.
enum Reason : u32 {
  DONE, ORDER, SIZE, ARENA, FUEL, DEPTH, MISSING, OUTPUT, FAULTS, NOT_REACHED, ODD,
  TOGETHER, // a lane alone leaves it to all lanes: no run ends with this
};

// Flags of a set.
const u8 ORDERED = 1; // elements stand in CPython's iteration order; slots and table size are known
const u8 DUMMIES = 2; // the table has slots of removed elements

enum Form : u8 { COMPOSE, CHAIN, MATCHER, FORK, LBIND, RBIND, POWER };

/// A value. Containers live in the run's arena and are named by their offset.
struct V {
  u8 kind;
  u8 flags; // BOOL: the bool; sets: ORDERED, DUMMIES; CLOSURE: its Form; FAILED: the Fault
  u8 lg;    // sets with ORDERED: binary logarithm of the table size; CLOSURE: its arity
  u8 spare;
  u32 len;  // ROW, TUPLE, sets: number of elements; CLOSURE: its number
  // INT: low and high word; FLOAT: likewise; PAIR: `lo`; CELL: `lo` the pair, `hi` the colour; ROW: offset of
  // the bytes; GRID: offset of the bytes, height << 16 | width; TUPLE: offset of the values; SET_P: offset of pair
  // words; SET_C: offset of (pair word, colour); SET_V: offset of values; sets: `hi` offset of the slots;
  // OP_: index; CLOSURE: offset of up to three values.
  u32 lo, hi;
};

/// A set of cells holds these.
struct Dot { u32 at; i32 color; };

const u32 SCRATCH = 2048;

/// One run in progress. Every lane has its own copy, and all copies are the same.
struct Ctx {
  u8 *arena;
  u32 top;   // the next free byte
  u32 limit; // bytes of the arena
  i64 fuel;  // about the CPU's steps: one for a call, some for elements touched and memory taken
  i64 work;  // the same for what lanes do alone while others do as much: it takes no time, but it would on the CPU
  i64 budget; // bytes that may still be taken, counting most of those that were given back: the CPU gives back less
  u32 stop;  // a Reason once the run cannot be finished here
  u32 depth; // of calls
  u32 closures;
  u32 fallbacks;
  u32 unpaid; // fallbacks of which the CPU's way to them has not been paid for
  u8 dialect;
  bool exact; // keep CPython's order of every set
  const u16 *ranks; // see ranks_of
  bool by_address; // something has been hashed that CPython hashes by its address
  u8 *scratch; // SCRATCH bytes of fast memory, used by one primitive at a time and by nobody across calls
  u64 *op_counters; // two for each primitive, or null: calls, and cycles less those of the calls inside
  u64 nested;       // cycles of the calls inside the one under way
};

INLINE bool triples(const Ctx &c) { return c.dialect == 2; }
INLINE bool re_arc(const Ctx &c) { return c.dialect == 1; }

INLINE V make(u8 kind, u8 flags, u32 len, u32 lo, u32 hi) {
  V v;
  v.kind = kind; v.flags = flags; v.lg = 0; v.spare = 0; v.len = len; v.lo = lo; v.hi = hi;
  return v;
}
INLINE V none() { return make(NONE, 0, 0, 0, 0); }
INLINE V boolean(bool b) { return make(BOOL, b ? 1 : 0, 0, 0, 0); }
INLINE V integer(i64 n) { return make(INT, 0, 0, (u32)(u64)n, (u32)((u64)n >> 32)); }
INLINE V floating_bits(u64 bits) { return make(FLOAT, 0, 0, (u32)bits, (u32)(bits >> 32)); }
INLINE u32 pair_word(i32 i, i32 j) { return ((u32)i << 16) | ((u32)j & 0xffff); }
INLINE i32 row_of(u32 word) { return (i32)word >> 16; }
INLINE i32 column_of(u32 word) { return (i16)(word & 0xffff); }
INLINE V pair_of_word(u32 word) { return make(PAIR, 0, 0, word, 0); }
INLINE V cell_of(u32 at, i32 color) { return make(CELL, 0, 0, at, (u32)color); }
INLINE V primitive(u32 index) { return make(OP_, 0, 0, index, 0); }
INLINE V failed(u8 fault) { return make(FAILED, fault, 0, 0, 0); }
INLINE V empty_tuple() { return make(ROW, 0, 0, 0, 0); }
/// The run cannot be finished here; whoever sees it hands it on.
INLINE V stop(Ctx &c, u32 reason) {
  if (!c.stop) c.stop = reason;
  return make(STOPPED, 0, 0, 0, 0);
}
/// Arguments of a kind that is left to the CPU.
INLINE V odd(Ctx &c) { return stop(c, ODD); }
/// A fault, or the end of the run.
INLINE bool is_bad(V v) { return v.kind >= FAILED; }
#define TRY(v) do { if (is_bad(v)) return v; } while (0)
/// After functions that give no value: has the run been stopped?
#define CHECK(c) do { if ((c).stop) return make(STOPPED, 0, 0, 0, 0); } while (0)

INLINE i64 int_of(V v) { return (i64)((u64)v.hi << 32 | v.lo); }
INLINE u64 bits_of(V v) { return (u64)v.hi << 32 | v.lo; }
INLINE bool is_number(V v) { return v.kind == INT || v.kind == BOOL; }
/// The int or bool as a number.
INLINE i64 number_of(V v) { return v.kind == BOOL ? v.flags : int_of(v); }
INLINE bool is_set(V v) { return v.kind >= SET_P && v.kind <= SET_V; }
INLINE bool is_tuple(V v) { return v.kind >= PAIR && v.kind <= TUPLE; }
INLINE bool is_container(V v) { return v.kind >= PAIR && v.kind <= SET_V; }
INLINE bool is_function(V v) { return v.kind == OP_ || v.kind == CLOSURE; }
/// A set of locations or of cells; the empty set counts.
INLINE bool is_patch(V v) { return v.kind == SET_P || v.kind == SET_C; }
INLINE bool fits16(i64 n) { return n >= -32768 && n <= 32767; }
INLINE bool fits32(i64 n) { return n >= -2147483648LL && n <= 2147483647LL; }
/// Does it lie in no arena?
INLINE bool is_scalar(V v) { return v.kind <= CELL || v.kind == OP_; }
INLINE bool same_bits(V a, V b) {
  return a.kind == b.kind && a.flags == b.flags && a.len == b.len && a.lo == b.lo && a.hi == b.hi;
}

// ---- Memory ----------------------------------------------------------------------------------------------

INLINE void spend_shared(Ctx &c, u64 work);

/// Room in the arena, aligned to 16 bytes; null when it is full, and then the run is stopped.
OUTLINE u8 *room(Ctx &c, u64 bytes) {
  if (c.stop || bytes > c.limit - c.top) {
    stop(c, ARENA);
    return nullptr;
  }
  u8 *at = c.arena + c.top;
  c.budget -= (i64)bytes;
  spend_shared(c, bytes >> 8);
  if (c.budget < 0) {
    stop(c, ARENA);
    return nullptr;
  }
  c.top += ((u32)bytes + 15) & ~15u;
  if (c.top > c.limit) c.top = c.limit;
  return at;
}
template <class T> INLINE T *room_for(Ctx &c, u64 n) { return (T *)room(c, n * sizeof(T)); }
INLINE u32 offset_of(const Ctx &c, const void *at) { return (u32)((const u8 *)at - c.arena); }
/// Declares `name` as room for n items; leaves the function when the arena is full.
#define ROOM(type, name, c, n) \
  type *name = room_for<type>(c, n); \
  if (!name) return make(STOPPED, 0, 0, 0, 0)

/// Temporary memory is given back by resetting the top: u32 mark = c.top; ... c.top = mark;

/// Work that is about to be done. Once there is no fuel left the run is stopped, and loops that look at c.stop end.
INLINE void spend(Ctx &c, u64 work) {
  c.fuel -= (i64)work;
  if (c.fuel < 0) stop(c, FUEL);
}

/// What takes no time here, but does on the CPU. If there is no work left to be done, fuel may stand for it.
INLINE void spend_work(Ctx &c, i64 work) {
  c.work -= work;
  if (c.work >= 0) return;
  c.fuel += c.work;
  c.work = 0;
  if (c.fuel < 0) stop(c, FUEL);
}

/// What the lanes share out evenly: time for a part, the rest is work.
INLINE void spend_shared(Ctx &c, u64 work) {
  u64 time = (work + LANES - 1) / LANES;
  if (LANES > 1) spend_work(c, (i64)(work - time));
  spend(c, time);
}

/// Lanes that part take turns: what all but one of them do takes as long as this part of it would by itself. Measured, see
/// docs/experiments/2026-11-16-gpu-lanes-alone.md.
const i64 SIDE_BY_SIDE = 6;

/// What each lane does by itself, at the same time as the others: the most that one of them does takes time, the rest is work for
/// the most part.
INLINE void spend_beside(Ctx &c, i64 mine) {
  i64 most = largest(mine), rest = sum(mine) - most, turns = rest / SIDE_BY_SIDE;
  spend_work(c, rest - turns);
  spend(c, (u64)(most + turns));
}

/// What the CPU does and nobody does here: it takes no time, unless others wait for a lane that is ALONE.
INLINE void owe(Ctx &c, u64 effort) {
#ifdef ALONE
  spend(c, effort);
#else
  spend_work(c, (i64)effort);
#endif
}

/// One lane stores.
template <class T> INLINE void put(T *at, T value) {
  if (lane() == 0) *at = value;
}

template <class T> INLINE void copy(T *to, const T *from, u32 n) {
  for (u32 k = lane(); k < n; k += LANES) to[k] = from[k];
}
template <class T> INLINE void fill_with(T *to, T value, u32 n) {
  for (u32 k = lane(); k < n; k += LANES) to[k] = value;
}

/// Scratch memory for n items: fast if they fit, else from the arena (null when that is full).
template <class T> INLINE T *scratch_for(Ctx &c, u64 n) {
  if (n * sizeof(T) <= SCRATCH) return (T *)c.scratch;
  return room_for<T>(c, n);
}

INLINE V *values_of(const Ctx &c, V v) { return (V *)(c.arena + v.lo); }
INLINE u8 *bytes_of(const Ctx &c, V v) { return c.arena + v.lo; }
INLINE u32 *pairs_of(const Ctx &c, V v) { return (u32 *)(c.arena + v.lo); }
INLINE Dot *dots_of(const Ctx &c, V v) { return (Dot *)(c.arena + v.lo); }
INLINE u32 *slots_of(const Ctx &c, V v) { return (u32 *)(c.arena + v.hi); }
INLINE u32 height_of(V grid) { return grid.hi >> 16; }
INLINE u32 width_of(V grid) { return grid.hi & 0xffff; }

/// The location of element k of a patch.
INLINE u32 location(const Ctx &c, V patch, u32 k) {
  return patch.kind == SET_P ? pairs_of(c, patch)[k] : dots_of(c, patch)[k].at;
}
