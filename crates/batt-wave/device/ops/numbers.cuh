// Numbers, vectors, truth and comparison. A lane works alone, so nothing here needs the others: the
// functions on values may also be called inside `rows`.

INLINE bool any_tuple(const V &v) { return v.kind == TUPLE || v.kind == WIDE || (v.kind >= PAIR && v.kind <= RAGGED); }
/// Are its elements rows of colours?
INLINE bool has_rows(const V &v) { return v.kind == GRID || v.kind == RAGGED || v.kind == WIDE; }
INLINE bool any_set(const V &v) { return v.kind == SET || is_patch(v); }

/// Python's `len`, or -1 for values without one.
INLINE i32 length_alone(const Ctx &c, const V &v) {
  switch (v.kind) {
    case PAIR: return 2;
    case CELL: return has_triples(c) ? 3 : 2;
    case GRID:
    case RAGGED:
    case WIDE: return v.a;
    case INDICES:
    case OBJECT: return (i32)size_of_patch(v);
    case TUPLE:
    case SET: return (i32)v.len;
    default: return -1;
  }
}

// ---- Parts of values ---------------------------------------------------------------------------

/// The width of a row of a value that has rows.
INLINE u32 row_width(const V &v, u32 row) {
  return v.kind == RAGGED ? ((const u32 *)v.bits)[128 + row] : v.b;
}
/// The colour of a cell of a value that has rows.
INLINE u32 color_at(const V &v, u32 row, u32 column) {
  if (v.kind == WIDE) return wide_color(v, row, column);
  const u32 *word = (const u32 *)v.bits + row;
  u32 color = 0;
  for (u32 k = 0; k < 4; k++) color |= (word[32 * k] >> column & 1) << k;
  return color;
}
/// A row of a value that has rows.
INLINE V row_value(const Ctx &c, const V &v, u32 row) {
  u32 width = row_width(v, row);
  if (width == 2) return pair((i32)color_at(v, row, 0), (i32)color_at(v, row, 1));
  if (width == 3 && has_triples(c))
    return make(CELL, (u8)color_at(v, row, 2), 0, 0, place((i32)color_at(v, row, 0), (i32)color_at(v, row, 1)), 0);
  V *to = (V *)take_alone(c, width * sizeof(V));
  if (!to) return stopped(MEMORY);
  for (u32 j = 0; j < width; j++) to[j] = integer(color_at(v, row, j));
  return make(TUPLE, 0, 0, 0, width, (u64)to);
}
/// Element k of a PAIR, a CELL, a TUPLE or a SET.
INLINE V component(const Ctx &c, const V &v, u32 k) {
  if (v.kind == TUPLE || v.kind == SET) return ((const V *)v.bits)[k];
  bool cell = v.kind == CELL;
  if (cell && !has_triples(c)) return k == 0 ? integer(v.a) : make(PAIR, 0, 0, 0, v.len, 0);
  if (cell && k == 2) return integer(v.a);
  return integer(k == 0 ? row_of(v.len) : column_of(v.len));
}
/// Element k of a tuple of any kind.
INLINE V element_alone(const Ctx &c, const V &v, u32 k) {
  return has_rows(v) ? row_value(c, v, k) : component(c, v, k);
}

/// A row of a patch's mask, or of the plane `board` - 1. Both count from the patch's corner.
INLINE u32 patch_row(const V &v, u32 board, u32 row) {
  if (board && v.c != PLANES) return v.c >> (board - 1) & 1 ? payload_of(v)[row] : 0;
  return payload_of(v)[board * v.a + row];
}
INLINE u32 patch_color(const V &v, u32 row, u32 column) {
  if (v.c != PLANES) return v.c;
  u32 color = 0;
  for (u32 k = 0; k < 4; k++) color |= (patch_row(v, k + 1, row) >> column & 1) << k;
  return color;
}
/// Has a patch this PAIR, or this CELL?
INLINE bool patch_has(const V &patch, const V &element) {
  if (patch.kind == INDICES ? element.kind != PAIR : element.kind != CELL) return false;
  i32 i = row_of(element.len) - row_of(patch.len), j = column_of(element.len) - column_of(patch.len);
  if (i < 0 || i >= patch.a || j < 0 || j >= patch.b) return false;
  if (!(patch_row(patch, 0, (u32)i) >> j & 1)) return false;
  return patch.kind == INDICES || patch_color(patch, (u32)i, (u32)j) == element.a;
}
/// The element of a patch that has just one.
INLINE V only_element(const V &patch) {
  return patch.kind == OBJECT ? make(CELL, patch.c, 0, 0, patch.len, 0) : make(PAIR, 0, 0, 0, patch.len, 0);
}

