// Ops on whole grids.

INLINE V mirrored(const Ctx &c, const V &v, bool rows_too, bool columns_too, bool turned) {
  if (v.kind != GRID) return stopped(ODD);
  Grid g = grid_of(v);
  u32 height = turned ? g.width : g.height, width = turned ? g.height : g.width;
  return value_of(c, changed(g, height, width, [&](Rows x) {
    if (columns_too) x = left_to_right(x, g.width);
    if (rows_too) x = upside_down(x, g.height);
    return turned ? transposed(x) : x;
  }));
}

ROW_OP(hmirror)(const Ctx &c, V grid) { return mirrored(c, grid, true, false, false); }
ROW_OP(vmirror)(const Ctx &c, V grid) { return mirrored(c, grid, false, true, false); }
ROW_OP(dmirror)(const Ctx &c, V grid) { return mirrored(c, grid, false, false, true); }
ROW_OP(cmirror)(const Ctx &c, V grid) { return mirrored(c, grid, true, true, true); }

ROW_OP(hconcat)(const Ctx &c, V a, V b) {
  if (a.kind != GRID || b.kind != GRID) return stopped(ODD);
  if (a.b + b.b > SIDE) return stopped(SIZE);
  // `zip` ends with the lower grid.
  u32 height = min_of(a.a, b.a), left = a.b;
  Grid x = grid_of(a), y = grid_of(b), r;
  r.height = height;
  r.width = x.width + y.width;
  for (u32 k = 0; k < 4; k++)
    r.plane[k] = rows([&](u32 l) { return x.plane[k][l] | shift_up(y.plane[k][l], (i32)left); });
  return value_of(c, r);
}

ROW_OP(vconcat)(const Ctx &c, V a, V b) {
  if (a.kind != GRID || b.kind != GRID) return stopped(ODD);
  if (a.a + b.a > SIDE) return stopped(SIZE);
  Grid x = grid_of(a), y = grid_of(b), r;
  r.height = x.height + y.height;
  r.width = x.width;
  for (u32 k = 0; k < 4; k++) r.plane[k] = x.plane[k] | moved(y.plane[k], (i32)x.height, 0);
  if (x.width == y.width) return value_of(c, r);
  u32 *to = (u32 *)room_for(c, RAGGED_BYTES);
  if (!to) return stopped(MEMORY);
  for (u32 k = 0; k < 4; k++) store_rows(to + 32 * k, r.plane[k], r.height);
  store_rows(to + 128, rows([&](u32 l) { return l < x.height ? x.width : y.width; }), r.height);
  return make(RAGGED, (u8)r.height, 0, 0, 0, (u64)to);
}

/// The part of a grid that starts at (top, left), as slices take it. Neither is negative.
INLINE V part_of(const Ctx &c, const V &grid, u32 top, u32 left, u32 height, u32 width) {
  if (top >= grid.a || left >= grid.b || height == 0 || width == 0) return stopped(ODD);
  Grid g = grid_of(grid);
  height = min_of(height, g.height - top);
  width = min_of(width, g.width - left);
  Rows area = rectangle(height, width);
  return value_of(c, changed(g, height, width, [&](const Rows &x) {
    return moved(x, -(i32)top, -(i32)left) & area;
  }));
}

ROW_OP(subgrid)(const Ctx &c, V patch, V grid) {
  if (!is_patch(patch) || grid.kind != GRID || size_of_patch(patch) == 0) return stopped(ODD);
  i32 top = row_of(patch.len), left = column_of(patch.len);
  if (top < 0 || left < 0) return stopped(ODD);
  return part_of(c, grid, (u32)top, (u32)left, patch.a, patch.b);
}
