// Colours of grids and objects.
//
// A set of colours of ARC, 0 to 9, is nearly always laid out the same, whatever the order in which they come: five and
// more have a slot each, up to four live in eight slots, where only 0 meets 8 and 1 meets 9.

/// The colours of a grid or of a packed object, in place.
struct Colors {
  const u8 *bytes; // or null:
  const Dot *dots;
  u32 n;
  bool ordered;
};
INLINE i32 color_at(const Colors &s, u32 k) { return s.bytes ? s.bytes[k] : s.dots[k].color; }

/// How a primitive reads its argument: every value of every member, or one part of every member.
enum ColorReading : u8 { GRID_OR_OBJECT, ROW_VALUES, CELL_COLORS };

/// False: neither a grid nor a packed object (or the run is stopped).
OUTLINE bool colors_in(Ctx &c, V element, u8 reading, Colors *s) {
  if (element.kind == SET_C && reading != ROW_VALUES) {
    *s = {nullptr, dots_of(c, element), element.len, in_order(element)};
    return true;
  }
  Grid grid;
  if (reading == CELL_COLORS || !as_grid(c, element, &grid)) return false;
  *s = {grid.cells, nullptr, grid.height * grid.width, true};
  return true;
}

/// Counts the colours of ARC; false when there is another.
///
/// A lane has ten counters of six bits in a register; they are added up as twelve bits each.
OUTLINE bool count_colors(Ctx &c, const Colors &s, u32 *counts) {
  const u64 every_other = 0x03f03f03f03f03full;
  const u32 block = LANES * 63;
  spend(c, s.n / 4);
  sync();
  fill_with(counts, 0u, 10);
  sync();
  bool other = false;
  for (u32 from = 0; from < s.n; from += block) {
    u32 end = min_of(s.n, from + block);
    u64 mine = 0;
    for (u32 k = from + lane(); k < end; k += LANES) {
      u32 color = (u32)color_at(s, k);
      other |= color > 9;
      if (color <= 9) mine += 1ull << 6 * color;
    }
    u64 evens = sum(mine & every_other), odds = sum(mine >> 6 & every_other);
    for (u32 k = lane(); k < 10; k += LANES) counts[k] += (u32)((k & 1 ? odds : evens) >> k / 2 * 12) & 0xfff;
  }
  sync();
  return !any(other);
}

/// Does the table of these colours come out the same for every order of insertion?
INLINE bool sequence_is_moot(u32 present) {
  return popcount(present) > 4 || !((present & present >> 8) & 3);
}

/// The colours in the order in which they are first met, or in ascending order: four bits each, the first one lowest.
OUTLINE u64 sequence_of(const Colors &s, u32 present, bool ascending) {
  u64 sequence = 0;
  u32 seen = 0, count = 0;
  if (ascending) {
    for (u32 color = 0; color < 10; color++)
      if (present >> color & 1) sequence |= (u64)color << 4 * count++;
    return sequence;
  }
  while (seen != present) {
    u32 first = 0xffffffffu;
    for (u32 k = lane(); k < s.n && first == 0xffffffffu; k += LANES)
      if (!(seen >> color_at(s, k) & 1)) first = k;
    u32 color = (u32)color_at(s, least(first));
    sequence |= (u64)color << 4 * count++;
    seen |= 1u << color;
  }
  return sequence;
}

/// The first of the `wanted` colours in the iteration order of the set of those present.
OUTLINE V first_in_set(Ctx &c, const Colors &s, u32 present, u32 wanted) {
  if (popcount(present) > 4) return integer(lowest(wanted));
  bool moot = sequence_is_moot(present);
  if (!moot && !s.ordered) return stop(c, ORDER);
  u64 sequence = sequence_of(s, present, moot);
  u32 table = 0xffffffffu; // eight slots of four bits
  for (u32 k = 0; k < popcount(present); k++) {
    u32 color = (u32)(sequence >> 4 * k) & 15, slot = color & 7;
    while ((table >> 4 * slot & 15) != 15) slot = (slot * 5 + 1) & 7;
    table ^= (15 ^ color) << 4 * slot;
  }
  for (u32 slot = 0; slot < 8; slot++) {
    u32 color = table >> 4 * slot & 15;
    if (color != 15 && (wanted >> color & 1)) return integer(color);
  }
  return failed(VALUE_);
}

/// The colour that is met most or least often.
OUTLINE V winner_among(Ctx &c, const Colors &s, const u32 *counts, bool most) {
  u32 present = 0, tied = 0, best = 0;
  for (u32 color = 0; color < 10; color++) {
    u32 n = counts[color];
    if (n == 0) continue;
    present |= 1u << color;
    if (!tied || (most ? n > best : n < best)) {
      best = n;
      tied = 0;
    }
    if (n == best) tied |= 1u << color;
  }
  sync(); // the counts may go
  return popcount(tied) == 1 ? integer(lowest(tied)) : first_in_set(c, s, present, tied);
}

