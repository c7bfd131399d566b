// Grids in tokpidjin, their colours and their objects.
//
// No op fails there: the fault of an arc-dsl body becomes the default of the function.

/// The value, or the default of functions that give a tuple, a set or a number.
INLINE V or_nothing(const V &v) { return safely(v, empty_tuple()); }
INLINE V or_no_patch(const V &v) { return safely(v, empty_patch()); }
INLINE V or_zero(const V &v) { return safely(v, integer(0)); }

/// Is a value no tuple whose elements are tuples, and no set with elements either? Reading rows of it fails,
/// or finds none.
INLINE bool has_no_rows(const V &v) {
  if (is_atom(v) || v.kind == PAIR || v.kind == CELL || is_empty_container(v)) return true;
  return v.kind == TUPLE && is_atom(*(const V *)v.bits);
}

/// The same if all rows are read: does reading them fail because an element has none, or find none?
INLINE bool has_no_rows_anywhere(const V &v) {
  if (has_no_rows(v)) return true;
  return (v.kind == TUPLE || v.kind == SET) && !all_of(v, [](const V &item) { return !is_atom(item); });
}

/// The rows of a grid of three columns as a tuple of cells; other values as they are.
INLINE V rows_as_cells(const Ctx &c, const V &v) {
  if (v.kind != GRID || v.b != 3) return v;
  V *to = (V *)take(c, v.a * sizeof(V));
  if (!to) return stopped(MEMORY);
  Grid g = grid_of(v);
  (void)rows([&](u32 l) {
    if (l >= g.height) return 0u;
    u32 cell[3] = {0, 0, 0};
    for (u32 j = 0; j < 3; j++)
      for (u32 k = 0; k < 4; k++) cell[j] |= (g.plane[k][l] >> j & 1) << k;
    to[l] = make(CELL, (u8)cell[2], 0, 0, place((i32)cell[0], (i32)cell[1]), 0);
    return 0u;
  });
  sync();
  return make(TUPLE, 0, 0, 0, v.a, (u64)to);
}

// ---- Mirrors and rotations ------------------------------------------------------------------------------

/// A set has elements, but neither a last one nor slices.
INLINE V tok_mirrored(const Ctx &c, const V &grid, Turn turn, bool needs_tuple) {
  if (is_any_set(grid)) return needs_tuple || is_empty_container(grid) ? empty_tuple() : stopped(ODD);
  return or_nothing(mirrored(c, grid, turn, INDEX_));
}
INLINE V tok_rotated(const Ctx &c, const V &grid, Turn turn) { return or_nothing(rotated(c, grid, turn)); }
INLINE V tok_turned(const Ctx &c, const V &grid, u32 code) {
  if (code >= 1 && code <= 6 && has_no_rows_anywhere(grid)) return empty_tuple();
  switch (code) {
    case 0: return tok_mirrored(c, grid, {true, false, false}, true);
    case 1: return tok_mirrored(c, grid, {false, false, true}, false);
    case 2: return tok_mirrored(c, grid, {false, true, false}, false);
    case 3: return tok_mirrored(c, grid, {true, true, true}, true);
    case 4: return tok_rotated(c, grid, {true, false, true});
    case 5: return tok_rotated(c, grid, {true, true, false});
    case 6: return tok_rotated(c, grid, {false, true, true});
    default: return grid;
  }
}
ROW_OP(tok_hmirror_t)(const Ctx &c, Any grid) { return tok_turned(c, grid, 0); }
ROW_OP(tok_dmirror_t)(const Ctx &c, Any grid) { return tok_turned(c, grid, 1); }
ROW_OP(tok_vmirror_t)(const Ctx &c, Any grid) { return tok_turned(c, grid, 2); }
ROW_OP(tok_cmirror_t)(const Ctx &c, Any grid) { return tok_turned(c, grid, 3); }
ROW_OP(tok_rot90)(const Ctx &c, Any grid) { return tok_turned(c, grid, 4); }
ROW_OP(tok_rot180)(const Ctx &c, Any grid) { return tok_turned(c, grid, 5); }
ROW_OP(tok_rot270)(const Ctx &c, Any grid) { return tok_turned(c, grid, 6); }