// ---- Tuples of two -----------------------------------------------------------------------------

/// The length of a row of colours.
INLINE u32 length_of_row(const V &row) { return row.kind == PAIR ? 2 : row.kind == CELL ? 3 : row.len; }
/// Plane k of a row of colours.
INLINE u32 row_plane(const V &row, u32 k) {
  u32 bits = 0;
  for (u32 j = 0; j < length_of_row(row); j++) bits |= (color_in_row(row, j) >> k & 1) << j;
  return bits;
}
/// The PAIR or the CELL (x, y); NONE if it is neither.
INLINE V flat_pair(const Ctx &c, const V &x, const V &y) {
  if (x.kind != INT) return none();
  i64 i = int_of(x), j = int_of(y);
  if (y.kind == INT && fits_16(i) && fits_16(j)) return pair((i32)i, (i32)j);
  if (y.kind == PAIR && !has_triples(c) && x.bits < 16) return make(CELL, (u8)x.bits, 0, 0, y.len, 0);
  return none();
}
/// Is (x, y) a GRID?
INLINE bool are_two_rows(const Ctx &c, const V &x, const V &y) {
  u32 width, other;
  return is_row(c, x, &width) && is_row(c, y, &other) && width == other;
}
/// Writes the GRID of two rows. Only the first two words of each plane are written.
INLINE V two_rows(const V &x, const V &y, u32 *to) {
  for (u32 k = 0; k < 4; k++) {
    to[32 * k] = row_plane(x, k);
    to[32 * k + 1] = row_plane(y, k);
  }
  return make(GRID, 2, (u8)length_of_row(x), 0, 0, (u64)to);
}
/// The tuple (x, y).
INLINE V tuple_of_two(const Ctx &c, const V &x, const V &y) {
  V flat = flat_pair(c, x, y);
  if (flat.kind != NONE) return flat;
  bool grid = are_two_rows(c, x, y);
  void *to = room_alone(c, grid ? GRID_BYTES : 2 * sizeof(V));
  if (!to) return stopped(MEMORY);
  if (grid) return two_rows(x, y, (u32 *)to);
  ((V *)to)[0] = x;
  ((V *)to)[1] = y;
  return make(TUPLE, 0, 0, 0, 2, (u64)to);
}

// ---- Equality ----------------------------------------------------------------------------------

