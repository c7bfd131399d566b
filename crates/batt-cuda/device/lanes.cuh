// Functions applied to many elements at once, one element a lane.
//
// `sfilter(object, condition)` and `apply(size, objects)` call a function on every element. Called one after the other,
// a warp works on one element at a time, with most lanes idle. Where the function is made of primitives that need no
// memory, every lane can call it on an element of its own instead: the closure is the same for all lanes, only
// the elements differ.
//
// Steps on numbers and locations are done by the same bodies, with all lanes at the same one: see quick_call in vm.cuh.
//
// Code here is per lane: no collectives, no allocation, nothing of Ctx is changed. Whatever a lane body does not treat,
// it answers with nope(), and the elements are taken one after the other as usual (see map_all): so a lane body may
// be as narrow as it likes, but what it answers must be exact.

INLINE V nope() { return make(STOPPED, 0, 0, 0, 0); }

#define LANE1(name) INLINE V lane_##name(const Ctx &c, V a)
#define LANE2(name) INLINE V lane_##name(const Ctx &c, V a, V b)
#define LANE3(name) INLINE V lane_##name(const Ctx &c, V a, V b, V d)

// Made from the table of primitives: lane bodies by number, and whether there is one.
DEVICE V lane_dispatch1(const Ctx &c, u32 op, V a);
DEVICE V lane_dispatch2(const Ctx &c, u32 op, V a, V b);
DEVICE V lane_dispatch3(const Ctx &c, u32 op, V a, V b, V d);
DEVICE bool has_lane_body(u32 op);

INLINE bool is_plain(V v) { return v.kind == INT || v.kind == BOOL; }

INLINE V lane_pair(i64 i, i64 j) {
  if (!fits16(i) || !fits16(j)) return nope();
  return pair_of_word(pair_word((i32)i, (i32)j));
}

/// `a == b`: 1, 0, or -1 for not treated here.
INLINE i32 lane_equal(V a, V b) {
  if (is_plain(a) && is_plain(b)) return number_of(a) == number_of(b);
  if (a.kind == b.kind) {
    if (a.kind == PAIR || a.kind == CELL) return a.lo == b.lo && a.hi == b.hi;
    if (a.kind == NONE) return 1;
    if (a.kind == OP_) return a.lo == b.lo;
    if (is_container(a)) return a.lo == b.lo && a.hi == b.hi && a.len == b.len ? 1 : is_set(a) && a.len != b.len ? 0 : -1;
    return -1;
  }
  if (a.kind == FLOAT || b.kind == FLOAT) return -1;
  if (is_tuple(a) && is_tuple(b)) return -1;
  if (is_set(a) && is_set(b)) return a.len != b.len ? 0 : -1;
  return 0;
}

/// `a < b`: 1, 0, or -1.
INLINE i32 lane_less(V a, V b) {
  if (is_plain(a) && is_plain(b)) return number_of(a) < number_of(b);
  if (a.kind == PAIR && b.kind == PAIR) {
    i32 i = row_of(a.lo), k = row_of(b.lo);
    return i != k ? i < k : column_of(a.lo) < column_of(b.lo);
  }
  return -1;
}

// ---- Logic and arithmetic ------------------------------------------------------------------------------------

LANE1(identity) { return a; }
LANE1(flip) { return boolean(!truth(c, a)); }
LANE2(equality) { i32 e = lane_equal(a, b); return e < 0 ? nope() : boolean(e); }
LANE2(greater) { i32 l = lane_less(b, a); return l < 0 ? nope() : boolean(l); }
LANE2(both) { return truth(c, a) ? b : a; }
LANE2(either) { return truth(c, a) ? a : b; }
LANE3(branch) { return truth(c, a) ? b : d; }

/// Numbers that no operation here can make overflow.
INLINE bool is_small(V v) { return v.kind == INT && fits32(int_of(v)); }

