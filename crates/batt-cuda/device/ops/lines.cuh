// Lines, frames and neighbourhoods.

// ---- Neighbourhoods ---------------------------------------------------------------------------------------------

/// `(i, j)`, where the code for making pairs need not stand.
OUTLINE V place_from(Ctx &c, V i, V j) { return pair_of(c, i, j); }

/// Four neighbours of a location, frozen: the direct ones, or the diagonal ones.
OUTLINE V four_around(Ctx &c, V loc, bool diagonal) {
  V i = at(c, loc, 0);
  TRY(i);
  V up = plain_operation(c, SUBTRACT, i, integer(1));
  TRY(up);
  V j = at(c, loc, 1);
  TRY(j);
  V down = plain_operation(c, ADD, i, integer(1));
  TRY(down);
  V left = plain_operation(c, SUBTRACT, j, integer(1));
  TRY(left);
  V right = plain_operation(c, ADD, j, integer(1));
  TRY(right);
  V p = place_from(c, up, diagonal ? left : j);
  V q = place_from(c, diagonal ? up : down, diagonal ? right : j);
  V r = place_from(c, diagonal ? down : i, left);
  V s = place_from(c, diagonal ? down : i, right);
  CHECK(c);
  return set_of_four(c, p, q, r, s);
}

/// The locations around one as a set without order; none() when they are not all pairs.
OUTLINE V pairs_around(Ctx &c, V loc, bool direct, bool diagonal) {
  if (loc.kind != PAIR) return none();
  i32 i = row_of(loc.lo), j = column_of(loc.lo);
  if (!fits16(i - 1) || !fits16(i + 1) || !fits16(j - 1) || !fits16(j + 1)) return none();
  ROOM(u32, pairs, c, 8);
  u32 n = 0;
  for (i32 di = -1; di <= 1; di++)
    for (i32 dj = -1; dj <= 1; dj++) {
      bool corner = di && dj;
      if ((di || dj) && (corner ? diagonal : direct)) put(pairs + n++, pair_word(i + di, j + dj));
    }
  sync();
  return list_at(c, SET_P, pairs, n);
}

OUTLINE V neighbors_of(Ctx &c, V loc, bool direct, bool diagonal) {
  if (!c.exact) {
    V quick = pairs_around(c, loc, direct, diagonal);
    if (quick.kind != NONE) return quick;
  }
  V near = direct ? four_around(c, loc, false) : none();
  TRY(near);
  V far = diagonal ? four_around(c, loc, true) : none();
  TRY(far);
  return direct && diagonal ? set_union(c, near, far) : direct ? near : far;
}

OP(dneighbors)(Ctx &c, V loc) { return neighbors_of(c, loc, true, false); }
OP(ineighbors)(Ctx &c, V loc) { return neighbors_of(c, loc, false, true); }
OP(neighbors)(Ctx &c, V loc) { return neighbors_of(c, loc, true, true); }

// ---- Straight lines -----------------------------------------------------------------------------------------------

/// *Build* of `count` locations, `(di, dj)` apart, all of them pairs.
OUTLINE V line_of_pairs(Ctx &c, i32 i, i32 j, i32 di, i32 dj, u32 count) {
  spend(c, count / 8);
  ROOM(u32, pairs, c, count);
  for (u32 k = lane(); k < count; k += LANES) pairs[k] = pair_word(i + (i32)k * di, j + (i32)k * dj);
  sync();
  return build_distinct(c, list_at(c, SET_P, pairs, count), BUILD);
}

INLINE i32 sign_of(i64 n) { return n > 0 ? 1 : n < 0 ? -1 : 0; }
INLINE i64 absolute(i64 n) { return n < 0 ? -n : n; }

/// The line between two points of the range of pairs: downwards; along a row, to the right.
OUTLINE V connect_pairs(Ctx &c, i32 ai, i32 aj, i32 bi, i32 bj) {
  i32 di = bi - ai, dj = bj - aj;
  if (di != 0 && dj != 0 && absolute(di) != absolute(dj)) return empty_set();
  bool backwards = di < 0 || (di == 0 && dj < 0);
  u32 count = (u32)max_of(absolute(di), absolute(dj)) + 1;
  i32 step_i = sign_of(di), step_j = sign_of(dj);
  if (backwards) return line_of_pairs(c, bi, bj, -step_i, -step_j, count);
  return line_of_pairs(c, ai, aj, step_i, step_j, count);
}

/// Lines longer than this are left to the CPU.
const i64 MOST_STEPS = 1 << 20;