/// Whether a TUPLE equals a row of a value that has rows.
INLINE bool is_row_of(const Ctx &c, const V &tuple, const V &grid, u32 row) {
  u32 width = row_width(grid, row);
  if (tuple.kind == CELL && has_triples(c))
    return width == 3 && row_of(tuple.len) == (i32)color_at(grid, row, 0) &&
           column_of(tuple.len) == (i32)color_at(grid, row, 1) && tuple.a == color_at(grid, row, 2);
  if (tuple.kind == PAIR)
    return width == 2 && row_of(tuple.len) == (i32)color_at(grid, row, 0) &&
           column_of(tuple.len) == (i32)color_at(grid, row, 1);
  if (tuple.kind != TUPLE || tuple.len != width) return false;
  const V *items = (const V *)tuple.bits;
  for (u32 j = 0; j < width; j++)
    if (!is_int(items[j]) || items[j].bits != color_at(grid, row, j)) return false;
  return true;
}
/// Whether values of kind GRID or RAGGED are equal.
INLINE bool same_rows(const V &x, const V &y) {
  if (x.a != y.a) return false;
  for (u32 l = 0; l < x.a; l++) {
    if (row_width(x, l) != row_width(y, l)) return false;
    for (u32 k = 0; k < 4; k++)
      if (((const u32 *)x.bits)[32 * k + l] != ((const u32 *)y.bits)[32 * k + l]) return false;
  }
  return true;
}
/// Whether patches are equal.
INLINE bool same_patches(const V &x, const V &y) {
  if (x.kind != y.kind || x.a != y.a || x.b != y.b || x.len != y.len) return false;
  if (size_of_patch(x) != size_of_patch(y)) return false;
  bool colors = x.kind == OBJECT && (x.c == PLANES || y.c == PLANES);
  if (!colors && x.c != y.c) return false;
  for (u32 l = 0; l < x.a; l++)
    for (u32 board = 0; board < (colors ? 5 : 1); board++)
      if (patch_row(x, board, l) != patch_row(y, board, l)) return false;
  return true;
}
/// Whether a TUPLE equals the pair of these ints.
INLINE bool is_pair_of(const V &v, i32 i, i32 j) {
  if (v.kind == PAIR) return row_of(v.len) == i && column_of(v.len) == j;
  if (v.kind != TUPLE || v.len != 2) return false;
  const V *items = (const V *)v.bits;
  return is_int(items[0]) && is_int(items[1]) && int_of(items[0]) == i && int_of(items[1]) == j;
}
/// Whether a TUPLE equals a PAIR, a CELL or a value that has rows: True may stand where these have 1.
INLINE bool is_tuple_like(const Ctx &c, const V &tuple, const V &other) {
  const V *items = (const V *)tuple.bits;
  i32 i = row_of(other.len), j = column_of(other.len);
  if (other.kind == PAIR) return is_pair_of(tuple, i, j);
  if (other.kind == CELL && has_triples(c))
    return tuple.len == 3 && is_int(items[0]) && is_int(items[1]) && is_int(items[2]) &&
           int_of(items[0]) == i && int_of(items[1]) == j && items[2].bits == other.a;
  if (other.kind == CELL)
    return tuple.len == 2 && is_int(items[0]) && items[0].bits == other.a && is_pair_of(items[1], i, j);
  if (tuple.len != other.a) return false;
  for (u32 k = 0; k < tuple.len; k++)
    if (!is_row_of(c, items[k], other, k)) return false;
  return true;
}
/// Whether a SET equals a patch of as many elements.
INLINE Answer is_patch_like(const V &set, const V &patch) {
  // Only a tuple with a bool, as (True, 1), may equal an element of a patch in another form.
  const V *items = (const V *)set.bits;
  u8 kind = patch.kind == INDICES ? PAIR : CELL;
  for (u32 k = 0; k < set.len; k++)
    if (items[k].kind != TUPLE && items[k].kind != kind) return NO;
  return UNSURE;
}

/// Whether two values are equal in Python, for containers that nest at most DEPTH deep.
template <int DEPTH> CALLED Answer equal_alone(const Ctx &c, const V &x, const V &y) {
  if (is_int(x) && is_int(y)) return x.bits == y.bits ? YES : NO;
  if (x.kind == PAIR && y.kind == PAIR) return x.len == y.len ? YES : NO;
  if (any_tuple(x) != any_tuple(y) || any_set(x) != any_set(y)) return NO;
  bool rows_x = x.kind == GRID || x.kind == RAGGED, rows_y = y.kind == GRID || y.kind == RAGGED;
  if (rows_x && rows_y) return same_rows(x, y) ? YES : NO;
  if (x.kind == WIDE && y.kind == WIDE) return same_wide(x, y) ? YES : NO;
  if (any_tuple(x) && (x.kind == TUPLE) != (y.kind == TUPLE))
    return (x.kind == TUPLE ? is_tuple_like(c, x, y) : is_tuple_like(c, y, x)) ? YES : NO;
  if (any_set(x) && length_alone(c, x) != length_alone(c, y)) return NO;
  if (any_set(x) && (x.kind == SET) != (y.kind == SET))
    return x.kind == SET ? is_patch_like(x, y) : is_patch_like(y, x);
  if (x.kind != y.kind) return NO;
  switch (x.kind) {
    case NONE: return YES;
    case CELL: return x.len == y.len && x.a == y.a ? YES : NO;
    case INDICES:
    case OBJECT: return same_patches(x, y) ? YES : NO;
    case TUPLE:
    case SET: break;
    default: return UNSURE;
  }
  if (x.len != y.len) return NO;
  if (DEPTH == 0) return UNSURE;
  const V *xs = (const V *)x.bits, *ys = (const V *)y.bits;
  for (u32 k = 0; k < x.len; k++) {
    const int INNER = DEPTH ? DEPTH - 1 : 0;
    Answer found = equal_alone<INNER>(c, xs[k], ys[k]);
    // An element of a set may stand anywhere in the other, but mostly it stands at the same place.
    for (u32 j = 0; j < y.len && found == NO && x.kind == SET; j++) found = equal_alone<INNER>(c, xs[k], ys[j]);
    if (found != YES) return found;
  }
  return YES;
}

