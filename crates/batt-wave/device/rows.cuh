// Boards of 32 rows with 32 columns, one bit each: the unit that grids and patches are made of.
//
// On a GPU the 32 lanes of a warp hold one row each, in a register. On the host the rows are an
// array and every operation is a loop. The code of the ops is the same: what differs between rows
// happens inside `rows(...)` or in the functions below, and everything else is the same in all
// lanes.

#ifdef BATT_HOST

struct Rows {
  u32 row[32];
  u32 operator[](u32 l) const { return row[l]; }
};

template <class F> INLINE Rows rows(F f) {
  Rows r;
  for (u32 l = 0; l < 32; l++) r.row[l] = f(l);
  return r;
}
/// All rows together: a bit for each column that any row has.
INLINE u32 columns_of(const Rows &a) {
  u32 all = 0;
  for (u32 l = 0; l < 32; l++) all |= a.row[l];
  return all;
}
/// A bit for each row that is not empty.
INLINE u32 rows_of(const Rows &a) {
  u32 all = 0;
  for (u32 l = 0; l < 32; l++) all |= (u32)(a.row[l] != 0) << l;
  return all;
}
INLINE u32 sum(const Rows &a) {
  u32 all = 0;
  for (u32 l = 0; l < 32; l++) all += a.row[l];
  return all;
}
INLINE u32 least(const Rows &a) {
  u32 all = a.row[0];
  for (u32 l = 1; l < 32; l++) all = a.row[l] < all ? a.row[l] : all;
  return all;
}
INLINE u32 xor_of(const Rows &a) {
  u32 all = 0;
  for (u32 l = 0; l < 32; l++) all ^= a.row[l];
  return all;
}
/// For each row, the sum of the rows before it.
INLINE Rows sums_before(const Rows &a) {
  Rows r;
  u32 all = 0;
  for (u32 l = 0; l < 32; l++) {
    r.row[l] = all;
    all += a.row[l];
  }
  return r;
}
/// One row, the same in all lanes.
INLINE u32 row_at(const Rows &a, u32 l) { return a.row[l & 31]; }
/// Row l becomes row from[l].
INLINE Rows gather(const Rows &a, const Rows &from) {
  return rows([&](u32 l) { return a.row[from.row[l] & 31]; });
}
/// Stores a value that all lanes have.
template <class T> INLINE void put(T *at, const T &value) { *at = value; }
INLINE void sync() {}
/// Numbers of 64 bits, one for each lane: number l % LANES of a list in each of them.
const u32 LANES = 32;
INLINE u64 of_lane(const u64 *own, u32 l) { return own[l]; }
/// What this lane stored before, lanes of other warps read no later than what it stores after.
INLINE void publish() {}
/// Runs code in one lane, while the others wait. They see what it stores, and all get what it returns.
template <class F> INLINE u32 alone(F f) { return f(); }

#else

struct Rows {
  u32 row;
  __device__ __forceinline__ u32 operator[](u32) const { return row; }
};

const u32 ALL = 0xffffffffu;
INLINE u32 lane() { return threadIdx.x & 31; }
template <class F> INLINE Rows rows(F f) {
  Rows r = {f(lane())};
  return r;
}
INLINE u32 rows_of(const Rows &a) { return __ballot_sync(ALL, a.row != 0); }
INLINE u32 row_at(const Rows &a, u32 l) { return __shfl_sync(ALL, a.row, (int)l); }
INLINE Rows gather(const Rows &a, const Rows &from) {
  Rows r = {__shfl_sync(ALL, a.row, (int)from.row)};
  return r;
}
#if __CUDA_ARCH__ >= 800
INLINE u32 columns_of(const Rows &a) { return __reduce_or_sync(ALL, a.row); }
INLINE u32 sum(const Rows &a) { return __reduce_add_sync(ALL, a.row); }
INLINE u32 least(const Rows &a) { return __reduce_min_sync(ALL, a.row); }
INLINE u32 xor_of(const Rows &a) { return __reduce_xor_sync(ALL, a.row); }
#else
template <class F> INLINE u32 reduce(u32 x, F f) {
  for (int d = 16; d; d >>= 1) x = f(x, __shfl_xor_sync(ALL, x, d));
  return x;
}
INLINE u32 columns_of(const Rows &a) { return reduce(a.row, [](u32 x, u32 y) { return x | y; }); }
INLINE u32 sum(const Rows &a) { return reduce(a.row, [](u32 x, u32 y) { return x + y; }); }
INLINE u32 least(const Rows &a) {
  return reduce(a.row, [](u32 x, u32 y) { return x < y ? x : y; });
}
INLINE u32 xor_of(const Rows &a) { return reduce(a.row, [](u32 x, u32 y) { return x ^ y; }); }
#endif
INLINE Rows sums_before(const Rows &a) {
  u32 all = a.row;
  for (u32 d = 1; d < 32; d *= 2) {
    u32 x = __shfl_up_sync(ALL, all, d);
    if (lane() >= d) all += x;
  }
  Rows r = {all - a.row};
  return r;
}
template <class T> INLINE void put(T *at, const T &value) {
  if (lane() == 0) *at = value;
}
/// What lanes stored before, all lanes read after.
INLINE void sync() { __syncwarp(); }
const u32 LANES = 1;
INLINE u64 of_lane(const u64 *own, u32 l) { return __shfl_sync(ALL, own[0], (int)l); }
INLINE void publish() { __threadfence(); }
template <class F> INLINE u32 alone(F f) {
  u32 result = 0;
  __syncwarp();
  if (lane() == 0) result = f();
  __syncwarp();
  return __shfl_sync(ALL, result, 0);
}