enum LaneOperation : u8 { LANE_ADD, LANE_SUBTRACT, LANE_MULTIPLY };
INLINE i64 lane_number(u8 operation, i64 a, i64 b) {
  return operation == LANE_ADD ? a + b : operation == LANE_SUBTRACT ? a - b : a * b;
}
INLINE V lane_binary(u8 operation, V a, V b) {
  if (is_small(a) && is_small(b)) return integer(lane_number(operation, int_of(a), int_of(b)));
  bool first = a.kind == PAIR, second = b.kind == PAIR;
  if (!(first || is_small(a)) || !(second || is_small(b))) return nope();
  i64 i = lane_number(operation, first ? row_of(a.lo) : int_of(a), second ? row_of(b.lo) : int_of(b));
  i64 j = lane_number(operation, first ? column_of(a.lo) : int_of(a), second ? column_of(b.lo) : int_of(b));
  return lane_pair(i, j);
}
LANE2(add) { return lane_binary(LANE_ADD, a, b); }
LANE2(subtract) { return lane_binary(LANE_SUBTRACT, a, b); }
LANE2(multiply) { return lane_binary(LANE_MULTIPLY, a, b); }
LANE1(increment) { return lane_binary(LANE_ADD, a, integer(1)); }
LANE1(decrement) { return lane_binary(LANE_SUBTRACT, a, integer(1)); }
LANE1(double) { return lane_binary(LANE_MULTIPLY, a, integer(2)); }
LANE1(invert) { return lane_binary(LANE_SUBTRACT, integer(0), a); }
LANE1(halve) {
  if (a.kind == INT) return integer(int_of(a) >> 1);
  if (a.kind == PAIR) return lane_pair(row_of(a.lo) >> 1, column_of(a.lo) >> 1);
  return nope();
}
LANE1(even) { return is_plain(a) ? boolean((number_of(a) & 1) == 0) : nope(); }
LANE1(positive) { return is_plain(a) ? boolean(number_of(a) > 0) : nope(); }
LANE1(sign) {
  if (a.kind == INT) return integer(int_of(a) > 0 ? 1 : int_of(a) < 0 ? -1 : 0);
  return nope();
}
LANE1(toivec) { return a.kind == INT ? lane_pair(int_of(a), 0) : nope(); }
LANE1(tojvec) { return a.kind == INT ? lane_pair(0, int_of(a)) : nope(); }
LANE2(astuple) {
  if (a.kind == INT && b.kind == INT) return lane_pair(int_of(a), int_of(b));
  if (a.kind == INT && b.kind == PAIR && !triples(c) && fits32(int_of(a))) return cell_of(b.lo, (i32)int_of(a));
  return nope();
}

// ---- Containers ----------------------------------------------------------------------------------------------

LANE1(size) { return is_container(a) ? integer(length(c, a)) : nope(); }
INLINE V lane_item(const Ctx &c, V v, u32 k) {
  switch (v.kind) {
  case PAIR: return integer(k == 0 ? row_of(v.lo) : column_of(v.lo));
  case CELL:
    if (triples(c)) return integer(k == 0 ? row_of(v.lo) : k == 1 ? column_of(v.lo) : (i32)v.hi);
    return k == 0 ? integer((i32)v.hi) : pair_of_word(v.lo);
  case ROW: return integer(bytes_of(c, v)[k]);
  case GRID: {
    u32 width = width_of(v), row = v.lo + k * width;
    const u8 *cells = c.arena + row;
    if (width == 2) return pair_of_word(pair_word(cells[0], cells[1]));
    if (width == 3 && triples(c)) return cell_of(pair_word(cells[0], cells[1]), cells[2]);
    return make(ROW, 0, width, row, 0);
  }
  case TUPLE:
  case SET_V: return values_of(c, v)[k];
  case SET_P: return pair_of_word(pairs_of(c, v)[k]);
  case SET_C: return cell_of(dots_of(c, v)[k].at, dots_of(c, v)[k].color);
  default: return nope();
  }
}
LANE1(first) {
  if (!is_container(a) || !in_order(a)) return nope();
  return length(c, a) ? lane_item(c, a, 0) : nope();
}
LANE1(last) {
  if (!is_container(a) || !in_order(a)) return nope();
  u32 n = length(c, a);
  return n ? lane_item(c, a, n - 1) : nope();
}
LANE2(contained) {
  u32 n = length(c, b);
  if (b.kind == SET_P && a.kind == PAIR) {
    const u32 *pairs = pairs_of(c, b);
    for (u32 k = 0; k < n; k++) if (pairs[k] == a.lo) return boolean(true);
    return boolean(false);
  }
  if (b.kind == SET_C && a.kind == CELL) {
    const Dot *dots = dots_of(c, b);
    for (u32 k = 0; k < n; k++) if (dots[k].at == a.lo && dots[k].color == (i32)a.hi) return boolean(true);
    return boolean(false);
  }
  // The CPU goes through all of a tuple, so a long one has to be paid for.
  if (b.kind == SET_V || (b.kind == TUPLE && n <= 8)) {
    for (u32 k = 0; k < n; k++) {
      i32 e = lane_equal(values_of(c, b)[k], a);
      if (e) return e < 0 ? nope() : boolean(true);
    }
    return boolean(false);
  }
  if ((b.kind == PAIR || b.kind == ROW) && a.kind == INT) {
    for (u32 k = 0; k < n; k++) if (int_of(lane_item(c, b, k)) == int_of(a)) return boolean(true);
    return boolean(false);
  }
  return nope();
}

// ---- Patches -------------------------------------------------------------------------------------------------