/// Whether a patch has a value. True and False in a tuple equal 1 and 0.
INLINE bool is_in_patch(const Ctx &c, const V &value, const V &patch) {
  if (value.kind != TUPLE) return patch_has(patch, value);
  const V *items = (const V *)value.bits;
  i32 i, j;
  if (patch.kind == INDICES) return value.len == 2 && two_numbers(value, false, &i, &j) && patch_has(patch, pair(i, j));
  if (has_triples(c)) {
    if (value.len != 3 || !two_numbers(value, false, &i, &j) || !is_int(items[2]) || items[2].bits > 15) return false;
    return patch_has(patch, make(CELL, (u8)items[2].bits, 0, 0, place(i, j), 0));
  }
  if (value.len != 2 || !is_int(items[0]) || items[0].bits > 15) return false;
  if (items[1].kind != PAIR && (items[1].kind != TUPLE || items[1].len != 2)) return false;
  return two_numbers(items[1], false, &i, &j) && patch_has(patch, make(CELL, (u8)items[0].bits, 0, 0, place(i, j), 0));
}
/// Whether Python finds a value in a container.
INLINE Answer contained_alone(const Ctx &c, const V &value, const V &container) {
  if (is_patch(container)) return size_of_patch(container) && is_in_patch(c, value, container) ? YES : NO;
  u32 n = (u32)length_alone(c, container);
  bool unsure = false;
  for (u32 k = 0; k < n; k++) {
    if (has_rows(container)) {
      if (is_row_of(c, value, container, k)) return YES;
      continue;
    }
    Answer answer = equal_alone<3>(c, component(c, container, k), value);
    if (answer == YES) return YES;
    unsure = unsure || answer == UNSURE;
  }
  return unsure ? UNSURE : NO;
}

/// What an op gives for an answer.
INLINE V truth_of(Answer answer) { return answer == UNSURE ? stopped(ODD) : boolean(answer == YES); }

// ---- Order -------------------------------------------------------------------------------------

/// The answer for values that Python cannot compare.
const Answer INCOMPARABLE = (Answer)3;

/// Whether rows of two values are less, equal or greater: -1, 0 or 1.
INLINE i32 compare_rows(const V &x, u32 row, const V &y, u32 other) {
  u32 width = row_width(x, row), width_y = row_width(y, other);
  for (u32 j = 0; j < min_of(width, width_y); j++) {
    u32 a = color_at(x, row, j), b = color_at(y, other, j);
    if (a != b) return a < b ? -1 : 1;
  }
  return width == width_y ? 0 : width < width_y ? -1 : 1;
}
/// Whether all elements of a patch are in another one of its kind.
INLINE bool is_part(const V &x, const V &y) {
  i32 down = row_of(x.len) - row_of(y.len), right = column_of(x.len) - column_of(y.len);
  if (x.kind != y.kind || down < 0 || right < 0 || down + x.a > y.a || right + x.b > y.b) return false;
  bool colors = x.kind == OBJECT && (x.c == PLANES || y.c == PLANES);
  if (!colors && x.c != y.c) return false;
  for (u32 l = 0; l < x.a; l++) {
    u32 mask = patch_row(x, 0, l);
    if (mask & ~(patch_row(y, 0, (u32)down + l) >> right)) return false;
    for (u32 board = 1; colors && board < 5; board++)
      if ((patch_row(x, board, l) ^ patch_row(y, board, (u32)down + l) >> right) & mask) return false;
  }
  return true;
}
/// Python's `x < y`, for containers that nest at most DEPTH deep.
template <int DEPTH> CALLED Answer less_alone(const Ctx &c, const V &x, const V &y) {
  if (is_int(x) && is_int(y)) return int_of(x) < int_of(y) ? YES : NO;
  if (any_set(x) && any_set(y)) {
    i32 n = length_alone(c, x), m = length_alone(c, y);
    if (n >= m) return NO;
    if (n == 0) return YES;
    if (x.kind == SET || y.kind == SET) return UNSURE;
    return is_part(x, y) ? YES : NO;
  }
  if (!any_tuple(x) || !any_tuple(y)) return x.kind == OP || y.kind == OP ? UNSURE : INCOMPARABLE;
  bool rows_x = has_rows(x), rows_y = has_rows(y);
  if (rows_x && rows_y) {
    for (u32 k = 0; k < min_of(x.a, y.a); k++) {
      i32 order = compare_rows(x, k, y, k);
      if (order) return order < 0 ? YES : NO;
    }
    return x.a < y.a ? YES : NO;
  }
  if (rows_x || rows_y || DEPTH == 0) return UNSURE;
  u32 n = (u32)length_alone(c, x), m = (u32)length_alone(c, y);
  for (u32 k = 0; k < min_of(n, m); k++) {
    V a = component(c, x, k), b = component(c, y, k);
    Answer equal = equal_alone<2>(c, a, b);
    if (equal == UNSURE) return UNSURE;
    if (equal == NO) return less_alone<(DEPTH ? DEPTH - 1 : 0)>(c, a, b);
  }
  return n < m ? YES : NO;
}