/// How a code of `mir_rot_t` turns a grid.
INLINE Turn turn_of(u32 code) {
  Turn turn = {code == 0 || (code >= 3 && code <= 5), code == 2 || code == 3 || code >= 5,
               code == 1 || code == 3 || code == 4 || code == 6};
  return turn;
}
ROW_OP(tok_mir_rot_t)(const Ctx &c, Any grid, V type) {
  if (!is_int(type) || type.bits > 6) return grid;
  if (has_lines(grid) || grid.kind == WIDE) return turned_grid(c, grid, turn_of((u32)type.bits));
  return tok_turned(c, grid, (u32)type.bits);
}

/// Whether turning one grid gives the other.
INLINE bool turns_into(const Grid &from, const Grid &to, u32 code) {
  Turn turn = turn_of(code);
  u32 height = turn.transposed ? from.width : from.height, width = turn.transposed ? from.height : from.width;
  if (height != to.height || width != to.width) return false;
  for (u32 k = 0; k < 4; k++) {
    Rows x = code < 7 ? turned(from.plane[k], from.height, from.width, turn) : from.plane[k];
    if (!same(x, to.plane[k])) return false;
  }
  return true;
}
/// The code of the first mirroring or rotation that turns every input into its output.
ROW_OP(tok_a_mr)(const Ctx &, V samples) {
  if (is_atom(samples) || samples.kind == PAIR || samples.kind == CELL) return empty_tuple();
  if (is_empty_container(samples)) return integer(0);
  if (samples.kind != TUPLE) return stopped(ODD);
  const V *pairs = (const V *)samples.bits;
  u32 codes = 0xff;
  for (u32 k = 0; k < samples.len; k++) {
    if (pairs[k].kind != TUPLE || pairs[k].len != 2) return stopped(ODD);
    const V *sides = (const V *)pairs[k].bits;
    if (sides[0].kind != GRID || sides[1].kind != GRID) return stopped(ODD);
    Grid from = grid_of(sides[0]), to = grid_of(sides[1]);
    for (u32 code = 0; code < 8; code++)
      if (codes >> code & 1 && !turns_into(from, to, code)) codes &= ~(1u << code);
  }
  return codes ? integer(lowest(codes)) : none();
}

// ---- Scaling --------------------------------------------------------------------------------------------

ROW_OP(tok_upscale_t)(const Ctx &c, Any grid, V factor) {
  if (has_no_rows_anywhere(grid)) return empty_tuple();
  return is_any_set(grid) ? stopped(ODD) : or_nothing(op_upscale(c, grid, factor));
}
ROW_OP(tok_hupscale)(const Ctx &c, Any grid, V factor) {
  return has_no_rows_anywhere(grid) ? empty_tuple() : or_nothing(op_hupscale(c, grid, factor));
}
ROW_OP(tok_vupscale)(const Ctx &c, Any grid, V factor) { return or_nothing(op_vupscale(c, grid, factor)); }
ROW_OP(tok_downscale)(const Ctx &c, Any grid, V factor) { return or_nothing(op_downscale(c, grid, factor)); }

// ---- Cutting --------------------------------------------------------------------------------------------