/// *Build* of `(i, k)` or `(k, j)` for all k from one number to another; what the points share is passed on as it is.
OUTLINE V line_through(Ctx &c, V shared, bool row, i64 from, i64 to) {
  if (to - from > MOST_STEPS) return stop(c, SIZE);
  u32 count = (u32)(to - from + 1);
  spend(c, count);
  ROOM(V, line, c, count);
  for (u32 k = 0; k < count; k++) {
    V place = row ? pair_of(c, shared, integer(from + k)) : pair_of(c, integer(from + k), shared);
    TRY(place);
    put(line + k, place);
  }
  sync();
  return build_values(c, line, count);
}

/// *Build* of a diagonal of locations.
OUTLINE V diagonal_line(Ctx &c, i64 i, i64 j, i64 dj, i64 steps) {
  if (steps > MOST_STEPS) return stop(c, SIZE);
  spend(c, steps);
  ROOM(V, line, c, steps + 1);
  for (i64 k = 0; k <= steps; k++) {
    V place = int_pair(c, i + k, j + k * dj);
    TRY(place);
    put(line + k, place);
  }
  sync();
  return build_values(c, line, (u32)steps + 1);
}

/// `a <= b`, or the other way round: both in order. A fault, or none().
OUTLINE V sort_two(Ctx &c, V a, V b, V *low, V *high) {
  i32 before = less(c, b, a), after = less(c, a, b);
  CHECK(c);
  if (before < 0 || after < 0) return failed(TYPE_);
  *low = before ? b : a;
  *high = after ? b : a;
  return none();
}

/// The line between two points one of which has a float. There are no numbers between floats, but two points may share
/// one, and a nan loses every comparison.
OUTLINE V connect_floats(Ctx &c, V ai, V aj, V bi, V bj) {
  if (!is_numeric(ai) || !is_numeric(aj)) return failed(TYPE_);
  bool same_row = equal(c, ai, bi);
  if (!same_row && !equal(c, aj, bj)) return empty_set();
  V from, to;
  V fault = same_row ? sort_two(c, aj, bj, &from, &to) : sort_two(c, ai, bi, &from, &to);
  TRY(fault);
  if (!is_number(from) || !is_number(to)) return failed(TYPE_);
  if (!fits32(number_of(from)) || !fits32(number_of(to))) return odd(c);
  return line_through(c, same_row ? ai : aj, same_row, number_of(from), number_of(to));
}

/// The line between two points of any kind.
OUTLINE V connect_values(Ctx &c, V a, V b) {
  V ai, aj, bi, bj;
  V fault = unpack_pair(c, a, &ai, &aj);
  TRY(fault);
  fault = unpack_pair(c, b, &bi, &bj);
  TRY(fault);
  bool floats = ai.kind == FLOAT || aj.kind == FLOAT || bi.kind == FLOAT || bj.kind == FLOAT;
  if (floats && triples(c)) return connect_floats(c, ai, aj, bi, bj);
  if (!is_number(ai) || !is_number(bi) || !is_number(aj) || !is_number(bj)) return failed(TYPE_);
  i64 i = number_of(ai), j = number_of(aj), to_i = number_of(bi), to_j = number_of(bj);
  if (!fits32(i) || !fits32(j) || !fits32(to_i) || !fits32(to_j)) return odd(c);
  i64 di = to_i - i, dj = to_j - j;
  if (di != 0 && dj != 0 && absolute(di) != absolute(dj)) return empty_set();
  if (di == 0) return line_through(c, ai, true, min_of(j, to_j), max_of(j, to_j));
  if (dj == 0) return line_through(c, aj, false, min_of(i, to_i), max_of(i, to_i));
  return diagonal_line(c, min_of(i, to_i), di == dj ? min_of(j, to_j) : max_of(j, to_j), di == dj ? 1 : -1, absolute(di));
}

OP(connect)(Ctx &c, V a, V b) {
  if (a.kind == PAIR && b.kind == PAIR)
    return connect_pairs(c, row_of(a.lo), column_of(a.lo), row_of(b.lo), column_of(b.lo));
  return connect_values(c, a, b);
}

/// How many times its direction a shot goes.
const i32 SHOT = 42;

/// One coordinate of where a shot ends.
OUTLINE V shot_coordinate(Ctx &c, V start, V direction, u32 k) {
  V from = at(c, start, k);
  TRY(from);
  V step = at(c, direction, k);
  TRY(step);
  // Python repeats the tuple, but can add it to no number.
  if (is_tuple(step) && !is_tuple(from)) {
    spend(c, (u64)length(c, step) * SHOT / 8);
    return failed(TYPE_);
  }
  V way = plain_operation(c, MULTIPLY, integer(SHOT), step);
  TRY(way);
  return plain_operation(c, ADD, from, way);
}

