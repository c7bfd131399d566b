// Arithmetic on integers and on vectors: pairs are worked on component by component.

enum Operation : u8 { ADD, SUBTRACT, MULTIPLY, DIVIDE };

/// `a // b` for integers.
INLINE V floor_div(i64 a, i64 b) {
  if (b == 0) return failed(ZERO_DIVISION);
  if (b == -1) return (u64)a == 1ull << 63 ? failed(OVERFLOW_) : integer(-a);
  i64 q = a / b;
  return integer(a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
}

/// `a * b` for integers of any size.
OUTLINE V wide_product(i64 a, i64 b) {
  i64 product = (i64)((u64)a * (u64)b);
  if (a == 0) return integer(0);
  if (a == -1) return (u64)b == 1ull << 63 ? failed(OVERFLOW_) : integer(product);
  return product / a == b ? integer(product) : failed(OVERFLOW_);
}

/// The operation on two plain integers.
INLINE V on_numbers(Ctx &c, u8 operation, i64 a, i64 b) {
  switch (operation) {
  case ADD: {
    i64 s = (i64)((u64)a + (u64)b);
    return ((a ^ s) & (b ^ s)) < 0 ? failed(OVERFLOW_) : integer(s);
  }
  case SUBTRACT: {
    i64 s = (i64)((u64)a - (u64)b);
    return ((a ^ b) & (a ^ s)) < 0 ? failed(OVERFLOW_) : integer(s);
  }
  case MULTIPLY: return fits32(a) && fits32(b) ? integer(a * b) : wide_product(a, b);
  default: return floor_div(a, b);
  }
}

/// Two tuples end to end.
OUTLINE V joined(Ctx &c, V a, V b) {
  u32 n = length(c, a), m = length(c, b);
  ROOM(V, items, c, (u64)n + m + 1);
  spend(c, (n + m) / 8 + 1);
  for (u32 k = lane(); k < n + m; k += LANES) items[k] = k < n ? item(c, a, k) : item(c, b, k - n);
  sync();
  return tuple_at(c, items, n + m);
}

/// A tuple so many times.
OUTLINE V repeated(Ctx &c, V tuple, i64 times) {
  u32 n = length(c, tuple);
  spend(c, n / 4 + 1);
  if (n == 0 || times <= 0) return empty_tuple();
  if (times > 0xffffff || n * (u64)times > 0xffffff) return stop(c, SIZE);
  u32 total = n * (u32)times;
  ROOM(V, items, c, total);
  spend(c, total / 8);
  for (u32 k = lane(); k < total; k += LANES) items[k] = item(c, tuple, k % n);
  sync();
  return tuple_at(c, items, total);
}

/// `a // b` where a float is involved.
OUTLINE V float_floor_div(Ctx &c, double a, double b) {
  if (b == 0.0) return failed(ZERO_DIVISION);
  if (a != a || b != b || is_infinite(a)) return new_float(c, a - a + (b - b));
  if (!is_infinite(b)) return odd(c);
  // Less than one of an infinity, rounded down.
  if (a != 0.0 && (a < 0.0) != (b < 0.0)) return new_float(c, -1.0);
  return new_float(c, a / b);
}

/// The operation on two values that are not both numbers: tuples can be added and repeated, sets subtracted.
OUTLINE V on_containers(Ctx &c, u8 operation, V a, V b) {
  if (operation == ADD && is_tuple(a) && is_tuple(b)) return joined(c, a, b);
  if (operation == SUBTRACT && is_set(a) && is_set(b)) return set_minus(c, a, b);
  if (operation == MULTIPLY && is_tuple(a) && is_number(b)) return repeated(c, a, number_of(b));
  if (operation == MULTIPLY && is_number(a) && is_tuple(b)) return repeated(c, b, number_of(a));
  return failed(TYPE_);
}

/// The operation on two values: Python's operator.
OUTLINE V on_values(Ctx &c, u8 operation, V a, V b) {
  if (is_number(a) && is_number(b)) return on_numbers(c, operation, number_of(a), number_of(b));
  if (is_numeric(a) && is_numeric(b)) {
    double x = float_of(a), y = float_of(b);
    switch (operation) {
    case ADD: return new_float(c, x + y);
    case SUBTRACT: return new_float(c, x - y);
    case MULTIPLY: return new_float(c, x * y);
    default: return float_floor_div(c, x, y);
    }
  }
  return on_containers(c, operation, a, b);
}

OUTLINE V binary(Ctx &c, u8 operation, V a, V b) {
  if (a.kind == INT && b.kind == INT) return on_numbers(c, operation, int_of(a), int_of(b));
  if ((a.kind == PAIR || a.kind == INT) && (b.kind == PAIR || b.kind == INT)) {
    V i = on_numbers(c, operation, a.kind == PAIR ? row_of(a.lo) : int_of(a), b.kind == PAIR ? row_of(b.lo) : int_of(b));
    TRY(i);
    V j = on_numbers(c, operation, a.kind == PAIR ? column_of(a.lo) : int_of(a),
                     b.kind == PAIR ? column_of(b.lo) : int_of(b));
    TRY(j);
    return pair_of(c, i, j);
  }
  if (is_number(a) && is_number(b)) return on_values(c, operation, a, b);
  // A left operand that is neither number nor tuple cannot be indexed; a right one that is no tuple goes to the
  // operation whole.
  bool fixed_a = is_number(a) && is_tuple(b), fixed_b = !is_tuple(b);
  V x = fixed_a ? a : at(c, a, 0);
  TRY(x);
  V y = fixed_b ? b : at(c, b, 0);
  TRY(y);
  V i = on_values(c, operation, x, y);
  TRY(i);
  x = fixed_a ? a : at(c, a, 1);
  TRY(x);
  y = fixed_b ? b : at(c, b, 1);
  TRY(y);
  V j = on_values(c, operation, x, y);
  TRY(j);
  return pair_of(c, i, j);
}

OP(add)(Ctx &c, V a, V b) { return binary(c, ADD, a, b); }
OP(subtract)(Ctx &c, V a, V b) { return binary(c, SUBTRACT, a, b); }
OP(multiply)(Ctx &c, V a, V b) { return binary(c, MULTIPLY, a, b); }
OP(divide)(Ctx &c, V a, V b) { return binary(c, DIVIDE, a, b); }

enum Single : u8 { INVERT, CREMENT, SIGN };

INLINE i64 toward(double x) { return x == 0.0 ? 0 : x > 0.0 ? 1 : -1; }

OUTLINE V single(Ctx &c, u8 operation, V x) {
  if (x.kind == FLOAT) {
    double n = float_of(x);
    switch (operation) {
    case INVERT: return new_float(c, -n);
    case SIGN: return integer(toward(n));
    default: return toward(n) == 0 ? integer(0) : new_float(c, n + (double)toward(n));
    }
  }
  if (!is_number(x)) return failed(TYPE_);
  i64 n = number_of(x);
  switch (operation) {
  case INVERT: return on_numbers(c, SUBTRACT, 0, n);
  case SIGN: return integer(n > 0 ? 1 : n < 0 ? -1 : 0);
  default: return on_numbers(c, ADD, n, n > 0 ? 1 : n < 0 ? -1 : 0);
  }
}

/// A unary operation on a number, or on components 0 and 1 of a tuple.
OUTLINE V unary(Ctx &c, u8 operation, V x) {
  if (is_number(x)) return single(c, operation, x);
  V i = at(c, x, 0);
  TRY(i);
  i = single(c, operation, i);
  TRY(i);
  V j = at(c, x, 1);
  TRY(j);
  j = single(c, operation, j);
  TRY(j);
  return pair_of(c, i, j);
}

/// A unary operation that is a binary one with a fixed number.
OUTLINE V unary_with(Ctx &c, u8 operation, V x, i64 n) {
  if (is_number(x) || x.kind == PAIR) return binary(c, operation, x, integer(n));
  V i = at(c, x, 0);
  TRY(i);
  i = on_values(c, operation, i, integer(n));
  TRY(i);
  V j = at(c, x, 1);
  TRY(j);
  j = on_values(c, operation, j, integer(n));
  TRY(j);
  return pair_of(c, i, j);
}

OP(invert)(Ctx &c, V n) { return unary(c, INVERT, n); }
OP(even)(Ctx &c, V n) { return is_number(n) ? boolean((number_of(n) & 1) == 0) : failed(TYPE_); }
OP(double)(Ctx &c, V n) { return unary_with(c, MULTIPLY, n, 2); }
OP(halve)(Ctx &c, V n) { return unary_with(c, DIVIDE, n, 2); }
OP(increment)(Ctx &c, V x) { return unary_with(c, ADD, x, 1); }
OP(decrement)(Ctx &c, V x) { return unary_with(c, SUBTRACT, x, 1); }
OP(crement)(Ctx &c, V x) { return unary(c, CREMENT, x); }
OP(sign)(Ctx &c, V x) { return unary(c, SIGN, x); }
OP(positive)(Ctx &c, V x) { return is_number(x) ? boolean(number_of(x) > 0) : failed(TYPE_); }
OP(toivec)(Ctx &c, V i) { return pair_of(c, i, integer(0)); }
OP(tojvec)(Ctx &c, V j) { return pair_of(c, integer(0), j); }
OP(astuple)(Ctx &c, V a, V b) { return pair_of(c, a, b); }

// ---- tokpidjin: the empty tuple, a missing value, stands for the neutral element -----------------------------

INLINE V or_neutral(Ctx &c, V v, i64 neutral) {
  return is_tuple(v) && length(c, v) == 0 ? integer(neutral) : v;
}
TOK(add)(Ctx &c, V a, V b) { return binary(c, ADD, or_neutral(c, a, 0), or_neutral(c, b, 0)); }
TOK(subtract)(Ctx &c, V a, V b) { return binary(c, SUBTRACT, or_neutral(c, a, 0), or_neutral(c, b, 0)); }
TOK(multiply)(Ctx &c, V a, V b) { return binary(c, MULTIPLY, or_neutral(c, a, 1), or_neutral(c, b, 1)); }
TOK(divide)(Ctx &c, V a, V b) { return binary(c, DIVIDE, or_neutral(c, a, 1), or_neutral(c, b, 1)); }
SAME1(invert, invert)
TOK(even)(Ctx &c, V n) {
  if (n.kind != FLOAT) return op_even(c, n);
  i64 whole;
  if (integral(n, &whole)) return boolean((whole & 1) == 0);
  // What is left has a fraction, is no number, or is so large that it is even.
  double x = float_of(n);
  return boolean((x >= 9007199254740992.0 || x <= -9007199254740992.0) && !is_infinite(x));
}
SAME1(double, double)
SAME1(halve, halve)
SAME1(increment, increment)
SAME1(decrement, decrement)
SAME1(crement, crement)
SAME1(sign, sign)
TOK(positive)(Ctx &c, V x) { return x.kind == FLOAT ? boolean(float_of(x) > 0.0) : op_positive(c, x); }
SAME1(toivec, toivec)
SAME1(tojvec, tojvec)