/// The first two numbers of a tuple. Returns None, the empty tuple if there are none, or STOPPED.
INLINE V first_numbers(const V &v, i32 *i, i32 *j) {
  if (v.kind == PAIR || v.kind == CELL) {
    *i = row_of(v.len);
    *j = column_of(v.len);
    return none();
  }
  if (v.kind != TUPLE || v.len < 2) return v.kind == RAGGED ? stopped(ODD) : empty_tuple();
  return two_numbers(v, false, i, j) ? none() : stopped(ODD);
}
/// The part of a grid with its upper left corner at (top, left), or nothing if it reaches outside.
INLINE V tok_cropped(const Ctx &c, const V &grid, i32 top, i32 left, i32 height, i32 width) {
  if (!is_any_grid(grid)) {
    bool fails = is_atom(grid) || is_any_set(grid) || grid.kind == PAIR || grid.kind == CELL;
    return fails || has_no_rows(grid) || has_empty_rows(grid) ? empty_tuple() : stopped(ODD);
  }
  i32 bottom = top + height, right = left + width, last = grid.a, end = grid.b;
  if (top < 0 || top >= last || left < 0 || left >= end || bottom > last || right > end) return empty_tuple();
  return part_of(c, grid, slice(grid.a, top, bottom), slice(grid.b, left, right));
}
ROW_OP(tok_crop)(const Ctx &c, Any grid, V start, V dims) {
  i32 top, left, height, width;
  V failed = first_numbers(start, &top, &left);
  if (failed.kind == NONE) failed = first_numbers(dims, &height, &width);
  return failed.kind == NONE ? tok_cropped(c, grid, top, left, height, width) : failed;
}
ROW_OP(tok_subgrid)(const Ctx &c, V patch, Any grid) {
  if (is_atom(patch) || patch.kind == PAIR || patch.kind == CELL || is_empty_container(patch))
    return empty_tuple();
  if (patch.kind == GRID && patch.b == 1) return empty_tuple();
  if (patch.kind == GRID && patch.b > 3) {
    // The rows are no locations, so height and width come to 1.
    Grid g = grid_of(patch);
    return tok_cropped(c, grid, (i32)lowest_color(g, 0), (i32)lowest_color(g, 1), 1, 1);
  }
  Extent e;
  patch = rows_as_cells(c, patch);
  if (!is_value(patch)) return patch;
  if (!extent_of(patch, &e)) return stopped(ODD);
  return tok_cropped(c, grid, e.top, e.left, height_in(e), width_in(e));
}
ROW_OP(tok_trim)(const Ctx &c, Any grid) { return or_nothing(op_trim(c, grid)); }
ROW_OP(tok_tophalf)(const Ctx &c, Any grid) { return or_nothing(op_tophalf(c, grid)); }
ROW_OP(tok_bottomhalf)(const Ctx &c, Any grid) { return or_nothing(op_bottomhalf(c, grid)); }
ROW_OP(tok_lefthalf)(const Ctx &c, Any grid) { return or_nothing(op_lefthalf(c, grid)); }
ROW_OP(tok_righthalf)(const Ctx &c, Any grid) { return or_nothing(op_righthalf(c, grid)); }
ROW_OP(tok_hsplit)(const Ctx &c, Any grid, V n) { return or_nothing(op_hsplit(c, grid, n)); }
ROW_OP(tok_vsplit)(const Ctx &c, Any grid, V n) {
  return or_nothing(is_any_grid(grid) ? op_vsplit(c, grid, n) : no_dims(grid));
}
ROW_OP(tok_compress)(const Ctx &c, Any grid) {
  return has_no_rows_anywhere(grid) ? empty_tuple() : or_nothing(op_compress(c, grid));
}

/// The cell at a location. Outside of the grid it is a float.
THREAD_OP(tok_index)(const Ctx &c, Any grid, V at) {
  if (is_atom(at) || at.kind == CELL || is_patch(at) || at.kind == GRID) return integer(0);
  if (at.kind != PAIR) return stopped(ODD);
  V cell = op_index(c, grid, at);
  return cell.kind == NONE ? stopped(ODD) : or_zero(cell);
}

// ---- Joining --------------------------------------------------------------------------------------------

ROW_OP(tok_hconcat)(const Ctx &c, Any a, Any b) { return or_nothing(op_hconcat(c, a, b)); }
ROW_OP(tok_vconcat)(const Ctx &c, Any a, Any b) { return or_nothing(op_vconcat(c, a, b)); }

// ---- Colours of cells -----------------------------------------------------------------------------------

ROW_OP(tok_cellwise)(const Ctx &c, Any a, Any b, V fallback) {
  if (a.kind == WIDE || b.kind == WIDE)
    return is_any_grid(a) && is_any_grid(b) ? cellwise_wide(c, a, b, fallback) : stopped(SIZE);
  if (a.kind != GRID) return or_nothing(no_dims(a));
  Grid g = grid_of(a);
  Rows agrees;
  if (b.kind == GRID) {
    Grid other = grid_of(b);
    agrees = area_of(other);
    for (u32 k = 0; k < 4; k++) agrees = without(agrees, g.plane[k] ^ other.plane[k]);
  } else if (has_empty_rows(b)) {
    // All cells are outside.
    agrees = no_rows();
  } else if (has_no_rows(b) || is_any_set(b)) {
    // Where there is no cell to be found, `index` gives 0.
    agrees = of_color(g, 0);
  } else {
    return stopped(ODD);
  }
  return with_value(c, a, g, without(area_of(g), agrees), fallback);
}
ROW_OP(tok_replace)(const Ctx &c, Any grid, V replacee, V replacer) {
  return has_no_rows_anywhere(grid) ? empty_tuple() : or_nothing(op_replace(c, grid, replacee, replacer));
}
ROW_OP(tok_switch)(const Ctx &c, Any grid, V a, V b) {
  return has_no_rows_anywhere(grid) ? empty_tuple() : or_nothing(op_switch(c, grid, a, b));
}
ROW_OP(tok_canvas)(const Ctx &c, V value, V dims) {
  i32 height, width;
  V failed = first_numbers(dims, &height, &width);
  return failed.kind == NONE ? or_nothing(op_canvas(c, value, pair(height, width))) : failed;
}