/// The bounding box of a non-empty patch, by one lane.
INLINE bool lane_bounds(const Ctx &c, V patch, Bounds *b) {
  if (!is_patch(patch) || patch.len == 0) return false;
  *b = {32767, 32767, -32768, -32768};
  for (u32 k = 0; k < patch.len; k++) {
    u32 at = location(c, patch, k);
    i32 i = row_of(at), j = column_of(at);
    b->top = min_of(b->top, i);
    b->left = min_of(b->left, j);
    b->bottom = max_of(b->bottom, i);
    b->right = max_of(b->right, j);
  }
  return true;
}

enum LaneMeasure : u8 {
  M_TOP, M_BOTTOM, M_LEFT, M_RIGHT, M_HEIGHT, M_WIDTH, M_SHAPE, M_UL, M_UR, M_LL, M_LR, M_SQUARE, M_PORTRAIT, M_VLINE,
  M_HLINE, M_CENTER,
};
OUTLINE V lane_measure(const Ctx &c, u8 measure, V a) {
  Bounds b;
  if (!lane_bounds(c, a, &b)) return nope();
  i32 height = b.bottom - b.top + 1, width = b.right - b.left + 1;
  switch (measure) {
  case M_TOP: return integer(b.top);
  case M_BOTTOM: return integer(b.bottom);
  case M_LEFT: return integer(b.left);
  case M_RIGHT: return integer(b.right);
  case M_HEIGHT: return integer(height);
  case M_WIDTH: return integer(width);
  case M_SHAPE: return lane_pair(height, width);
  case M_UL: return lane_pair(b.top, b.left);
  case M_UR: return lane_pair(b.top, b.right);
  case M_LL: return lane_pair(b.bottom, b.left);
  case M_LR: return lane_pair(b.bottom, b.right);
  case M_SQUARE: return boolean(height == width && (i64)height * width == (i64)a.len);
  case M_PORTRAIT: return boolean(height > width);
  case M_VLINE: return boolean((u32)height == a.len && width == 1);
  case M_HLINE: return boolean((u32)width == a.len && height == 1);
  default: return lane_pair(b.top + height / 2, b.left + width / 2);
  }
}
LANE1(uppermost) { return lane_measure(c, M_TOP, a); }
LANE1(lowermost) { return lane_measure(c, M_BOTTOM, a); }
LANE1(leftmost) { return lane_measure(c, M_LEFT, a); }
LANE1(rightmost) { return lane_measure(c, M_RIGHT, a); }
LANE1(height) { return a.kind == GRID ? integer(height_of(a)) : lane_measure(c, M_HEIGHT, a); }
LANE1(width) { return a.kind == GRID ? integer(width_of(a)) : lane_measure(c, M_WIDTH, a); }
LANE1(shape) { return a.kind == GRID ? lane_pair(height_of(a), width_of(a)) : lane_measure(c, M_SHAPE, a); }
LANE1(ulcorner) { return lane_measure(c, M_UL, a); }
LANE1(urcorner) { return lane_measure(c, M_UR, a); }
LANE1(llcorner) { return lane_measure(c, M_LL, a); }
LANE1(lrcorner) { return lane_measure(c, M_LR, a); }
LANE1(square) { return lane_measure(c, M_SQUARE, a); }
LANE1(portrait) { return a.kind == GRID ? boolean(height_of(a) > width_of(a)) : lane_measure(c, M_PORTRAIT, a); }
LANE1(vline) { return lane_measure(c, M_VLINE, a); }
LANE1(hline) { return lane_measure(c, M_HLINE, a); }
LANE1(center) { return lane_measure(c, M_CENTER, a); }

LANE1(color) {
  if (a.kind != SET_C) return nope();
  i32 color = dots_of(c, a)[0].color;
  for (u32 k = 1; k < a.len; k++) if (dots_of(c, a)[k].color != color) return nope();
  return integer(color);
}
LANE1(numcolors) {
  if (a.kind != SET_C) return nope();
  u32 seen = 0;
  for (u32 k = 0; k < a.len; k++) {
    u32 color = (u32)dots_of(c, a)[k].color;
    if (color > 9) return nope();
    seen |= 1u << color;
  }
  return integer(popcount(seen));
}
LANE2(index) {
  if (a.kind != GRID || b.kind != PAIR) return nope();
  i32 i = row_of(b.lo), j = column_of(b.lo);
  if (i < 0 || j < 0 || (u32)i >= height_of(a) || (u32)j >= width_of(a)) return none();
  return integer(bytes_of(c, a)[(u32)i * width_of(a) + (u32)j]);
}

// ---- Calls ---------------------------------------------------------------------------------------------------