// ---- Arithmetic --------------------------------------------------------------------------------

enum Arithmetic : u32 { SUM, DIFFERENCE, MULTIPLES, QUOTIENT };

INLINE V product_of(i64 a, i64 b) {
  i64 n = (i64)((u64)a * (u64)b);
  i64 small = 1ll << 31;
  if (a >= -small && a < small && b >= -small && b < small) return integer(n);
  const i64 least = (i64)(1ull << 63);
  if ((a == -1 && b == least) || (b == -1 && a == least)) return fault(OVERFLOW_);
  if (a != 0 && a != -1 && n / a != b) return fault(OVERFLOW_);
  return integer(n);
}
/// The quotient, rounded down.
INLINE V quotient_of(i64 a, i64 b) {
  if (b == 0) return fault(ZERO_DIVISION);
  if (b == -1) return a == (i64)(1ull << 63) ? fault(OVERFLOW_) : integer(-a);
  i64 n = a / b;
  return integer(n * b != a && (a < 0) != (b < 0) ? n - 1 : n);
}
INLINE V calculated(u32 op, i64 a, i64 b) {
  i64 n;
  switch (op) {
    case SUM:
      n = (i64)((u64)a + (u64)b);
      return ((a ^ n) & (b ^ n)) < 0 ? fault(OVERFLOW_) : integer(n);
    case DIFFERENCE:
      n = (i64)((u64)a - (u64)b);
      return ((a ^ b) & (a ^ n)) < 0 ? fault(OVERFLOW_) : integer(n);
    case MULTIPLES: return product_of(a, b);
    default: return quotient_of(a, b);
  }
}
/// An operation of Python on two values of which one may be a container.
INLINE V operated(u32 op, const V &x, const V &y) {
  if (is_int(x) && is_int(y)) return calculated(op, int_of(x), int_of(y));
  // Tuples are joined or repeated, and sets subtracted: nobody means that.
  bool joined = op == SUM && any_tuple(x) && any_tuple(y);
  bool repeated = op == MULTIPLES && ((any_tuple(x) && is_int(y)) || (is_int(x) && any_tuple(y)));
  bool subtracted = op == DIFFERENCE && any_set(x) && any_set(y);
  return joined || repeated || subtracted ? stopped(ODD) : fault(TYPE_);
}
/// `v[k]`, where a row of a grid is any tuple.
INLINE V indexed(const Ctx &c, const V &v, u32 k) {
  if (!any_tuple(v)) return fault(TYPE_);
  if (k >= (u32)length_alone(c, v)) return fault(INDEX_);
  if (has_rows(v)) return make(TUPLE, 0, 0, 0, 0, 0);
  return component(c, v, k);
}
/// The pair of f(0) and f(1), which Python evaluates one after the other.
template <class F> INLINE V both_components(const Ctx &c, F f) {
  V first = f(0);
  if (!is_value(first)) return first;
  V second = f(1);
  if (!is_value(second)) return second;
  return tuple_of_two(c, first, second);
}
INLINE V binary(const Ctx &c, u32 op, const V &a, const V &b) {
  if (is_int(a) && is_int(b)) return calculated(op, int_of(a), int_of(b));
  bool fixed_a = is_int(a) && any_tuple(b), fixed_b = !any_tuple(b);
  return both_components(c, [&](u32 k) {
    V x = fixed_a ? a : indexed(c, a, k);
    if (!is_value(x)) return x;
    V y = fixed_b ? b : indexed(c, b, k);
    return is_value(y) ? operated(op, x, y) : y;
  });
}
template <class F> INLINE V unary(const Ctx &c, const V &x, F f) {
  if (is_int(x)) return f(x);
  return both_components(c, [&](u32 k) {
    V part = indexed(c, x, k);
    return is_value(part) ? f(part) : part;
  });
}
INLINE i64 sign_of(i64 n) { return n > 0 ? 1 : n < 0 ? -1 : 0; }