// ---- Drawing --------------------------------------------------------------------------------------------

/// Finds the locations that `toindices` gives and that lie in a grid. Returns None, a fault if they cannot be
/// unpacked, or STOPPED.
INLINE V tok_locations_in(const Ctx &c, const V &patch, const Grid &g, Rows *where) {
  *where = no_rows();
  if (has_no_rows(patch)) return none();
  if (patch.kind == GRID) {
    if (patch.b != 2 && patch.b != 3) return fault(VALUE_);
    Grid p = grid_of(patch);
    // The rows of three are taken for cells, those of two for locations.
    for (u32 l = 0; l < p.height; l++) {
      u32 i = 0, j = 0;
      for (u32 k = 0; k < 4; k++) {
        u32 row = row_at(p.plane[k], l);
        i |= (row & 1) << k;
        j |= (row >> 1 & 1) << k;
      }
      *where = *where | rows([&](u32 at) { return at == i ? 1u << j : 0u; });
    }
    *where = *where & area_of(g);
    return none();
  }
  if (patch.kind == SET && all_of(patch, [](const V &item) { return is_atom(item); })) return none();
  bool known = is_patch(patch) || ((patch.kind == TUPLE || patch.kind == SET) &&
                                   (all_of_kind(patch, PAIR) || all_of_kind(patch, CELL)));
  return known ? locations_in(c, patch, g, where) : stopped(ODD);
}

/// The same as in arc-dsl, for a WIDE grid and a patch.
INLINE V tok_filled_wide(const Ctx &c, const V &grid, const V &value, const V &patch, Filling how) {
  return is_patch(patch) ? or_nothing(filled_wide(c, grid, value, patch, how)) : stopped(SIZE);
}
ROW_OP(tok_fill)(const Ctx &c, Any grid, V value, V patch) {
  if (grid.kind == WIDE) return tok_filled_wide(c, grid, value, patch, FILL);
  if (grid.kind != GRID) return or_nothing(no_dims(grid));
  Grid g = grid_of(grid);
  Rows where;
  V failed = tok_locations_in(c, patch, g, &where);
  return or_nothing(failed.kind == NONE ? with_value(c, grid, g, where, value) : failed);
}
ROW_OP(tok_underfill)(const Ctx &c, Any grid, V value, V patch) {
  if (grid.kind == WIDE) return tok_filled_wide(c, grid, value, patch, UNDERFILL);
  if (grid.kind != GRID) return or_nothing(no_dims(grid));
  Grid g = grid_of(grid);
  Rows where;
  V failed = tok_locations_in(c, patch, g, &where);
  if (failed.kind != NONE) return or_nothing(failed);
  if (is_empty(where)) return grid;
  return with_value(c, grid, g, where & of_color(g, most_common(g)), value);
}
INLINE V tok_covered(const Ctx &c, const V &grid, const V &patch) {
  if (grid.kind != GRID) return or_nothing(no_dims(grid));
  Grid g = grid_of(grid);
  Rows where;
  V failed = tok_locations_in(c, patch, g, &where);
  if (failed.kind != NONE) return or_nothing(failed);
  if (is_empty(where)) return grid;
  paint_rows(g, where, most_common(g));
  return value_of(c, g);
}
ROW_OP(tok_cover)(const Ctx &c, Any grid, V patch) {
  if (grid.kind == WIDE) return tok_filled_wide(c, grid, none(), patch, COVER);
  return tok_covered(c, grid, patch);
}

