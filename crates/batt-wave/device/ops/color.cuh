// Colours.

/// The first of the `wanted` colours in the iteration order of the set of the colours `present`, which Python
/// adds as it meets them row by row.
INLINE u32 first_color(const Grid &g, u32 present, u32 wanted) {
  // More than four take a table of 32 slots, one for each colour.
  if (popcount(wanted) == 1 || popcount(present) > 4) return lowest(wanted);
  u32 slots[8] = {16, 16, 16, 16, 16, 16, 16, 16};
  for (u32 left = present; left;) {
    u32 next = 0, first = 0xffffffffu;
    for (u32 todo = left; todo; todo &= todo - 1) {
      u32 color = lowest(todo);
      Rows cells = of_color(g, color);
      u32 row = lowest(rows_of(cells)), met = row << 5 | lowest(row_at(cells, row));
      if (met < first) first = met, next = color;
    }
    left &= ~(1u << next);
    u32 slot = next & 7;
    while (slots[slot] < 16) slot = (slot * 5 + 1) & 7;
    slots[slot] = next;
  }
  for (u32 slot = 0; slot < 8; slot++)
    if (slots[slot] < 16 && wanted >> slots[slot] & 1) return slots[slot];
  return 0;
}

/// The colour of the most cells; the first one in the iteration order of the set of colours if there are several.
INLINE u32 most_common(const Grid &g) {
  u32 best = 0, tied = 0, present = 0;
  for (u32 color = 0; color < 16; color++) {
    u32 n = count(of_color(g, color));
    if (n == 0) continue;
    present |= 1u << color;
    if (n > best) best = n, tied = 0;
    if (n == best) tied |= 1u << color;
  }
  return first_color(g, present, tied);
}

/// The colour that all cells of a mask have, or PLANES.
INLINE u8 common_color(const Grid &g, const Rows &mask) {
  u32 color = 0;
  for (u32 k = 0; k < 4; k++) {
    Rows set = g.plane[k] & mask;
    if (is_empty(set)) continue;
    if (!same(set, mask)) return PLANES;
    color |= 1u << k;
  }
  return (u8)color;
}