/// Where a shot ends, for a start and a direction of any kind.
OUTLINE V shot_end(Ctx &c, V start, V direction) {
  V i = shot_coordinate(c, start, direction, 0);
  TRY(i);
  V j = shot_coordinate(c, start, direction, 1);
  TRY(j);
  return pair_of(c, i, j);
}

OP(shoot)(Ctx &c, V start, V direction) {
  if (start.kind == PAIR && direction.kind == PAIR) {
    i32 i = row_of(start.lo), j = column_of(start.lo);
    i32 to_i = i + SHOT * row_of(direction.lo), to_j = j + SHOT * column_of(direction.lo);
    if (fits16(to_i) && fits16(to_j)) return connect_pairs(c, i, j, to_i, to_j);
  }
  V end = shot_end(c, start, direction);
  TRY(end);
  return op_connect(c, start, end);
}

/// How long frontiers are: the extent of the largest grid.
const u32 FRONTIER = 30;

OP(vfrontier)(Ctx &c, V location) {
  if (location.kind == PAIR) return line_of_pairs(c, 0, column_of(location.lo), 1, 0, FRONTIER);
  V j = at(c, location, 1);
  TRY(j);
  return line_through(c, j, false, 0, FRONTIER - 1);
}
OP(hfrontier)(Ctx &c, V location) {
  if (location.kind == PAIR) return line_of_pairs(c, row_of(location.lo), 0, 0, 1, FRONTIER);
  V i = at(c, location, 0);
  TRY(i);
  return line_through(c, i, true, 0, FRONTIER - 1);
}

// ---- Boxes --------------------------------------------------------------------------------------------------------

/// All locations between two corners of any kind, both included.
OUTLINE V box_between(Ctx &c, V from, V to) {
  V top, left, bottom, right;
  V fault = unpack_pair(c, from, &top, &left);
  TRY(fault);
  fault = unpack_pair(c, to, &bottom, &right);
  TRY(fault);
  if (!is_number(top) || !is_number(bottom)) return failed(TYPE_);
  // Without rows nobody asks for columns.
  if (number_of(top) > number_of(bottom)) return empty_set();
  if (!is_number(left) || !is_number(right)) return failed(TYPE_);
  return rectangle(c, number_of(top), number_of(left), number_of(bottom), number_of(right));
}

INLINE V box_of(Ctx &c, Bounds b) { return rectangle(c, b.top, b.left, b.bottom, b.right); }

OP(backdrop)(Ctx &c, V patch) {
  if (is_real_patch(patch)) return box_of(c, bounds_of(c, patch));
  if (!is_container(patch)) return failed(TYPE_);
  if (length(c, patch) == 0) return empty_set();
  // Python takes one corner of the indices and the other of the patch, which may differ where locations stand inside
  // locations. It looks at the first one before it goes on.
  V indices = op_toindices(c, patch);
  TRY(indices);
  V from = op_ulcorner(c, indices), i, j;
  TRY(from);
  V fault = unpack_pair(c, from, &i, &j);
  TRY(fault);
  V to = op_lrcorner(c, patch);
  TRY(to);
  return box_between(c, from, to);
}

/// The locations of a rectangle that a patch leaves free, as a set without order. none(): too large for that.
OUTLINE V free_places(Ctx &c, V patch, Bounds box) {
  Bits bits;
  if (!bits_for(c, box, false, &bits)) return none();
  set_bits(c, bits, patch, false);
  for (u32 k = lane(); k < bits.count; k += LANES) {
    u32 beyond = (k + 1) * 32 > bits.area ? (k + 1) * 32 - bits.area : 0;
    bits.words[k] = ~bits.words[k] & (~0u >> beyond);
  }
  sync();
  spend(c, (patch.len + bits.area) / 4);
  return patch_of_bits(c, bits, false);
}

OP(delta)(Ctx &c, V patch) {
  if (!is_container(patch)) return failed(TYPE_);
  if (length(c, patch) == 0) return empty_set();
  if (!c.exact && is_patch(patch)) {
    V left = free_places(c, patch, bounds_of(c, patch));
    if (left.kind != NONE) return left;
  }
  V full = op_backdrop(c, patch);
  TRY(full);
  V indices = op_toindices(c, patch);
  TRY(indices);
  return is_set(indices) ? set_minus(c, full, indices) : failed(TYPE_);
}

// ---- Frames -------------------------------------------------------------------------------------------------------