THREAD_OP(add)(const Ctx &c, V a, V b) { return binary(c, SUM, a, b); }
THREAD_OP(subtract)(const Ctx &c, V a, V b) { return binary(c, DIFFERENCE, a, b); }
THREAD_OP(multiply)(const Ctx &c, V a, V b) { return binary(c, MULTIPLES, a, b); }
THREAD_OP(divide)(const Ctx &c, V a, V b) { return binary(c, QUOTIENT, a, b); }
THREAD_OP(invert)(const Ctx &c, V n) {
  return unary(c, n, [&](const V &x) { return operated(DIFFERENCE, integer(0), x); });
}
THREAD_OP(double)(const Ctx &c, V n) {
  return unary(c, n, [&](const V &x) { return operated(MULTIPLES, x, integer(2)); });
}
THREAD_OP(halve)(const Ctx &c, V n) {
  return unary(c, n, [&](const V &x) { return operated(QUOTIENT, x, integer(2)); });
}
THREAD_OP(increment)(const Ctx &c, V n) {
  return unary(c, n, [&](const V &x) { return operated(SUM, x, integer(1)); });
}
THREAD_OP(decrement)(const Ctx &c, V n) {
  return unary(c, n, [&](const V &x) { return operated(DIFFERENCE, x, integer(1)); });
}
THREAD_OP(crement)(const Ctx &c, V n) {
  return unary(c, n, [&](const V &x) {
    return operated(SUM, x, integer(is_int(x) ? sign_of(int_of(x)) : 0));
  });
}
THREAD_OP(sign)(const Ctx &c, V n) {
  return unary(c, n, [&](const V &x) { return is_int(x) ? integer(sign_of(int_of(x))) : fault(TYPE_); });
}
THREAD_OP(even)(const Ctx &, V n) { return is_int(n) ? boolean(!(n.bits & 1)) : fault(TYPE_); }
THREAD_OP(positive)(const Ctx &, V n) { return is_int(n) ? boolean(int_of(n) > 0) : fault(TYPE_); }
THREAD_OP(toivec)(const Ctx &c, V i) { return tuple_of_two(c, i, integer(0)); }
THREAD_OP(tojvec)(const Ctx &c, V j) { return tuple_of_two(c, integer(0), j); }
THREAD_OP(astuple)(const Ctx &c, Any a, Any b) { return tuple_of_two(c, a, b); }

// ---- Truth and comparison ----------------------------------------------------------------------

THREAD_OP(flip)(const Ctx &, Any b) { return boolean(is_false(b)); }
THREAD_OP(equality)(const Ctx &c, Any a, Any b) { return truth_of(equal_alone<3>(c, a, b)); }
THREAD_OP(greater)(const Ctx &c, Any a, Any b) {
  Answer answer = less_alone<3>(c, b, a);
  return answer == INCOMPARABLE ? fault(TYPE_) : truth_of(answer);
}
THREAD_OP(both)(const Ctx &, Any a, Any b) { return is_false(a) ? a : b; }
THREAD_OP(either)(const Ctx &, Any a, Any b) { return is_false(a) ? b : a; }
THREAD_OP(branch)(const Ctx &, Any condition, Any a, Any b) { return is_false(condition) ? b : a; }
/// The most elements of a tuple for which a search costs the CPU no more than other calls.
const u32 MOST_SEARCHED = 64;
THREAD_OP(contained)(const Ctx &c, Any value, Any container) {
  if (length_alone(c, container) < 0) return container.kind == OP ? stopped(ODD) : fault(TYPE_);
  if (container.kind == TUPLE && container.len > MOST_SEARCHED) return stopped(LIMIT);
  return truth_of(contained_alone(c, value, container));
}
