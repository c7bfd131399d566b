// The end of a run: its fault, or the verdict on its value and the value's hash.

/// How a run ended: `Record` in src/layout.rs.
struct Record {
  u8 end;    // 0: a value, 1: a fault, 2: the device could not finish
  u8 which;  // the fault or the reason
  u16 charge; // the cost of the run in units of COST_UNIT, rounded up
  u32 detail; // the step that failed, or the verdict on the value
  u64 hash;
};

/// The end of a run that falls back to the CPU.
const u8 LEFT = 2;

INLINE void count_left(const Ctx &c, u32 reason) {
  Heap *heap = (Heap *)c.wave->heap;
#ifdef BATT_HOST
  atomic_take(&heap->left[reason & 7], 1);
#else
  if (lane() == 0) atomic_take(&heap->left[reason & 7], 1);
#endif
}

const u32 NO_EXPECTED = 0xffffffffu;
const u32 NOT_A_GRID = 0xfffffffeu;

INLINE u32 verdict_of(const V &v, const V &expected) {
  if (expected.kind != GRID) return NO_EXPECTED;
  if (!is_any_grid(v)) return NOT_A_GRID;
  // Expected grids are not wide.
  if (v.a != expected.a || v.b != expected.b) return 0x80000000u | (u32)v.a << 16 | v.b;
  Grid x = grid_of(v), y = grid_of(expected);
  Rows wrong = no_rows();
  for (u32 k = 0; k < 4; k++) wrong = wrong | (x.plane[k] ^ y.plane[k]);
  return count(wrong);
}

/// Cell j of a row of numbers; None if the row is no such tuple.
INLINE V number_in_row(const Ctx &c, const V &row, u32 j) {
  if (row.kind == TUPLE) return ((const V *)row.bits)[j];
  bool flat = row.kind == PAIR || (row.kind == CELL && has_triples(c));
  return !flat ? none() : integer(j == 2 ? row.a : j ? column_of(row.len) : row_of(row.len));
}
/// The verdict on a tuple that is no GRID. Numbers up to 255 make a grid. One with bools is none, but it may
/// equal the expected one.
INLINE u32 verdict_of_tuple(const Ctx &c, const V &v, const V &expected) {
  const V *items = (const V *)v.bits;
  if (v.len == 0) return NOT_A_GRID;
  auto width_of = [&](const V &row) { return row.kind == TUPLE ? row.len : row.kind == PAIR ? 2u : row.kind == CELL && has_triples(c) ? 3u : 0u; };
  u32 width = width_of(items[0]), flags = 0;
  bool fits = v.len == expected.a && width == expected.b;
  const u32 *planes = (const u32 *)expected.bits;
  u32 wrong = sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < v.len; k += 32) {
      if (width_of(items[k]) != width || width == 0) {
        flags |= 1;
        continue;
      }
      for (u32 j = 0; j < width; j++) {
        V cell = number_in_row(c, items[k], j);
        if (cell.kind != INT || cell.bits > 255) flags |= 2;
        u32 color = 0;
        for (u32 p = 0; fits && p < 4; p++) color |= (planes[32 * p + k] >> j & 1) << p;
        own += fits && !(is_int(cell) && cell.bits == color);
      }
    }
    return own;
  }));
  flags = columns_of(rows([&](u32) { return flags; }));
  if (flags & 1) return NOT_A_GRID;
  if (flags & 2) return fits && wrong == 0 ? 0 : NOT_A_GRID;
  return fits ? wrong : 0x80000000u | v.len << 16 | width;
}

/// The values of a step.
struct Step {
  u64 values;
  u32 each, step;
};

/// What closures cost: for each sample, the number of elements or what a call came to, and the cost of one.
struct Charge {
  u64 counts;
  u32 weight, each;
};

/// The unit in which records have the cost of a run.
const u64 COST_UNIT = 64;

/// Judges a run: args[2] has its steps, args[3] its charges, extra is the cost of its calls.
INLINE Record judge(const Ctx &c, const Node &node, const V &result, const V &expected) {
  u64 cost = node.extra;
  const Charge *charges = (const Charge *)node.args[3].values;
  if (node.args[3].each)
    cost += sum(rows([&](u32 l) {
      u64 own = 0;
      for (u32 k = l; k < node.args[3].each; k += 32)
        own += (u64)((const u32 *)charges[k].counts)[charges[k].each ? c.item : 0] * charges[k].weight;
      return (u32)min_of(own, (u64)c.wave->most_cost + 1);
    }));
  if (cost > c.wave->most_cost) {
    Record r = {2, LIMIT, 0, 0, 0};
    return r;
  }
  u16 charge = (u16)((cost + COST_UNIT - 1) / COST_UNIT);
  const Step *steps = (const Step *)node.args[2].values;
  // Python runs the steps one after the other, so the first that has no value ends the run.
  for (u32 from = 0; from < node.args[2].each; from += 32) {
    Rows ended = rows([&](u32 l) {
      if (from + l >= node.args[2].each) return 0u;
      const Step &s = steps[from + l];
      return (u32)(((const V *)s.values)[s.each ? c.item : 0].kind <= FAULT);
    });
    u32 any = rows_of(ended);
    if (any) {
      const Step &s = steps[from + lowest(any)];
      V v = ((const V *)s.values)[s.each ? c.item : 0];
      Record r = {(u8)(v.kind == FAULT ? 1 : 2), v.a, charge, s.step, 0};
      return r;
    }
  }
  if (expected.kind == STOPPED) {
    Record r = {2, expected.a, charge, 0, 0};
    return r;
  }
  u64 hash = 0;
  // Values of these kinds may equal a grid, or contain what has no hash here.
  if (!hash_value<4>(c, result, &hash)) {
    Record r = {2, ODD, charge, 0, 0};
    return r;
  }
  bool tuple = result.kind == TUPLE && expected.kind == GRID;
  u32 verdict = tuple ? verdict_of_tuple(c, result, expected) : verdict_of(result, expected);
  Record r = {0, 0, charge, verdict, hash};
  return r;
}
