// Calls: of primitives by number, of closures, and what a primitive that never fails gives instead of a fault.

/// Calls nested more deeply than this are left to the CPU.
const u32 MOST_CALLS = 28;

// Made from the table of primitives, see dispatch.cuh. The count is the index of the function that stands for a
// function that could not be made: it takes anything and gives ().
DEVICE V dispatch1(Ctx &c, u32 op, V a);
DEVICE V dispatch2(Ctx &c, u32 op, V a, V b);
DEVICE V dispatch3(Ctx &c, u32 op, V a, V b, V d);
DEVICE V dispatch4(Ctx &c, u32 op, V a, V b, V d, V e);
DEVICE u32 arity_of_op(u32 op);
DEVICE u32 fallback_of_op(u32 op);
DEVICE u32 op_count();

/// How many arguments a primitive takes: 1 to 4, or
const u32 TWO_OR_THREE = 23, ANYTHING = 99;
/// An argument that was left out.
INLINE V absent() { return make(NONE, 1, 0, 0, 0); }
INLINE bool is_absent(V v) { return v.kind == NONE && v.flags == 1; }

enum Fallback : u32 { NO_FALLBACK, TO_EMPTY_TUPLE, TO_EMPTY_SET, TO_ZERO, TO_FALSE, TO_FUNCTION };

INLINE V fallback_value(u32 fallback) {
  switch (fallback) {
  case TO_EMPTY_SET: return empty_set();
  case TO_ZERO: return integer(0);
  case TO_FALSE: return boolean(false);
  case TO_FUNCTION: return primitive(op_count());
  default: return empty_tuple();
  }
}

/// What a primitive gives in the end: its value, or its fallback where it has one. Integers that leave 64 bits are a
/// limit of ours, not a fault of Python's.
INLINE V settle(Ctx &c, u32 op, V v) {
  if (v.kind != FAILED || v.flags == OVERFLOW_) return v;
  u32 fallback = fallback_of_op(op);
  if (fallback == NO_FALLBACK) return v;
  c.fallbacks++;
  return fallback_value(fallback);
}

/// A call of a primitive with a number of arguments that is not its usual one.
OUTLINE V call_oddly(Ctx &c, u32 op, u32 n, V a, V b, V d) {
  u32 arity = arity_of_op(op);
  if (arity == ANYTHING) return empty_tuple();
  if (arity == TWO_OR_THREE && n == 2) return settle(c, op, dispatch3(c, op, a, b, absent()));
  if (arity == TWO_OR_THREE && n == 3) return settle(c, op, dispatch3(c, op, a, b, d));
  return settle(c, op, failed(TYPE_));
}

/// A primitive called and timed.
OUTLINE V call_timed(Ctx &c, u32 op, u32 n, V a, V b, V d, V e) {
  u64 outside = c.nested, started = clock_cycles();
  c.nested = 0;
  V v = n == 1 ? dispatch1(c, op, a) : n == 2 ? dispatch2(c, op, a, b) : n == 3 ? dispatch3(c, op, a, b, d) : dispatch4(c, op, a, b, d, e);
  u64 cycles = clock_cycles() - started;
  if (lane() == 0) {
    atomic_add(c.op_counters + 2 * op, 1);
    atomic_add(c.op_counters + 2 * op + 1, (cycles - c.nested) / COMPANY);
  }
  c.nested = outside + cycles;
  return settle(c, op, v);
}

#define ENTER(c) \
  do { \
    if ((c).fuel < 0) return stop(c, FUEL); \
    (c).fuel--; \
  } while (0)
#define DEEPER(c) \
  do { \
    if ((c).depth >= MOST_CALLS) return stop(c, DEPTH); \
    (c).depth++; \
  } while (0)

DEVICE V call1(Ctx &c, V f, V a);
DEVICE V call2(Ctx &c, V f, V a, V b);
DEVICE V call3(Ctx &c, V f, V a, V b, V d);
DEVICE V call4(Ctx &c, V f, V a, V b, V d, V e);