// ---- Anything else -------------------------------------------------------------------------------------------

/// All values of the members of a container, as a list.
OUTLINE V row_values(Ctx &c, V grid) {
  if (!is_container(grid)) return failed(TYPE_);
  u32 n = length(c, grid);
  if (n == 0) return empty_set();
  if (c.exact) NEED_ORDER(c, grid);
  V *rows = elements(c, grid);
  CHECK(c);
  for (u32 k = 0; k < n; k++) {
    if (!is_container(rows[k])) return failed(TYPE_);
    if (c.exact) NEED_ORDER(c, rows[k]);
  }
  return concat_lists(c, rows, n);
}

/// The colour of one cell of any form: `colour, location = cell`, or `i, j, colour = cell`.
INLINE V color_of_cell(Ctx &c, V cell) {
  if (!is_container(cell)) return failed(TYPE_);
  if (length(c, cell) != (triples(c) ? 3 : 2)) return wrong_number(c, cell);
  NEED_ORDER(c, cell);
  return item(c, cell, triples(c) ? 2 : 0);
}

/// The colours of the cells in a container, as a list.
OUTLINE V cell_colors(Ctx &c, V cells) {
  if (!is_container(cells)) return failed(TYPE_);
  u32 n = length(c, cells);
  if (n == 0) return empty_set();
  if (cells.kind == SET_P && triples(c)) return failed(VALUE_);
  if (c.exact) NEED_ORDER(c, cells);
  ROOM(V, colors, c, n);
  if (is_patch(cells)) {
    for (u32 k = lane(); k < n; k += LANES)
      colors[k] = integer(cells.kind == SET_C ? dots_of(c, cells)[k].color : row_of(pairs_of(c, cells)[k]));
    sync();
    return list_of(c, colors, n);
  }
  spend(c, n);
  V fault = none();
  for (u32 k = 0; k < n; k++) {
    V color = color_of_cell(c, item(c, cells, k));
    if (color.kind == STOPPED) return color;
    if (color.kind == FAILED) {
      if (in_order(cells)) return color;
      if (fault.kind == FAILED && fault.flags != color.flags) return stop(c, FAULTS);
      fault = color;
      continue;
    }
    put(colors + k, color);
  }
  sync();
  TRY(fault);
  return list_of(c, colors, n);
}

INLINE V color_values(Ctx &c, V element, u8 reading) {
  bool rows = reading == GRID_OR_OBJECT ? is_tuple(element) : reading == ROW_VALUES;
  return rows ? row_values(c, element) : cell_colors(c, element);
}

/// How often a value occurs in a list.
OUTLINE u32 occurrences_in(Ctx &c, V list, V value, bool plain) {
  u32 n = 0;
  if (plain) {
    for (u32 k = lane(); k < list.len; k += LANES) n += same_bits(values_of(c, list)[k], value);
    return sum(n);
  }
  for (u32 k = 0; k < list.len && !c.stop; k++) n += equal_member(c, item(c, list, k), value, 1);
  return n;
}

/// The value that occurs most or least often in a list; of several, the first in the order of the set of values.
OUTLINE V most_frequent_in(Ctx &c, V list, bool most) {
  V set = build(c, list, BUILD);
  TRY(set);
  bool other = list.kind != SET_V;
  if (!other)
    for (u32 k = lane(); k < list.len; k += LANES) other |= values_of(c, list)[k].kind != INT;
  bool plain = !any(other);
  spend(c, (u64)set.len * list.len);
  V winner = none();
  u32 best = 0;
  bool tied = false;
  for (u32 k = 0; k < set.len; k++) {
    V value = item(c, set, k);
    u32 n = occurrences_in(c, list, value, plain);
    CHECK(c);
    tied |= k > 0 && n == best;
    if (k > 0 && (most ? n <= best : n >= best)) continue;
    winner = value;
    best = n;
    tied = false;
  }
  if (tied) NEED_ORDER(c, set);
  return winner;
}

// ---- The primitives ------------------------------------------------------------------------------------------

/// The most or least frequent colour; `missing` if there is none.
OUTLINE V frequent_color(Ctx &c, V element, bool most, u8 reading, V missing) {
  Colors s;
  u32 *counts = (u32 *)c.scratch;
  if (colors_in(c, element, reading, &s) && count_colors(c, s, counts)) return winner_among(c, s, counts, most);
  CHECK(c);
  V values = color_values(c, element, reading);
  TRY(values);
  return values.len == 0 ? missing : most_frequent_in(c, values, most);
}
OP(mostcolor)(Ctx &c, V element) { return frequent_color(c, element, true, GRID_OR_OBJECT, failed(VALUE_)); }
OP(leastcolor)(Ctx &c, V element) { return frequent_color(c, element, false, GRID_OR_OBJECT, failed(VALUE_)); }