/// The outline of a box without order.
OUTLINE V frame_pairs(Ctx &c, Bounds b) {
  u32 height = (u32)(b.bottom - b.top + 1), width = (u32)(b.right - b.left + 1);
  u32 rows = min_of(height, 2u), sides = min_of(width, 2u);
  u32 n = width * rows + (height - rows) * sides;
  spend(c, n / 8 + 1);
  ROOM(u32, pairs, c, n);
  for (u32 k = lane(); k < n; k += LANES) {
    u32 place;
    if (k < width * rows) {
      place = pair_word(k < width ? b.top : b.bottom, b.left + (i32)(k % width));
    } else {
      u32 rest = k - width * rows;
      place = pair_word(b.top + 1 + (i32)(rest / sides), rest % sides ? b.right : b.left);
    }
    pairs[k] = place;
  }
  sync();
  return list_at(c, SET_P, pairs, n);
}

/// The outline of a box by the unions that Python makes: of its columns, of its rows, and of both.
OUTLINE V frame_of(Ctx &c, Bounds b) {
  if (!c.exact) return frame_pairs(c, b);
  u32 height = (u32)(b.bottom - b.top + 1), width = (u32)(b.right - b.left + 1);
  V first = line_of_pairs(c, b.top, b.left, 1, 0, height);
  TRY(first);
  V second = line_of_pairs(c, b.top, b.right, 1, 0, height);
  TRY(second);
  V vertical = set_union(c, first, second);
  TRY(vertical);
  first = line_of_pairs(c, b.top, b.left, 0, 1, width);
  TRY(first);
  second = line_of_pairs(c, b.bottom, b.left, 0, 1, width);
  TRY(second);
  V horizontal = set_union(c, first, second);
  TRY(horizontal);
  V outline = set_union(c, vertical, horizontal);
  TRY(outline);
  return set_copy(c, outline);
}

/// The outline of the box between two corners of any kind.
OUTLINE V frame_between(Ctx &c, V ai, V aj, V bi, V bj) {
  V top, left, bottom, right;
  V fault = sort_two(c, ai, bi, &top, &bottom);
  TRY(fault);
  fault = sort_two(c, aj, bj, &left, &right);
  TRY(fault);
  if (!is_number(top) || !is_number(bottom) || !is_number(left) || !is_number(right)) return failed(TYPE_);
  // The corner values themselves end up in the outline, bools included.
  bool plain = top.kind == INT && bottom.kind == INT && left.kind == INT && right.kind == INT;
  if (!plain) return odd(c);
  if (!fits16(int_of(top)) || !fits16(int_of(bottom)) || !fits16(int_of(left)) || !fits16(int_of(right)))
    return stop(c, SIZE);
  Bounds b = {(i32)int_of(top), (i32)int_of(left), (i32)int_of(bottom), (i32)int_of(right)};
  return frame_of(c, b);
}

OUTLINE V frame_between_corners(Ctx &c, V from, V to) {
  V ai, aj, bi, bj;
  V fault = unpack_pair(c, from, &ai, &aj);
  TRY(fault);
  fault = unpack_pair(c, to, &bi, &bj);
  TRY(fault);
  return frame_between(c, ai, aj, bi, bj);
}

OP(box)(Ctx &c, V patch) {
  if (is_real_patch(patch)) return frame_of(c, bounds_of(c, patch));
  if (!is_container(patch)) return failed(TYPE_);
  if (length(c, patch) == 0) return patch;
  V from = op_ulcorner(c, patch), i, j;
  TRY(from);
  V fault = unpack_pair(c, from, &i, &j);
  TRY(fault);
  V to = op_lrcorner(c, patch);
  TRY(to);
  return frame_between_corners(c, from, to);
}

/// The ends of a patch of any kind, in the sequence in which Python asks for them: upper, left, lower, right.
OUTLINE V end_of_patch(Ctx &c, V patch, u32 which) {
  if (triples(c)) {
    V end = which == 0 ? tok_uppermost(c, patch)
          : which == 1 ? tok_leftmost(c, patch)
          : which == 2 ? tok_lowermost(c, patch)
                       : tok_rightmost(c, patch);
    return safely(c, end, TO_ZERO);
  }
  return which == 0 ? op_uppermost(c, patch)
       : which == 1 ? op_leftmost(c, patch)
       : which == 2 ? op_lowermost(c, patch)
                    : op_rightmost(c, patch);
}