/// Does going through the cells of a value fail? It is not empty.
INLINE bool has_no_cells(const V &v) {
  if (is_atom(v) || v.kind == PAIR || v.kind == CELL || v.kind == INDICES) return true;
  if (v.kind == GRID) return v.b != 3;
  if (v.kind != TUPLE && v.kind != SET) return false;
  return !all_of(v, [](const V &item) { return item.kind != PAIR && !is_atom(item); });
}
INLINE V tok_painted(const Ctx &c, const V &grid, V obj, bool under) {
  if (grid.kind == WIDE) return obj.kind == OBJECT ? painted_on_wide(c, grid, obj, under) : stopped(SIZE);
  if (grid.kind != GRID) return or_nothing(no_dims(grid));
  if (is_empty_container(obj)) return grid;
  if (has_no_cells(obj)) return empty_tuple();
  obj = rows_as_cells(c, obj);
  if (!is_value(obj)) return obj;
  return has_cells(obj) ? painted(c, grid, obj, under ? most_common(grid_of(grid)) : ANYTHING) : stopped(ODD);
}
ROW_OP(tok_paint)(const Ctx &c, Any grid, V obj) { return tok_painted(c, grid, obj, false); }
ROW_OP(tok_underpaint)(const Ctx &c, Any grid, V obj) { return tok_painted(c, grid, obj, true); }

/// Does unpacking two numbers from a value always fail?
INLINE bool is_no_vector(const V &v) {
  return is_atom(v) || v.kind == CELL || v.kind == GRID || is_patch(v) || (v.kind == TUPLE && v.len != 2);
}
ROW_OP(tok_move)(const Ctx &c, Any grid, V obj, V offset) {
  if (grid.kind == WIDE) return moved_on_wide(c, grid, obj, offset);
  if (grid.kind != GRID) return or_nothing(no_dims(grid));
  if (is_empty_container(obj)) return grid;
  bool stays = offset.kind == TUPLE && offset.len == 0, moves = offset.kind == PAIR;
  if (is_patch(obj) && !stays && is_no_vector(offset)) {
    // Nothing is drawn if `shift` fails.
    return tok_covered(c, grid, obj);
  }
  if (!stays && !moves) return stopped(ODD);
  if (obj.kind == INDICES) return empty_tuple();
  if (!has_cells(obj)) return stopped(ODD);
  i32 down = moves ? row_of(offset.len) : 0, right = moves ? column_of(offset.len) : 0;
  return op_move(c, grid, obj, pair(down, right));
}

// ---- Objects --------------------------------------------------------------------------------------------

INLINE V tok_objects_of(const Ctx &c, const V &grid, bool univalued, bool diagonal, bool without_bg) {
  if (is_any_grid(grid)) return find_objects(c, grid, univalued, diagonal, without_bg);
  // What has no locations has no objects.
  return has_no_rows(grid) || is_any_set(grid) || has_empty_rows(grid) ? empty_patch() : stopped(ODD);
}
ROW_OP(tok_objects)(const Ctx &c, Any grid, V univalued, V diagonal, V without_bg) {
  return tok_objects_of(c, grid, !is_false(univalued), !is_false(diagonal), !is_false(without_bg));
}
ROW_OP(tok_o_g)(const Ctx &c, Any grid, V type) {
  if (!is_int(type) || type.bits > 7) return none();
  return tok_objects_of(c, grid, type.bits >> 2 & 1, type.bits >> 1 & 1, type.bits & 1);
}
/// Has a value no colours, because going through the cells of its rows fails or finds none?
INLINE bool has_no_colors(const V &v) { return has_no_rows_anywhere(v) || has_empty_rows(v); }
ROW_OP(tok_partition)(const Ctx &c, Any grid) {
  return has_no_colors(grid) ? empty_patch() : or_no_patch(op_partition(c, grid));
}
ROW_OP(tok_fgpartition)(const Ctx &c, Any grid) {
  return has_no_colors(grid) ? empty_patch() : or_no_patch(op_fgpartition(c, grid));
}
ROW_OP(tok_frontiers)(const Ctx &c, V grid) {
  return has_no_rows(grid) || is_any_set(grid) ? empty_patch() : or_no_patch(op_frontiers(c, grid));
}
ROW_OP(tok_f_ofcolor)(const Ctx &c, Any grid, V value) {
  return has_no_colors(grid) ? empty_patch() : or_no_patch(op_ofcolor(c, grid, value));
}
ROW_OP(tok_occurrences)(const Ctx &c, V grid, V obj) {
  if (grid.kind != GRID) return or_no_patch(no_dims(grid));
  if (obj.kind == INDICES && size_of_patch(obj)) return empty_patch();
  return or_no_patch(op_occurrences(c, grid, obj));
}
INLINE V tok_period_of(const V &obj, bool upwards) {
  return is_atom(obj) || obj.kind == PAIR || obj.kind == CELL ? integer(0) : or_zero(period_of(obj, upwards));
}
ROW_OP(tok_hperiod)(const Ctx &, V obj) { return tok_period_of(obj, false); }
ROW_OP(tok_vperiod)(const Ctx &, V obj) { return tok_period_of(obj, true); }