/// How many of the colours in place are this number.
OUTLINE V count_in_place(Ctx &c, const Colors &s, V value) {
  i64 wanted;
  if (!integral(value, &wanted)) return integer(0);
  spend(c, s.n / 4);
  u32 n = 0;
  for (u32 k = lane(); k < s.n; k += LANES) n += color_at(s, k) == wanted;
  return integer(sum(n));
}

/// How often the tuples in a container hold a value.
OUTLINE V count_in_rows(Ctx &c, V grid, V value) {
  if (!is_container(grid)) return failed(TYPE_);
  u32 n = length(c, grid);
  i64 count = 0;
  spend(c, n);
  for (u32 k = 0; k < n; k++) {
    V row = item(c, grid, k);
    if (!is_tuple(row)) return failed(ATTRIBUTE_);
    u32 m = length(c, row);
    spend(c, m / 4);
    for (u32 j = 0; j < m; j++) count += equal_member(c, item(c, row, j), value, 1);
    CHECK(c);
  }
  return integer(count);
}

/// How many cells in a container have a colour.
OUTLINE V count_among_cells(Ctx &c, V cells, V value) {
  V colors = cell_colors(c, cells);
  TRY(colors);
  i64 count = 0;
  spend(c, colors.len);
  for (u32 k = 0; k < colors.len; k++) count += equal(c, item(c, colors, k), value);
  CHECK(c);
  return integer(count);
}
OUTLINE V count_of_color(Ctx &c, V element, V value, u8 reading) {
  Colors s;
  if (is_container(element)) spend(c, element.kind == GRID ? height_of(element) * width_of(element) / 128 : element.len / 32);
  if (colors_in(c, element, reading, &s)) return count_in_place(c, s, value);
  CHECK(c);
  bool rows = reading == GRID_OR_OBJECT ? is_tuple(element) : reading == ROW_VALUES;
  return rows ? count_in_rows(c, element, value) : count_among_cells(c, element, value);
}
OP(colorcount)(Ctx &c, V element, V value) { return count_of_color(c, element, value, GRID_OR_OBJECT); }

/// The set of these colours of ARC.
OUTLINE V palette_of(Ctx &c, const Colors &s, const u32 *counts, u8 how) {
  u32 present = 0;
  for (u32 color = 0; color < 10; color++) present |= (u32)(counts[color] > 0) << color;
  bool known = sequence_is_moot(present), moot = !c.exact || known;
  if (!moot && !s.ordered) return stop(c, ORDER);
  u64 sequence = sequence_of(s, present, moot);
  u32 n = popcount(present);
  ROOM(V, colors, c, n);
  for (u32 k = 0; k < n; k++) put(colors + k, integer((i64)(sequence >> 4 * k & 15)));
  sync();
  return build_distinct(c, list_at(c, SET_V, colors, n), known ? how | SEQUENCED : how);
}
OUTLINE V palette_by(Ctx &c, V element, u8 reading, u8 how) {
  Colors s;
  u32 *counts = (u32 *)c.scratch;
  if (colors_in(c, element, reading, &s) && count_colors(c, s, counts)) return palette_of(c, s, counts, how);
  CHECK(c);
  V values = color_values(c, element, reading);
  TRY(values);
  return build(c, values, how);
}
OP(palette)(Ctx &c, V element) { return palette_by(c, element, GRID_OR_OBJECT, FROZEN); }

/// How many different colours there are.
OUTLINE V number_of_colors(Ctx &c, V element, u8 reading) {
  Colors s;
  u32 *counts = (u32 *)c.scratch;
  if (colors_in(c, element, reading, &s) && count_colors(c, s, counts)) {
    u32 n = 0;
    for (u32 color = 0; color < 10; color++) n += counts[color] > 0;
    sync(); // the counts may go
    return integer(n);
  }
  CHECK(c);
  V values = color_values(c, element, reading);
  TRY(values);
  V once = distinct(c, values);
  TRY(once);
  return integer(once.len);
}
OP(numcolors)(Ctx &c, V element) { return number_of_colors(c, element, GRID_OR_OBJECT); }

/// The colour that an element of a container gives it, if it comes first.
INLINE V color_if_first(Ctx &c, V element) { return at(c, element, triples(c) ? 2 : 0); }

