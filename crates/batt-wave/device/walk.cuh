// Notes on how Python built a patch. replay.cuh works out the iteration order from them when an op asks for it.

/// What the objects of one call of `objects` have in common. Their order needs all of them, because a fill
/// avoids the cells of objects found earlier.
struct Flood {
  u64 objects;
  u32 count;
  u8 height, width, diagonal, unused;
  u64 ranks; // of u16: the lowest rank of each object, or 0 until it is asked for
};

// These are in numbers.cuh, which comes later.
INLINE u32 patch_row(const V &v, u32 board, u32 row);
INLINE u32 patch_color(const V &v, u32 row, u32 column);

// ---- Notes on how a patch was made ----------------------------------------------------------------------

INLINE const Origin &origin_of(const V &v) { return *(const Origin *)(v.bits & 0xffffffffffffull); }
/// May the iteration order of a value be known? That of the members of a container is seen later.
INLINE bool may_walk(const V &v) {
  if (is_patch(v)) return size_of_patch(v) < 2 || walk_of(v) != NO_WALK;
  return v.kind == SET ? v.len < 2 || v.c != UNKNOWN : v.kind == TUPLE;
}
INLINE V with_origin(const V &v, const Origin *origin) {
  u64 size = size_of_patch(v);
  return walked(make((Kind)v.kind, v.a, v.b, v.c, v.len, (u64)origin | size << 48), MADE);
}
/// Notes what a patch was made of. Without memory the order is lost.
CALLED V made_of(const Ctx &c, const V &v, const V &parent, Making making, const u16 *list = nullptr) {
  if (!is_patch(v) || size_of_patch(v) < 2 || !may_walk(parent)) return v;
  Origin *to = (Origin *)take(c, sizeof(Origin));
  if (!to) return v;
  Origin origin = {parent, (u64)payload_of(v), (u64)list, making, 0};
  put(to, origin);
  sync();
  return with_origin(v, to);
}
/// The same for a lane alone.
CALLED V made_alone(const Ctx &c, const V &v, const V &parent, Making making) {
  if (!is_patch(v) || size_of_patch(v) < 2 || !may_walk(parent)) return v;
  Origin *to = (Origin *)room_alone(c, sizeof(Origin));
  if (!to) return v;
  Origin origin = {parent, (u64)payload_of(v), 0, making, 0};
  *to = origin;
  return with_origin(v, to);
}
/// The tuple of two values, as a list. Empty if there is no memory.
INLINE V list_of_two(const Ctx &c, const V &a, const V &b) {
  V *both = (V *)take(c, 2 * sizeof(V));
  if (!both) return make(TUPLE, 0, 0, 0, 0, 0);
  put(both, a);
  put(both + 1, b);
  sync();
  return make(TUPLE, 0, 0, 0, 2, (u64)both);
}
/// The same for a patch made of two, in a way that depends on both.
INLINE V made_of_two(const Ctx &c, const V &v, const V &a, const V &b, Making making) {
  if (!is_patch(v) || size_of_patch(v) < 2 || !may_walk(a) || !may_walk(b)) return v;
  V both = list_of_two(c, a, b);
  return both.len ? made_of(c, v, both, making) : v;
}
/// Notes the sequence of elements of which Python built a patch, or for IMAGES the image of each element of
/// `parent`.
CALLED V made_of_list(const Ctx &c, const V &v, const V *items, u32 n, Making making, const V &parent) {
  if (!is_patch(v) || size_of_patch(v) < 2 || !may_walk(parent)) return v;
  u16 *list = (u16 *)take(c, (u64)n * 2);
  if (!list) return v;
  i32 top = row_of(v.len), left = column_of(v.len);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32)
      list[k] = (u16)((row_of(items[k].len) - top) << 5 | (column_of(items[k].len) - left));
    return 0u;
  });
  sync();
  return made_of(c, v, making == SEQUENCE ? make(TUPLE, 0, 0, 0, n, 0) : parent, making, list);
}
/// A patch without a known order.
INLINE V unordered(V v) {
  v.bits = (u64)payload_of(v) | (u64)size_of_patch(v) << 48;
  return v;
}

/// The element of a patch at a place (i << 5 | j) of its boards.
INLINE V element_at(const V &v, u32 at) {
  u32 i = at >> 5, j = at & 31, where = place(row_of(v.len) + (i32)i, column_of(v.len) + (i32)j);
  if (v.kind == INDICES) return make(PAIR, 0, 0, 0, where, 0);
  return make(CELL, (u8)patch_color(v, i, j), 0, 0, where, 0);
}