/// The objects of a colour. Python reads the third number of the first element.
ROW_OP(tok_colorfilter)(const Ctx &c, V objs, V value) {
  if (is_atom(objs) || is_patch(objs) || objs.kind == PAIR || objs.kind == CELL) return empty_patch();
  if (objs.kind != SET && objs.kind != TUPLE) return stopped(ODD);
  bool no_objects = !all_of_kind(objs, OBJECT);
  if (no_objects) {
    bool fails = !all_of(objs, [](const V &item) { return !is_atom(item) && item.kind != INDICES; });
    return fails ? empty_patch() : stopped(ODD);
  }
  return or_no_patch(op_colorfilter(c, objs, value));
}
ROW_OP(tok_sizefilter)(const Ctx &c, V container, V n) { return or_no_patch(op_sizefilter(c, container, n)); }

// ---- Patches of grids -----------------------------------------------------------------------------------

/// Is a value a tuple of ints, bools too?
INLINE bool is_tuple_of_ints(const V &v) {
  if (v.kind == PAIR || v.kind == CELL) return true;
  if (v.kind != TUPLE) return false;
  const V *items = (const V *)v.bits;
  for (u32 k = 0; k < v.len; k++)
    if (!is_int(items[k])) return false;
  return true;
}
/// Is a value a tuple of tuples of ints?
INLINE bool is_tuple_of_rows(const V &v) {
  return has_lines(v) || v.kind == WIDE || (v.kind == TUPLE && all_of(v, [](const V &item) { return is_tuple_of_ints(item); }));
}
ROW_OP(tok_is_no_grid)(const Ctx &, Any value) { return boolean(!is_tuple_of_rows(value)); }
ROW_OP(tok_asindices)(const Ctx &c, Any grid) {
  // A first row of three counts as two in arc-dsl's body.
  if (grid.kind == TUPLE && grid.len && ((const V *)grid.bits)->kind == CELL) return stopped(ODD);
  return or_no_patch(op_asindices(c, grid));
}
ROW_OP(tok_asobject)(const Ctx &c, Any grid) {
  return is_tuple_of_rows(grid) ? or_no_patch(op_asobject(c, grid)) : empty_patch();
}
ROW_OP(tok_toobject)(const Ctx &c, V patch, Any grid) {
  if (grid.kind == WIDE) return is_patch(patch) && size_of_patch(patch) ? object_in_wide(c, patch, grid) : stopped(SIZE);
  if (grid.kind != GRID) return or_no_patch(no_dims(grid));
  Grid g = grid_of(grid);
  Rows where;
  V failed = tok_locations_in(c, patch, g, &where);
  if (failed.kind != NONE) return or_no_patch(failed);
  return object(c, where, 0, 0, common_color(g, where), g.plane);
}

// ---- Colours of grids -----------------------------------------------------------------------------------

/// What an op on colours gives for a value without: `fallback` if going through its cells fails. Where it
/// finds none, `if_empty`.
INLINE V tok_no_colors(const V &v, const V &fallback, const V &if_empty) {
  if (is_empty_container(v) || has_empty_rows(v)) return if_empty;
  return has_no_rows_anywhere(v) ? fallback : stopped(ODD);
}
ROW_OP(tok_mostcolor_t)(const Ctx &c, Any grid) {
  return has_lines(grid) || grid.kind == WIDE ? op_mostcolor(c, grid) : tok_no_colors(grid, integer(0), stopped(ODD));
}
ROW_OP(tok_leastcolor_t)(const Ctx &c, Any grid) {
  return has_lines(grid) || grid.kind == WIDE ? op_leastcolor(c, grid) : tok_no_colors(grid, integer(0), stopped(ODD));
}
ROW_OP(tok_colorcount_t)(const Ctx &c, Any grid, V value) {
  return has_lines(grid) || grid.kind == WIDE ? op_colorcount(c, grid, value) : tok_no_colors(grid, integer(0), integer(0));
}
ROW_OP(tok_palette_t)(const Ctx &c, Any grid) {
  return has_lines(grid) || grid.kind == WIDE ? op_palette(c, grid) : tok_no_colors(grid, empty_patch(), empty_patch());
}
ROW_OP(tok_numcolors_t)(const Ctx &c, Any grid) {
  return has_lines(grid) || grid.kind == WIDE ? op_numcolors(c, grid) : tok_no_colors(grid, integer(0), integer(0));
}