/// The first component of the first element; where cells are triples, the third.
OUTLINE V first_color(Ctx &c, V container) {
  if (!is_container(container)) return failed(TYPE_);
  u32 n = length(c, container);
  if (n == 0) return failed(STOP_ITERATION);
  spend(c, n / 8);
  V color = color_if_first(c, item(c, container, 0));
  if (in_order(container)) return color;
  if (container.kind == SET_C) {
    bool differ = false;
    for (u32 k = lane(); k < n; k += LANES) differ |= dots_of(c, container)[k].color != (i32)color.lo;
    return any(differ) ? stop(c, ORDER) : color;
  }
  // Without order: all may say the same.
  for (u32 k = 1; k < n; k++) {
    V next = color_if_first(c, item(c, container, k));
    bool same = next.kind == color.kind && (color.kind == INT || color.kind == FAILED) && same_bits(next, color);
    if (!same) return stop(c, ORDER);
  }
  return color;
}
OP(color)(Ctx &c, V obj) { return first_color(c, obj); }

/// Does the first cell of an object have this colour? A bool, or a fault as it leaves a generator.
OUTLINE V is_of_color(Ctx &c, V obj, V value) {
  if (obj.kind == SET_C && !in_order(obj)) {
    i64 wanted;
    bool number = integral(value, &wanted), differ = false;
    const Dot *dots = dots_of(c, obj);
    u32 n = 0;
    for (u32 k = lane(); k < obj.len; k += LANES) {
      n += number && dots[k].color == wanted;
      differ |= dots[k].color != dots[0].color;
    }
    n = sum(n);
    // The CPU puts cells of several colours in order, to see which comes first.
    spend(c, any(differ) ? (u64)obj.len * 5 / 8 : obj.len / 32);
    return n == 0 || n == obj.len ? boolean(n > 0) : stop(c, ORDER);
  }
  V color = through_generator(first_color(c, obj));
  TRY(color);
  return boolean(equal(c, color, value));
}
OP(colorfilter)(Ctx &c, V objs, V value) {
  if (!is_container(objs)) return failed(TYPE_);
  u32 n = length(c, objs);
  if (n == 0) return empty_set();
  if (objs.kind != TUPLE && objs.kind != SET_V) return failed(TYPE_); // nothing in them is a container of containers
  ROOM(u8, keep, c, n);
  spend(c, n / 4);
  V fault = none();
  for (u32 k = 0; k < n; k++) {
    V kept = is_of_color(c, values_of(c, objs)[k], value);
    CHECK(c);
    if (kept.kind == FAILED) {
      if (!is_set(objs)) return kept;
      // The CPU goes through a set in a sequence of its own.
      if (fault.kind == FAILED && fault.flags != kept.flags) return stop(c, FAULTS);
      fault = kept;
      continue;
    }
    put(keep + k, (u8)truth(c, kept));
  }
  sync();
  TRY(fault);
  if (is_set(objs)) return set_keep(c, objs, keep);
  ROOM(V, kept, c, n);
  u32 count = 0;
  for (u32 k = 0; k < n; k++)
    if (keep[k]) put(kept + count++, values_of(c, objs)[k]);
  sync();
  return build_values(c, kept, count);
}

// ---- tokpidjin: grids (_t) and objects (_f) ------------------------------------------------------------------

INLINE V missing_color() { return floating_bits(NAN_BITS); }
TOK(mostcolor_t)(Ctx &c, V grid) { return frequent_color(c, grid, true, ROW_VALUES, missing_color()); }
TOK(mostcolor_f)(Ctx &c, V obj) { return frequent_color(c, obj, true, CELL_COLORS, missing_color()); }
TOK(leastcolor_t)(Ctx &c, V grid) { return frequent_color(c, grid, false, ROW_VALUES, missing_color()); }
TOK(leastcolor_f)(Ctx &c, V obj) { return frequent_color(c, obj, false, CELL_COLORS, missing_color()); }
TOK(colorcount_t)(Ctx &c, V grid, V color) { return count_of_color(c, grid, color, ROW_VALUES); }
TOK(colorcount_f)(Ctx &c, V obj, V color) { return count_of_color(c, obj, color, CELL_COLORS); }
TOK(palette_t)(Ctx &c, V element) { return palette_by(c, element, ROW_VALUES, BUILD); }
TOK(palette_f)(Ctx &c, V element) { return palette_by(c, element, CELL_COLORS, BUILD); }

// The number of colours is that of a set which falls back to the empty one.
TOK(numcolors_t)(Ctx &c, V grid) { return safely(c, number_of_colors(c, grid, ROW_VALUES), TO_ZERO); }
TOK(numcolors_f)(Ctx &c, V obj) { return safely(c, number_of_colors(c, obj, CELL_COLORS), TO_ZERO); }
