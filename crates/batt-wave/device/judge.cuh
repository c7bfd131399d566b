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

/// The length of a tuple of numbers that are not negative; 0 for others.
INLINE u32 length_of_numbers(const Ctx &c, const V &v) {
  bool flat = v.kind == PAIR || (v.kind == CELL && has_triples(c));
  if (flat) return row_of(v.len) < 0 || column_of(v.len) < 0 ? 0 : v.kind == PAIR ? 2 : 3;
  if (v.kind != TUPLE) return 0;
  const V *items = (const V *)v.bits;
  for (u32 k = 0; k < v.len; k++)
    if (!is_int(items[k]) || int_of(items[k]) < 0) return 0;
  return v.len;
}
/// May a tuple that is no GRID equal one, because it holds bools, or be one of other sizes or colours?
INLINE bool may_be_grid(const Ctx &c, const V &v) {
  if (v.kind != TUPLE || v.len == 0) return false;
  const V *items = (const V *)v.bits;
  u32 width = length_of_numbers(c, items[0]);
  if (width == 0) return false;
  return !rows_of(rows([&](u32 l) {
    for (u32 k = l; k < v.len; k += 32)
      if (length_of_numbers(c, items[k]) != width) return 1u;
    return 0u;
  }));
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
  if (!hash_value<2>(c, result, &hash)) {
    Record r = {2, ODD, charge, 0, 0};
    return r;
  }
  if (expected.kind == GRID && may_be_grid(c, result)) {
    Record r = {2, ODD, charge, 0, 0};
    return r;
  }
  Record r = {0, 0, charge, verdict_of(result, expected), hash};
  return r;
}