/// Colours as elements.
INLINE V list_of_colors(const Ctx &c, const Sequence &colors) {
  V *to = (V *)room_for(c, colors.length * sizeof(V));
  if (!to) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    if (l < colors.length) to[l] = integer(color_at(colors, l));
    return 0u;
  });
  sync();
  return make(TUPLE, 0, 0, 0, colors.length, (u64)to);
}
INLINE V tuple_of_colors(const Ctx &c, const Sequence &colors) {
  if (colors.length == 2) return pair((i32)color_at(colors, 0), (i32)color_at(colors, 1));
  return list_of_colors(c, colors);
}
ROW_OP(tok_p_g)(const Ctx &c, V grid) {
  Colored x;
  if (!has_lines(grid) || !read_colored(grid, &x)) return tok_no_colors(grid, empty_patch(), empty_tuple());
  Sequence order;
  order_of_colors(x, colors_of(x), &order);
  return tuple_of_colors(c, order);
}

/// The colour at a place in the order of frequency, the most frequent first, and among equally frequent ones
/// the first one met; or STOPPED if that is not known.
INLINE V color_at_place(const Colored &x, u32 present, u32 wanted) {
  // Row l has the key of colour l. A larger count comes first, then a lower place.
  Rows keys = rows([](u32) { return 0xffffffffu; });
  for (u32 todo = present; todo; todo &= todo - 1) {
    u32 color = lowest(todo), key = (2048 - count(with_color(x, color))) << 10;
    if (x.row_by_row) {
      Rows cells = with_color(x, color);
      u32 row = lowest(rows_of(cells));
      key |= row << 5 | lowest(row_at(cells, row));
    }
    keys = rows([&](u32 l) { return l == color ? key : keys[l]; });
  }
  for (u32 todo = present; todo; todo &= todo - 1) {
    u32 own = row_at(keys, lowest(todo));
    u32 before = sum(rows([&](u32 l) { return (u32)(keys[l] < own); }));
    u32 equal = sum(rows([&](u32 l) { return (u32)(keys[l] == own); }));
    if (before <= wanted && wanted < before + equal)
      return equal == 1 ? integer(lowest(todo)) : stopped(ORDER);
  }
  return stopped(ODD);
}
INLINE V color_at_rank(const Colored &x, const V &rank, const V &missing) {
  if (!is_int(rank)) return integer(0);
  u32 present = colors_of(x);
  i64 n = popcount(present), at = int_of(rank);
  if (at < 0) at += n;
  return at < 0 || at >= n ? missing : color_at_place(x, present, (u32)at);
}
ROW_OP(tok_get_color_rank_t)(const Ctx &, V grid, V rank) {
  Colored x;
  if (has_lines(grid) && read_colored(grid, &x)) return color_at_rank(x, rank, empty_tuple());
  return tok_no_colors(grid, integer(0), is_int(rank) ? empty_tuple() : integer(0));
}

// ---- Colours of objects ---------------------------------------------------------------------------------

