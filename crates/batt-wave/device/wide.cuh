// Wide grids: more than 32 rows or columns, up to 64 of each.
//
// A wide board is four boards of 32 x 32. Few runs have wide grids, so functions go through the planes
// one by one, and are called: narrow grids take no more registers because of them.

struct Board {
  Rows part[2][2]; // the upper and the lower half, the left and the right side of each
  /// Row l of a half.
  METHOD u64 row(u32 l, u32 half) const { return (u64)part[half][1][l] << 32 | part[half][0][l]; }
};

/// Computes row l of each half, in lane l.
template <class F> INLINE Board board(F f) {
  Board b;
  for (u32 half = 0; half < 2; half++) {
    b.part[half][0] = rows([&](u32 l) { return (u32)f(l, half); });
    b.part[half][1] = rows([&](u32 l) { return (u32)(f(l, half) >> 32); });
  }
  return b;
}
/// Computes each of the four parts.
template <class F> INLINE Board by_part(F f) {
  Board b;
  for (u32 half = 0; half < 2; half++)
    for (u32 side = 0; side < 2; side++) b.part[half][side] = f(half, side);
  return b;
}
INLINE Board operator&(const Board &a, const Board &b) {
  return by_part([&](u32 half, u32 side) { return a.part[half][side] & b.part[half][side]; });
}
INLINE Board operator|(const Board &a, const Board &b) {
  return by_part([&](u32 half, u32 side) { return a.part[half][side] | b.part[half][side]; });
}
INLINE Board operator^(const Board &a, const Board &b) {
  return by_part([&](u32 half, u32 side) { return a.part[half][side] ^ b.part[half][side]; });
}
INLINE Board without(const Board &a, const Board &b) {
  return by_part([&](u32 half, u32 side) { return without(a.part[half][side], b.part[half][side]); });
}
INLINE Board empty_board() {
  return by_part([](u32, u32) { return no_rows(); });
}
/// A board that is empty but for its upper left part.
INLINE Board widened(const Rows &a) {
  return by_part([&](u32 half, u32 side) { return half || side ? no_rows() : a; });
}
/// A bit for each row that is not empty.
INLINE u64 rows_of(const Board &a) {
  return (u64)rows_of(a.part[1][0] | a.part[1][1]) << 32 | rows_of(a.part[0][0] | a.part[0][1]);
}
INLINE u64 columns_of(const Board &a) {
  return (u64)columns_of(a.part[0][1] | a.part[1][1]) << 32 | columns_of(a.part[0][0] | a.part[1][0]);
}
INLINE bool is_empty(const Board &a) { return rows_of(a) == 0; }
/// One row, the same in all lanes.
INLINE u64 row_at(const Board &a, u32 row) {
  u32 l = row & 31;
  if (row < 32) return (u64)row_at(a.part[0][1], l) << 32 | row_at(a.part[0][0], l);
  return (u64)row_at(a.part[1][1], l) << 32 | row_at(a.part[1][0], l);
}