/// The outline of the bounding box grown by `by` on every side.
OUTLINE V resized_box(Ctx &c, V patch, i32 by) {
  if (is_real_patch(patch)) {
    Bounds b = bounds_of(c, patch);
    return frame_between(c, integer(b.top - by), integer(b.left - by), integer(b.bottom + by), integer(b.right + by));
  }
  V ends[4];
  for (u32 k = 0; k < 4; k++) {
    V end = end_of_patch(c, patch, k);
    TRY(end);
    ends[k] = plain_operation(c, k < 2 ? SUBTRACT : ADD, end, integer(by));
    TRY(ends[k]);
  }
  return frame_between(c, ends[0], ends[1], ends[2], ends[3]);
}

OP(inbox)(Ctx &c, V patch) { return resized_box(c, patch, -1); }
OP(outbox)(Ctx &c, V patch) { return resized_box(c, patch, 1); }

// ---- The single cell of a grid -------------------------------------------------------------------------------------

/// The value of a grid at a location; `outside` if that lies outside.
OUTLINE V cell_inside(Ctx &c, V grid, V loc, V outside) {
  if (grid.kind == GRID && loc.kind == PAIR) {
    u32 i = (u32)row_of(loc.lo), j = (u32)column_of(loc.lo);
    if (i >= height_of(grid) || j >= width_of(grid)) return outside;
    return integer(bytes_of(c, grid)[i * width_of(grid) + j]);
  }
  V i, j;
  V fault = unpack_pair(c, loc, &i, &j);
  TRY(fault);
  u32 height, width;
  fault = grid_dims(c, grid, &height, &width);
  TRY(fault);
  V inside = is_inside(i, j, height, width);
  TRY(inside);
  if (!truth(c, inside)) return outside;
  // A set of two numbers can be unpacked but not indexed.
  if (!is_tuple(loc)) return failed(TYPE_);
  return value_at(c, grid, number_of(i), number_of(j));
}

OP(index)(Ctx &c, V grid, V loc) { return cell_inside(c, grid, loc, none()); }

// ---- tokpidjin ------------------------------------------------------------------------------------------------------

SAME2(connect, connect)
TOK(shoot)(Ctx &c, V start, V direction) {
  if (start.kind == PAIR && direction.kind == PAIR) return op_shoot(c, start, direction);
  if (is_empty_container(c, start) || is_empty_container(c, direction)) return empty_set();
  V end = shot_end(c, start, direction);
  TRY(end);
  return safely(c, tok_connect(c, start, end), TO_EMPTY_SET);
}
SAME1(vfrontier, vfrontier)
SAME1(hfrontier, hfrontier)

/// The upper left and the lower right corner: a fault, or none(). Python looks at the one before it asks for the other,
/// but asking for a corner never fails.
OUTLINE V corners_of(Ctx &c, V patch, V *from, V *to) {
  *from = safely(c, tok_ulcorner(c, patch), TO_EMPTY_TUPLE);
  TRY(*from);
  *to = safely(c, tok_lrcorner(c, patch), TO_EMPTY_TUPLE);
  TRY(*to);
  return none();
}

TOK(backdrop)(Ctx &c, V patch) {
  if (is_real_patch(patch)) return op_backdrop(c, patch);
  if (has_nothing(c, patch)) return empty_set();
  V from, to;
  V fault = corners_of(c, patch, &from, &to);
  TRY(fault);
  return box_between(c, from, to);
}
TOK(delta)(Ctx &c, V patch) {
  if (is_real_patch(patch)) return op_delta(c, patch);
  if (has_nothing(c, patch)) return empty_set();
  V full = safely(c, tok_backdrop(c, patch), TO_EMPTY_SET);
  TRY(full);
  V taken = safely(c, tok_toindices(c, patch), TO_EMPTY_SET);
  TRY(taken);
  return is_set(taken) ? set_minus(c, full, taken) : failed(TYPE_);
}
TOK(box)(Ctx &c, V patch) {
  if (is_real_patch(patch)) return op_box(c, patch);
  if (is_empty_container(c, patch)) return empty_set();
  V from, to;
  V fault = corners_of(c, patch, &from, &to);
  TRY(fault);
  return frame_between_corners(c, from, to);
}
TOK(inbox)(Ctx &c, V patch) { return is_empty_container(c, patch) ? empty_set() : resized_box(c, patch, -1); }
TOK(outbox)(Ctx &c, V patch) { return is_empty_container(c, patch) ? empty_set() : resized_box(c, patch, 1); }
TOK(index)(Ctx &c, V grid, V loc) {
  V outside = floating_bits(MINUS_INFINITY);
  if (is_tuple(loc) && length(c, loc) == 0) return outside;
  return cell_inside(c, grid, loc, outside);
}