/// Reads the colours of an object, or of a tuple of cells, which stand row by row then.
INLINE bool read_cells(const Ctx &c, V v, Colored *x) {
  if (v.kind == OBJECT) return read_colored(v, x);
  v = rows_as_cells(c, v);
  if (v.kind != TUPLE || v.len > SIDE * SIDE || !has_cells(v)) return false;
  const V *cells = (const V *)v.bits;
  x->row_by_row = true;
  x->mask = rows([&](u32 l) { return l * SIDE < v.len ? low(v.len - l * SIDE) : 0u; });
  for (u32 k = 0; k < 4; k++)
    x->plane[k] = rows([&](u32 l) {
      u32 own = 0;
      for (u32 j = 0; j < SIDE && l * SIDE + j < v.len; j++) own |= (cells[l * SIDE + j].a >> k & 1u) << j;
      return own;
    });
  return true;
}
/// What an op on colours gives for a value without cells: `fallback` if going through them fails.
INLINE V tok_no_object(const V &v, const V &fallback, const V &if_empty) {
  if (is_empty_container(v)) return if_empty;
  return has_no_cells(v) ? fallback : stopped(ODD);
}
INLINE V tok_object_color(const Ctx &c, const V &obj, bool most) {
  if (obj.kind == OBJECT) return most ? op_mostcolor(c, obj) : op_leastcolor(c, obj);
  Colored x;
  if (!read_cells(c, obj, &x)) return tok_no_object(obj, integer(0), stopped(ODD));
  Frequency f = frequency_of(x, most);
  Sequence order;
  order_of_colors(x, f.present, &order);
  u32 k = 0;
  while (!(f.chosen >> color_at(order, k) & 1)) k++;
  return integer(color_at(order, k));
}
ROW_OP(tok_mostcolor_f)(const Ctx &c, V obj) { return tok_object_color(c, obj, true); }
ROW_OP(tok_leastcolor_f)(const Ctx &c, V obj) { return tok_object_color(c, obj, false); }
ROW_OP(tok_colorcount_f)(const Ctx &c, V obj, V value) {
  Colored x;
  if (!read_cells(c, obj, &x)) return tok_no_object(obj, integer(0), integer(0));
  return integer(is_int(value) && value.bits < 16 ? count(with_color(x, (u32)value.bits)) : 0);
}
ROW_OP(tok_numcolors_f)(const Ctx &c, V obj) {
  if (obj.kind == OBJECT && obj.c != PLANES) return integer(1);
  Colored x;
  if (!read_cells(c, obj, &x)) return tok_no_object(obj, integer(0), integer(0));
  return integer(popcount(colors_of(x)));
}
INLINE V tok_object_palette(const Ctx &c, const V &obj) {
  Colored x;
  if (obj.kind == OBJECT) return op_palette(c, obj);
  if (!read_cells(c, obj, &x)) return tok_no_object(obj, empty_patch(), empty_patch());
  Sequence order;
  order_of_colors(x, colors_of(x), &order);
  V colors = list_of_colors(c, order);
  return is_value(colors) ? make(SET, 0, 0, IN_ORDER, colors.len, colors.bits) : colors;
}
ROW_OP(tok_palette_f)(const Ctx &c, V obj) { return tok_object_palette(c, obj); }
ROW_OP(tok_p_f)(const Ctx &c, V obj) { return tok_object_palette(c, obj); }
ROW_OP(tok_p_o)(const Ctx &c, V obj) {
  Colored x;
  Sequence order;
  if (obj.kind != OBJECT) {
    if (!read_cells(c, obj, &x)) return tok_no_object(obj, empty_patch(), empty_tuple());
    order_of_colors(x, colors_of(x), &order);
    return tuple_of_colors(c, order);
  }
  V colors = op_palette(c, obj);
  if (!is_value(colors)) return colors;
  return colors.c == IN_ORDER ? tuple_value(c, (const V *)colors.bits, colors.len) : stopped(ORDER);
}
ROW_OP(tok_get_color_rank_f)(const Ctx &c, V obj, V rank) {
  Colored x;
  if (read_cells(c, obj, &x)) return color_at_rank(x, rank, empty_patch());
  return tok_no_object(obj, integer(0), is_int(rank) ? empty_patch() : integer(0));
}

/// The colour of the first cell. Without one it is a float.
ROW_OP(tok_color)(const Ctx &c, V obj) {
  if (obj.kind == OBJECT) return op_color(c, obj);
  if (is_atom(obj) || (obj.kind == INDICES && size_of_patch(obj))) return integer(0);
  if (obj.kind == GRID) {
    if (obj.b < 3) return integer(0);
    u32 color = 0;
    for (u32 k = 0; k < 4; k++) color |= (((const u32 *)obj.bits)[32 * k] >> 2 & 1) << k;
    return integer(color);
  }
  bool ordered = obj.kind == TUPLE || (obj.kind == SET && (obj.c == IN_ORDER || obj.len == 1));
  if (!ordered || obj.len == 0) return stopped(ODD);
  const V &first = *(const V *)obj.bits;
  if (first.kind == CELL) return integer(first.a);
  return first.kind == PAIR ? integer(0) : stopped(ODD);
}