INLINE u64 low_64(u32 n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
INLINE u64 shift_up_64(u64 x, i32 by) {
  if (by >= 64 || by <= -64) return 0;
  return by >= 0 ? x << by : x >> -by;
}
INLINE u32 lowest_64(u64 x) { return (u32)x ? lowest((u32)x) : 32 + lowest((u32)(x >> 32)); }
INLINE u32 popcount_64(u64 x) { return popcount((u32)x) + popcount((u32)(x >> 32)); }

/// A rectangle at the upper left corner.
INLINE Board wide_rectangle(u32 height, u32 width) {
  return board([&](u32 l, u32 half) { return l + 32 * half < height ? low_64(width) : 0; });
}
/// Row r becomes row from(r), or empty if there is no such row.
template <class F> INLINE Board picked(const Board &a, F from) {
  Board b;
  for (u32 half = 0; half < 2; half++) {
    Rows at = rows([&](u32 l) { return (u32)from(l + 32 * half); });
    for (u32 side = 0; side < 2; side++) {
      Rows upper = gather(a.part[0][side], at), lower = gather(a.part[1][side], at);
      b.part[half][side] = rows([&](u32 l) { return at[l] < 32 ? upper[l] : at[l] < 64 ? lower[l] : 0u; });
    }
  }
  return b;
}
/// The operations of `rows.cuh`.
INLINE Board moved(const Board &a, i32 down, i32 right) {
  Board from = picked(a, [&](u32 row) { return row - (u32)down; });
  return board([&](u32 l, u32 half) { return shift_up_64(from.row(l, half), right); });
}
INLINE Board upside_down(const Board &a, u32 height) {
  return picked(a, [&](u32 row) { return height - 1 - row; });
}
INLINE Board left_to_right(const Board &a, u32 width) {
  return board([&](u32 l, u32 half) {
    u64 x = a.row(l, half);
    return ((u64)reverse_bits((u32)x) << 32 | reverse_bits((u32)(x >> 32))) >> (64 - width);
  });
}
INLINE Board transposed(const Board &a) {
  return by_part([&](u32 half, u32 side) { return transposed(a.part[side][half]); });
}
/// `filled_row` of `rows.cuh`.
INLINE u64 filled_row_64(u64 seeds, u64 inside) {
  auto turned = [](u64 x) { return (u64)reverse_bits((u32)x) << 32 | reverse_bits((u32)(x >> 32)); };
  u64 up = inside & ~(inside + seeds), other = turned(inside);
  u64 down = other & ~(other + turned(seeds));
  return (up | turned(down) | seeds) & inside;
}
INLINE Board flooded(Board seeds, const Board &inside, bool diagonal) {
  seeds = board([&](u32 l, u32 half) { return filled_row_64(seeds.row(l, half), inside.row(l, half)); });
  for (;;) {
    Board wide = seeds;
    if (diagonal)
      wide = board([&](u32 l, u32 half) {
        u64 x = seeds.row(l, half);
        return x | x << 1 | x >> 1;
      });
    Board near = seeds | picked(wide, [](u32 row) { return row - 1; }) | picked(wide, [](u32 row) { return row + 1; });
    Board next = board([&](u32 l, u32 half) {
      return filled_row_64(near.row(l, half) & inside.row(l, half), inside.row(l, half));
    });
    if (is_empty(next ^ seeds)) return seeds;
    seeds = next;
  }
}

// ---- Values ---------------------------------------------------------------------------------------

/// The colour of a cell of a WIDE grid.
INLINE u32 wide_color(const V &v, u32 row, u32 column) {
  const u64 *word = (const u64 *)v.bits + row;
  u32 color = 0;
  for (u32 k = 0; k < 4; k++) color |= (u32)(word[k * v.a] >> column & 1) << k;
  return color;
}
/// Are two WIDE grids equal?
INLINE bool same_wide(const V &x, const V &y) {
  if (x.a != y.a || x.b != y.b) return false;
  for (u32 k = 0; k < 4u * x.a; k++)
    if (((const u64 *)x.bits)[k] != ((const u64 *)y.bits)[k]) return false;
  return true;
}
/// A plane of a GRID or a WIDE grid.
INLINE Board wide_plane(const V &v, u32 k) {
  if (v.kind == GRID) return widened(load_rows((const u32 *)v.bits + 32 * k, v.a));
  const u64 *from = (const u64 *)v.bits + k * v.a;
  return board([&](u32 l, u32 half) { return l + 32 * half < v.a ? from[l + 32 * half] : 0; });
}
INLINE Board wide_area(const V &v) { return wide_rectangle(v.a, v.b); }
/// The cells of a colour in a GRID or a WIDE grid.
INLINE Board wide_of_color(const V &v, u32 color) {
  Board found = wide_area(v);
  ONE_BY_ONE
  for (u32 k = 0; k < 4; k++) {
    Board x = wide_plane(v, k);
    found = color >> k & 1 ? found & x : without(found, x);
  }
  return found;
}
/// The grid whose planes are those that `plane` gives, cut to its size. It is a GRID if it fits.
template <class F> INLINE V wide_value(const Ctx &c, u32 height, u32 width, F plane) {
  if (height > WIDE_SIDE || width > WIDE_SIDE) return stopped(SIZE);
  bool narrow = height <= SIDE && width <= SIDE;
  void *to = room_for(c, narrow ? GRID_BYTES : height * 32);
  if (!to) return stopped(MEMORY);
  ONE_BY_ONE
  for (u32 k = 0; k < 4; k++) {
    Board x = plane(k);
    for (u32 half = 0; half < 2; half++)
      (void)rows([&](u32 l) {
        u32 row = l + 32 * half;
        u64 bits = x.row(l, half) & low_64(width);
        if (row >= height) return 0u;
        if (narrow) ((u32 *)to)[32 * k + row] = (u32)bits;
        else ((u64 *)to)[height * k + row] = bits;
        return 0u;
      });
  }
  return make(narrow ? GRID : WIDE, (u8)height, (u8)width, 0, 0, (u64)to);
}
// ---- Patches of wide grids ------------------------------------------------------------------------

/// The kernel leaves larger sets to the CPU: MOST_LENGTH in `kernels.cuh`.
const u32 MOST_LISTED = 1024;
/// The set that Python builds of an element for each bit, row by row.
template <class F> INLINE V set_of_bits(const Ctx &c, const Board &where, F element) {
  Rows counts[2], from[2];
  for (u32 half = 0; half < 2; half++) {
    counts[half] = rows([&](u32 l) { return popcount_64(where.row(l, half)); });
    from[half] = sums_before(counts[half]);
  }
  u32 above = sum(counts[0]), n = above + sum(counts[1]);
  if (n > MOST_LISTED) return stopped(LIMIT);
  V *to = (V *)take(c, (u64)n * sizeof(V));
  if (!to) return stopped(MEMORY);
  for (u32 half = 0; half < 2; half++)
    (void)rows([&](u32 l) {
      V *own = to + from[half][l] + (half ? above : 0);
      for (u64 todo = where.row(l, half); todo; todo &= todo - 1) *own++ = element(l + 32 * half, lowest_64(todo));
      return 0u;
    });
  sync();
  return make(SET, 0, 0, n == 1 ? IN_ORDER : BUILT, n, (u64)to);
}
/// The set of some locations that Python builds row by row.
CALLED V indices_in_wide(const Ctx c, const Board where) {
  if (is_empty(where)) return empty_patch();
  u64 in_rows = rows_of(where), in_columns = columns_of(where);
  u32 top = lowest_64(in_rows), left = lowest_64(in_columns);
  if (in_rows >> top >> 32 || in_columns >> left >> 32)
    return set_of_bits(c, where, [](u32 i, u32 j) { return pair((i32)i, (i32)j); });
  Rows mask = moved(where, -(i32)top, -(i32)left).part[0][0];
  return walked(indices(c, mask, (i32)top, (i32)left), ROWS_BUILT);
}
/// The set of all cells of a WIDE grid.
CALLED V cells_of_wide(const Ctx c, const V grid) {
  return set_of_bits(c, wide_area(grid), [&](u32 i, u32 j) {
    return make(CELL, (u8)wide_color(grid, i, j), 0, 0, place((i32)i, (i32)j), 0);
  });
}

/// The board of the locations of some PAIRs or CELLs, those that `keep` chooses. `words` is memory for it.
template <class F> INLINE Board board_of_items(u32 *words, const V *items, u32 n, F keep) {
  (void)rows([&](u32 l) {
    for (u32 k = l; k < 2 * WIDE_SIDE; k += 32) words[k] = 0;
    return 0u;
  });
  sync();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) {
      u32 i = (u32)row_of(items[k].len), j = (u32)column_of(items[k].len);
      if (i < WIDE_SIDE && j < WIDE_SIDE && keep(items[k])) atomic_or(words + 2 * i + j / 32, 1u << (j & 31));
    }
    return 0u;
  });
  sync();
  Board found = by_part([&](u32 half, u32 side) {
    return rows([&](u32 l) { return words[2 * (l + 32 * half) + side]; });
  });
  sync();
  return found;
}
/// Is a grid so large that drawing the elements of a tuple on it may cost the CPU more than the bounds of
/// the ops?
INLINE bool costs_much(const V &grid, const V &list) { return list.kind == TUPLE && grid.a * grid.b > 2048; }

// ---- Colours of cells -----------------------------------------------------------------------------

/// The grid with some cells of another value.
CALLED V wide_with_value(const Ctx c, const V grid, const Board where, const V value) {
  // Another value costs the CPU much, also where no cell gets it.
  if (value.kind != INT || value.bits > 15) return stopped(ODD);
  if (is_empty(where)) return grid;
  return wide_value(c, grid.a, grid.b, [&](u32 k) {
    Board x = wide_plane(grid, k);
    return value.bits >> k & 1 ? x | where : without(x, where);
  });
}