/// A closure of one argument called. One place for calls with one argument and one for those with two, whatever the form:
/// this is the most travelled way of all, and the less code the better.
OUTLINE V call_closure(Ctx &c, V f, V x) {
  const V *parts = values_of(c, f);
  u8 form = f.flags;
  V a = x, b = x;
  if (form == LBIND) {
    a = parts[1];
  } else if (form == RBIND) {
    b = parts[1];
  } else {
    i64 left = form == POWER ? int_of(parts[1]) : form == CHAIN ? 3 : form == MATCHER ? 1 : 2;
    for (; left > 0; left--) {
      // Composed functions are called from the last to the first, those of a fork the other way round.
      u32 number = form == FORK ? 3 - (u32)left : form == COMPOSE || form == CHAIN ? (u32)left - 1 : 0;
      V v = call1(c, parts[number], form == FORK ? x : a);
      TRY(v);
      if (form == FORK && left == 1) b = v;
      else a = v;
    }
    if (form == MATCHER) return boolean(equal(c, a, parts[1]));
    if (form != FORK) return a;
  }
  return call2(c, parts[0], a, b);
}

OUTLINE V call1(Ctx &c, V f, V a) {
  ENTER(c);
  if (f.kind == OP_) {
    if (arity_of_op(f.lo) == 1)
      return c.op_counters ? call_timed(c, f.lo, 1, a, a, a, a) : settle(c, f.lo, dispatch1(c, f.lo, a));
    return call_oddly(c, f.lo, 1, a, a, a);
  }
  if (f.kind != CLOSURE || f.lg != 1) return failed(TYPE_);
  DEEPER(c);
  V v = call_closure(c, f, a);
  c.depth--;
  return v;
}

OUTLINE V call2(Ctx &c, V f, V a, V b) {
  ENTER(c);
  if (f.kind == OP_) {
    if (arity_of_op(f.lo) == 2)
      return c.op_counters ? call_timed(c, f.lo, 2, a, b, b, b) : settle(c, f.lo, dispatch2(c, f.lo, a, b));
    return call_oddly(c, f.lo, 2, a, b, b);
  }
  if (f.kind != CLOSURE || f.lg != 2) return failed(TYPE_);
  DEEPER(c);
  V p = values_of(c, f)[0], q = values_of(c, f)[1];
  V v = f.flags == LBIND ? call3(c, p, q, a, b) : f.flags == RBIND ? call3(c, p, a, b, q) : failed(TYPE_);
  c.depth--;
  return v;
}

OUTLINE V call3(Ctx &c, V f, V a, V b, V d) {
  ENTER(c);
  if (f.kind == OP_) {
    if (arity_of_op(f.lo) == 3)
      return c.op_counters ? call_timed(c, f.lo, 3, a, b, d, d) : settle(c, f.lo, dispatch3(c, f.lo, a, b, d));
    return call_oddly(c, f.lo, 3, a, b, d);
  }
  if (f.kind != CLOSURE || f.lg != 3) return failed(TYPE_);
  DEEPER(c);
  V p = values_of(c, f)[0], q = values_of(c, f)[1];
  V v = f.flags == LBIND ? call4(c, p, q, a, b, d) : f.flags == RBIND ? call4(c, p, a, b, d, q) : failed(TYPE_);
  c.depth--;
  return v;
}

OUTLINE V call4(Ctx &c, V f, V a, V b, V d, V e) {
  ENTER(c);
  if (f.kind != OP_) return failed(TYPE_);
  if (arity_of_op(f.lo) == 4)
      return c.op_counters ? call_timed(c, f.lo, 4, a, b, d, e) : settle(c, f.lo, dispatch4(c, f.lo, a, b, d, e));
  return call_oddly(c, f.lo, 4, a, b, d);
}

/// A new function of up to three parts.
INLINE V closure_of(Ctx &c, u8 form, u8 arity, V p, V q, V r) {
  ROOM(V, parts, c, 3);
  put(parts, p);
  put(parts + 1, q);
  put(parts + 2, r);
  sync();
  V v = make(CLOSURE, form, ++c.closures, offset_of(c, parts), 0);
  v.lg = arity;
  return v;
}

/// The number of arguments a function value takes; 0 for what is no function.
INLINE u32 arity_of(V f) {
  if (f.kind == CLOSURE) return f.lg;
  if (f.kind != OP_) return 0;
  u32 n = arity_of_op(f.lo);
  return n == TWO_OR_THREE ? 3 : n;
}

/// A fault as it leaves a Python generator expression.
INLINE V through_generator(V v) {
  if (v.kind == FAILED && v.flags == STOP_ITERATION) return failed(RUNTIME_);
  return v;
}