/// Is a function made of primitives with lane bodies?
DEVICE bool is_lanewise_inside(const Ctx &c, V f, u32 depth);
OUTLINE bool is_lanewise(const Ctx &c, V f, u32 depth = 0) {
  if (f.kind == OP_) return has_lane_body(f.lo);
  if (f.kind != CLOSURE || depth > 6) return false;
  const V *parts = values_of(c, f);
  if (!is_lanewise_inside(c, parts[0], depth + 1)) return false;
  switch (f.flags) {
  case COMPOSE: return is_lanewise_inside(c, parts[1], depth + 1);
  case CHAIN:
  case FORK: return is_lanewise_inside(c, parts[1], depth + 1) && is_lanewise_inside(c, parts[2], depth + 1);
  case POWER: return int_of(parts[1]) < 16;
  default: return true;
  }
}
OUTLINE bool is_lanewise_inside(const Ctx &c, V f, u32 depth) { return is_lanewise(c, f, depth); }

/// A fault becomes the fallback of a primitive that has one.
INLINE V lane_settle(u32 *fallbacks, u32 op, V v) {
  if (v.kind != FAILED) return v;
  u32 fallback = fallback_of_op(op);
  if (fallback == NO_FALLBACK) return v;
  ++*fallbacks;
  return fallback_value(fallback);
}

DEVICE V lane_call_inside(const Ctx &c, u32 *fallbacks, V f, V x);

INLINE V lane_call3(const Ctx &c, u32 *fallbacks, V f, V a, V b, V d) {
  if (f.kind != OP_ || arity_of_op(f.lo) != 3) return nope();
  return lane_settle(fallbacks, f.lo, lane_dispatch3(c, f.lo, a, b, d));
}
OUTLINE V lane_call2(const Ctx &c, u32 *fallbacks, V f, V a, V b) {
  if (f.kind == OP_) {
    if (arity_of_op(f.lo) != 2) return nope();
    return lane_settle(fallbacks, f.lo, lane_dispatch2(c, f.lo, a, b));
  }
  if (f.kind != CLOSURE || f.lg != 2) return nope();
  V p = values_of(c, f)[0], q = values_of(c, f)[1];
  return f.flags == LBIND ? lane_call3(c, fallbacks, p, q, a, b) : lane_call3(c, fallbacks, p, a, b, q);
}
OUTLINE V lane_call1(const Ctx &c, u32 *fallbacks, V f, V x) {
  if (f.kind == OP_) {
    if (arity_of_op(f.lo) != 1) return nope();
    return lane_settle(fallbacks, f.lo, lane_dispatch1(c, f.lo, x));
  }
  if (f.kind != CLOSURE || f.lg != 1) return nope();
  V p = values_of(c, f)[0], q = values_of(c, f)[1];
  switch (f.flags) {
  case COMPOSE: {
    V y = lane_call_inside(c, fallbacks, q, x);
    TRY(y);
    return lane_call_inside(c, fallbacks, p, y);
  }
  case CHAIN: {
    V y = lane_call_inside(c, fallbacks, values_of(c, f)[2], x);
    TRY(y);
    y = lane_call_inside(c, fallbacks, q, y);
    TRY(y);
    return lane_call_inside(c, fallbacks, p, y);
  }
  case MATCHER: {
    V y = lane_call_inside(c, fallbacks, p, x);
    TRY(y);
    i32 e = lane_equal(y, q);
    return e < 0 ? nope() : boolean(e);
  }
  case FORK: {
    V y = lane_call_inside(c, fallbacks, q, x);
    TRY(y);
    V z = lane_call_inside(c, fallbacks, values_of(c, f)[2], x);
    TRY(z);
    return lane_call2(c, fallbacks, p, y, z);
  }
  case LBIND: return lane_call2(c, fallbacks, p, q, x);
  case RBIND: return lane_call2(c, fallbacks, p, x, q);
  default: {
    i64 n = int_of(q);
    for (i64 k = 0; k < n; k++) {
      x = lane_call_inside(c, fallbacks, p, x);
      TRY(x);
    }
    return x;
  }
  }
}
OUTLINE V lane_call_inside(const Ctx &c, u32 *fallbacks, V f, V x) { return lane_call1(c, fallbacks, f, x); }

/// A function on the elements from `from` on, one for each lane: false if they have to be taken one after the other.
OUTLINE bool lane_map(Ctx &c, V f, V container, u32 from, u32 n, V *mine) {
  u32 k = from + lane(), fallbacks = 0;
  V x = k < n ? lane_item(c, container, k) : none();
  *mine = k < n && !is_bad(x) ? lane_call1(c, &fallbacks, f, x) : x;
  spend_shared(c, LANES * 2);
  // Bodies go through what they are given, and the CPU compares sets at length.
  i64 length = k < n && (is_set(x) || x.kind == TUPLE) ? x.len / 8 + 4 : 0;
  spend_beside(c, length + (i64)(fallbacks ? fallbacks * weight_of(c, x) : 0));
  if (any(mine->kind == STOPPED)) return false;
  if (any(fallbacks != 0)) c.fallbacks++;
  return true;
}
