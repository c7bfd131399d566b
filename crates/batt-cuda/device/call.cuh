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

/// A weight that is more than any run may do.
const u64 MOST_WEIGHT = 1 << 19;

/// How much is in a value: at least an eighth of the steps that the CPU takes to go through it before it finds a fault. Per lane.
DEVICE u64 weight_inside(const Ctx &c, V v, u32 depth);
OUTLINE u64 weight_of(const Ctx &c, V v, u32 depth = 0) {
  if (v.kind == SET_P || v.kind == SET_C) return v.len;
  if (v.kind == ROW) return v.len / 2;
  if (v.kind == GRID) return (u64)height_of(v) * width_of(v) / 2;
  if (v.kind != TUPLE && v.kind != SET_V) return 0;
  if (depth > MOST_NESTED) return MOST_WEIGHT;
  u64 weight = 2 * (u64)v.len;
  for (u32 k = 0; k < v.len && weight < MOST_WEIGHT; k++) weight += weight_inside(c, values_of(c, v)[k], depth + 1);
  return weight;
}
OUTLINE u64 weight_inside(const Ctx &c, V v, u32 depth) { return weight_of(c, v, depth); }

/// The same, all lanes together.
OUTLINE u64 weight(const Ctx &c, V v) {
  if (v.kind != TUPLE && v.kind != SET_V) return weight_of(c, v);
  u64 mine = 0;
  for (u32 k = lane(); k < v.len; k += LANES) mine += 2 + weight_of(c, values_of(c, v)[k]);
  return sum(mine);
}

/// What a function of tokpidjin gives in the end: its value, or its fallback where it has one. Integers that leave 64 bits are a
/// limit of ours, not a fault of Python's.
INLINE V safely(Ctx &c, V v, u32 fallback) {
  if (v.kind != FAILED || v.flags == OVERFLOW_ || fallback == NO_FALLBACK) return v;
  c.fallbacks++;
  c.unpaid++;
  return fallback_value(fallback);
}

/// The same of a primitive.
INLINE V settle(Ctx &c, u32 op, V v) { return v.kind == FAILED ? safely(c, v, fallback_of_op(op)) : v; }

INLINE V dispatch(Ctx &c, u32 op, V a) { return dispatch1(c, op, a); }
INLINE V dispatch(Ctx &c, u32 op, V a, V b) { return dispatch2(c, op, a, b); }
INLINE V dispatch(Ctx &c, u32 op, V a, V b, V d) { return dispatch3(c, op, a, b, d); }
INLINE V dispatch(Ctx &c, u32 op, V a, V b, V d, V e) { return dispatch4(c, op, a, b, d, e); }

/// A primitive called and timed.
template <class... Vs> OUTLINE V dispatch_timed(Ctx &c, u32 op, Vs... args) {
  u64 outside = c.nested, started = clock_cycles();
  c.nested = 0;
  V v = dispatch(c, op, args...);
  u64 cycles = clock_cycles() - started;
  if (lane() == 0) {
    atomic_add(c.op_counters + 2 * op, 1);
    atomic_add(c.op_counters + 2 * op + 1, (cycles - c.nested) / COMPANY);
  }
  c.nested = outside + cycles;
  return v;
}

/// A primitive called, and timed if that is wanted.
template <class... Vs> INLINE V dispatch_any(Ctx &c, u32 op, Vs... args) {
  return c.op_counters ? dispatch_timed(c, op, args...) : dispatch(c, op, args...);
}

/// A primitive of tokpidjin, where no call fails. The CPU goes through what it is given before it finds out that there is nothing
/// but a fallback to give, and that has to be paid for though it is seen at once here.
template <class... Vs> OUTLINE V call_safely(Ctx &c, u32 op, Vs... args) {
  V v = settle(c, op, dispatch_any(c, op, args...));
  if (c.unpaid) {
    owe(c, c.unpaid * (weight(c, args) + ... + 1));
    c.unpaid = 0;
  }
  return v;
}

/// A primitive called with as many arguments as it takes.
template <class... Vs> INLINE V call_primitive(Ctx &c, u32 op, Vs... args) {
  return triples(c) ? call_safely(c, op, args...) : dispatch_any(c, op, args...);
}

/// A call of a primitive with a number of arguments that is not its usual one.
OUTLINE V call_oddly(Ctx &c, u32 op, u32 n, V a, V b, V d) {
  u32 arity = arity_of_op(op);
  if (arity == ANYTHING) return empty_tuple();
  if (arity == TWO_OR_THREE && n == 2) return call_primitive(c, op, a, b, absent());
  if (arity == TWO_OR_THREE && n == 3) return call_primitive(c, op, a, b, d);
  V v = settle(c, op, failed(TYPE_));
  c.unpaid = 0; // the CPU does not even begin
  return v;
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
    if (arity_of_op(f.lo) == 1) return call_primitive(c, f.lo, a);
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
    if (arity_of_op(f.lo) == 2) return call_primitive(c, f.lo, a, b);
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
    if (arity_of_op(f.lo) == 3) return call_primitive(c, f.lo, a, b, d);
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
  if (arity_of_op(f.lo) == 4) return call_primitive(c, f.lo, a, b, d, e);
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