#endif

INLINE Rows operator&(const Rows &a, const Rows &b) {
  return rows([&](u32 l) { return a[l] & b[l]; });
}
INLINE Rows operator|(const Rows &a, const Rows &b) {
  return rows([&](u32 l) { return a[l] | b[l]; });
}
INLINE Rows operator^(const Rows &a, const Rows &b) {
  return rows([&](u32 l) { return a[l] ^ b[l]; });
}
/// The bits of a that b does not have.
INLINE Rows without(const Rows &a, const Rows &b) {
  return rows([&](u32 l) { return a[l] & ~b[l]; });
}
INLINE Rows no_rows() {
  return rows([](u32) { return 0u; });
}
INLINE bool is_empty(const Rows &a) { return rows_of(a) == 0; }
INLINE bool same(const Rows &a, const Rows &b) { return is_empty(a ^ b); }
/// How many bits there are.
INLINE u32 count(const Rows &a) {
  return sum(rows([&](u32 l) { return popcount(a[l]); }));
}

/// The lowest n bits.
INLINE u32 low(u32 n) { return n >= 32 ? 0xffffffffu : (1u << n) - 1; }
/// Shifts by any distance; a negative one goes the other way.
INLINE u32 shift_up(u32 x, i32 by) {
  if (by >= 32 || by <= -32) return 0;
  return by >= 0 ? x << by : x >> -by;
}
/// The lowest n bits, the other way round.
INLINE u32 reversed(u32 x, u32 n) { return reverse_bits(x) >> (32 - n); }

/// A rectangle at the upper left corner; neither side is 0.
INLINE Rows rectangle(u32 height, u32 width) {
  return rows([&](u32 l) { return l < height ? low(width) : 0u; });
}
/// Moves all rows down and all columns to the right (up and left if negative); what leaves the board is lost.
INLINE Rows moved(const Rows &a, i32 down, i32 right) {
  Rows from = gather(a, rows([&](u32 l) { return (u32)((i32)l - down); }));
  return rows([&](u32 l) {
    i32 k = (i32)l - down;
    return k >= 0 && k < 32 ? shift_up(from[l], right) : 0u;
  });
}
/// The first `height` rows, the last one first.
INLINE Rows upside_down(const Rows &a, u32 height) {
  Rows from = gather(a, rows([&](u32 l) { return height - 1 - l; }));
  return rows([&](u32 l) { return l < height ? from[l] : 0u; });
}
/// The first `width` columns, the last one first.
INLINE Rows left_to_right(const Rows &a, u32 width) {
  return rows([&](u32 l) { return reversed(a[l], width); });
}
/// Rows become columns.
INLINE Rows transposed(const Rows &a) {
#ifdef BATT_HOST
  Rows r = a;
  u32 m = 0x0000ffffu;
  for (u32 s = 16; s; s >>= 1, m ^= m << s)
    for (u32 k = 0; k < 32; k = ((k | s) + 1) & ~s) {
      u32 t = (r.row[k] >> s ^ r.row[k | s]) & m;
      r.row[k] ^= t << s;
      r.row[k | s] ^= t;
    }
  return r;
#else
  u32 x = a.row, m = 0x0000ffffu;
  for (u32 s = 16; s; s >>= 1) {
    u32 y = __shfl_xor_sync(ALL, x, (int)s);
    x = (lane() & s) ? (x & ~m) | ((y & ~m) >> s) : (x & m) | ((y & m) << s);
    m ^= m << (s >> 1);
  }
  Rows r = {x};
  return r;
#endif
}

/// Stretches of `inside` in a row that hold a bit of `seeds`, which lie inside.
INLINE u32 filled_row(u32 seeds, u32 inside) {
  // A sum carries from a seed to the end of its stretch.
  u32 up = inside & ~(inside + seeds);
  u32 turned = reverse_bits(inside);
  u32 down = turned & ~(turned + reverse_bits(seeds));
  return (up | reverse_bits(down) | seeds) & inside;
}
/// All of `inside` that hangs together with the seeds.
INLINE Rows flooded(Rows seeds, const Rows &inside, bool diagonal) {
  seeds = rows([&](u32 l) { return filled_row(seeds[l], inside[l]); });
  for (;;) {
    Rows wide = seeds;
    if (diagonal) wide = rows([&](u32 l) { return seeds[l] | seeds[l] << 1 | seeds[l] >> 1; });
    Rows above = moved(wide, 1, 0), below = moved(wide, -1, 0);
    Rows next = rows([&](u32 l) {
      return filled_row((above[l] | below[l] | seeds[l]) & inside[l], inside[l]);
    });
    if (same(next, seeds)) return seeds;
    seeds = next;
  }
}

/// The smallest rectangle around the bits of a board that is not empty.
struct Bounds {
  u32 top, left, height, width;
};
INLINE Bounds bounds_of(const Rows &a) {
  u32 in_rows = rows_of(a), in_columns = columns_of(a);
  Bounds b;
  b.top = lowest(in_rows);
  b.left = lowest(in_columns);
  b.height = highest(in_rows) + 1 - b.top;
  b.width = highest(in_columns) + 1 - b.left;
  return b;
}

INLINE Rows load_rows(const u32 *from, u32 height) {
  return rows([&](u32 l) { return l < height ? from[l] : 0u; });
}
INLINE void store_rows(u32 *to, const Rows &a, u32 height) {
  (void)rows([&](u32 l) {
    if (l < height) to[l] = a[l];
    return 0u;
  });
}
