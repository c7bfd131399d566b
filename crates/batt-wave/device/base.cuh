// Numbers, bits and atomics, on the GPU and on the host.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;

#ifdef BATT_HOST

#define INLINE static inline
#define METHOD inline
#define ONE_BY_ONE
/// For functions that many ops call and that are too large to be a part of each.
#define CALLED static inline
INLINE u32 popcount(u32 x) { return (u32)__builtin_popcount(x); }
INLINE u32 reverse_bits(u32 x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
/// The number of the lowest bit; 32 for none.
INLINE u32 lowest(u32 x) { return x ? (u32)__builtin_ctz(x) : 32; }
/// The number of the highest bit of some.
INLINE u32 highest(u32 x) { return 31 - (u32)__builtin_clz(x); }
INLINE u64 atomic_take(u64 *at, u64 n) { return __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }
INLINE u32 atomic_add(u32 *at, u32 n) { return __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }
INLINE void atomic_or(u32 *at, u32 bits) { __atomic_fetch_or(at, bits, __ATOMIC_RELAXED); }
/// Replaces a number if it is the expected one. Returns the number before.
INLINE u32 atomic_swap_if(u32 *at, u32 expected, u32 n) {
  __atomic_compare_exchange_n(at, &expected, n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
INLINE void atomic_min(u32 *at, u32 n) {
  if (n < *at) *at = n;
}

#else

#define INLINE static __device__ __forceinline__
#define METHOD __device__ __forceinline__
/// Before a loop that is to take few registers.
#define ONE_BY_ONE _Pragma("unroll 1")
#define CALLED static __device__ __noinline__
INLINE u32 popcount(u32 x) { return (u32)__popc(x); }
INLINE u32 reverse_bits(u32 x) { return __brev(x); }
INLINE u32 lowest(u32 x) { return x ? (u32)__ffs((int)x) - 1 : 32; }
INLINE u32 highest(u32 x) { return 31 - (u32)__clz((int)x); }
INLINE u64 atomic_take(u64 *at, u64 n) { return atomicAdd(at, n); }
INLINE u32 atomic_add(u32 *at, u32 n) { return atomicAdd(at, n); }
INLINE void atomic_or(u32 *at, u32 bits) { atomicOr(at, bits); }
INLINE u32 atomic_swap_if(u32 *at, u32 expected, u32 n) { return atomicCAS(at, expected, n); }
INLINE void atomic_min(u32 *at, u32 n) { atomicMin(at, n); }

#endif

template <class T> INLINE T min_of(T a, T b) { return a < b ? a : b; }
template <class T> INLINE T max_of(T a, T b) { return a > b ? a : b; }
