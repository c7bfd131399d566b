// The iteration order of patches, worked out when an op asks for it.

/// What the objects of one call of `objects` have in common. Their order needs all of them, because a fill
/// avoids the cells of objects found earlier.
struct Flood {
  u64 objects;
  u32 count;
  u8 height, width, diagonal, unused;
};

/// The colour of an object's cell.
INLINE u32 color_in(const V &v, u32 i, u32 j) {
  if (v.c != PLANES) return v.c;
  u32 color = 0;
  for (u32 k = 0; k < 4; k++) color |= (payload_of(v)[(k + 1) * v.a + i] >> j & 1) << k;
  return color;
}
/// The element of a patch at a place (i << 5 | j) of the payload.
INLINE V element_at(const V &v, u32 at) {
  u32 i = at >> 5, j = at & 31, where = place(row_of(v.len) + (i32)i, column_of(v.len) + (i32)j);
  if (v.kind == INDICES) return make(PAIR, 0, 0, 0, where, 0);
  return make(CELL, (u8)color_in(v, i, j), 0, 0, where, 0);
}

INLINE void clear(Table &t) {
  for (u32 k = 0; k < 8; k++) t.slots[k] = EMPTY;
  t.mask = 7;
  t.used = 0;
}
INLINE bool has(const Rows &board, u32 at) { return row_at(board, at >> 5) >> (at & 31) & 1; }
INLINE Rows with(const Rows &board, u32 at) {
  return rows([&](u32 l) { return l == at >> 5 ? board[l] | 1u << (at & 31) : board[l]; });
}

/// The most slots that a table for up to 1,024 locations takes.
const u32 MOST_SLOTS = 2048;

/// Memory for the time of one fill. On the GPU a warp should have some of its own.
INLINE void *fill_scratch(const Ctx &c, u32 bytes) {
#ifdef BATT_HOST
  static thread_local u64 scratch[4096];
  return (void)c, bytes <= sizeof(scratch) ? scratch : nullptr;
#else
  return take(c, bytes);
#endif
}

/// Writes the cells of an object of a grid in the sequence of the fill, as places in the grid. False if there
/// is not enough memory.
INLINE bool flood_sequence(const Ctx &c, const V &v, const Flood &flood, u16 *sequence) {
  const u16 *ranks = ranks_of(c, flood.height, flood.width);
  u64 *hashes = (u64 *)fill_scratch(c, 1024 * 8 + 8 * 8 + 4 * 32 * 2 + 4 * MOST_SLOTS * 2);
  if (!hashes) return false;
  u64 *near_hashes = hashes + 1024;
  u16 *small = (u16 *)(near_hashes + 8), *scratch = small + 128;
  (void)rows([&](u32 l) {
    for (u32 j = 0; j < 32; j++) hashes[l << 5 | j] = hash_pair((i32)l, (i32)j);
    return 0u;
  });
  Table reach = {scratch, scratch + MOST_SLOTS, 7, 0};
  Table next = {scratch + 2 * MOST_SLOTS, scratch + 3 * MOST_SLOTS, 7, 0};
  Table near = {small, small + 32, 7, 0}, around = {small + 64, small + 96, 7, 0};

  Patch p = patch_of(v);
  Rows mask = moved(p.mask, p.top, p.left), occupied = no_rows();
  u32 own = first_rank(v, ranks, flood.width);
  const V *objects = (const V *)flood.objects;
  for (u32 k = 0; k < flood.count; k++) {
    if (first_rank(objects[k], ranks, flood.width) >= own) continue;
    Patch other = patch_of(objects[k]);
    occupied = occupied | moved(other.mask, other.top, other.left);
  }
  u32 taken = count(occupied), length = 0;
  u32 start = least(rows([&](u32 l) {
    for (u32 todo = mask[l]; todo; todo &= todo - 1)
      if (ranks[l * flood.width + lowest(todo)] == own) return l << 5 | lowest(todo);
    return 0xffffffffu;
  }));
  clear(next);
  sync();
  add(next, hashes, (u16)start);
  while (next.used) {
    clear(reach);
    Rows reached = no_rows();
    for (u32 slot = 0; slot <= next.mask; slot++) {
      u32 at = next.slots[slot];
      if (at == EMPTY || !has(mask, at) || has(occupied, at)) continue;
      sequence[length++] = (u16)at;
      occupied = with(occupied, at);
      taken++;
      // The neighbours, in the order of their set.
      i32 i = (i32)(at >> 5), j = (i32)(at & 31);
      auto step_down = [](u32 e) { return e < 4 ? (i32)(e == 1) - (i32)(e == 0) : e < 6 ? -1 : 1; };
      auto step_right = [](u32 e) { return e < 4 ? (i32)(e == 3) - (i32)(e == 2) : e & 1 ? 1 : -1; };
      (void)rows([&](u32 l) {
        if (l < 8) near_hashes[l] = hash_pair(i + step_down(l), j + step_right(l));
        return 0u;
      });
      sync();
      clear(near);
      for (u32 e = 0; e < 4; e++) add(near, near_hashes, (u16)e);
      if (flood.diagonal) {
        clear(around);
        for (u32 e = 4; e < 8; e++) add(around, near_hashes, (u16)e);
        resize(near, near_hashes, 32);
        for (u32 k = 0; k < 8; k++)
          if (around.slots[k] != EMPTY) add(near, near_hashes, around.slots[k]);
      }
      clear(around);
      for (u32 k = 0; k <= near.mask; k++) {
        u32 e = near.slots[k];
        if (e == EMPTY) continue;
        i32 down = i + step_down(e), right = j + step_right(e);
        if (down < 0 || down >= flood.height || right < 0 || right >= flood.width) continue;
        add(around, hashes, (u16)(down << 5 | right));
      }
      if ((reach.used + around.used) * 5 >= reach.mask * 3)
        resize(reach, hashes, size_above((reach.used + around.used) * 2));
      bool copied = reach.used == 0 && reach.mask == around.mask;
      for (u32 k = 0; k <= around.mask; k++) {
        u16 e = around.slots[k];
        if (copied) reach.slots[k] = e;
        if (e == EMPTY || has(reached, e)) continue;
        if (copied) reach.used++;
        else add(reach, hashes, e);
        reached = with(reached, e);
      }
      sync();
    }
    // The next candidates are those reached without those occupied.
    clear(next);
    if (reach.used / 4 > taken) {
      // A copy, in which those occupied are skipped above.
      freeze(reach, hashes);
      Table copy = reach;
      reach = next;
      next = copy;
      continue;
    }
    for (u32 k = 0; k <= reach.mask; k++)
      if (reach.slots[k] != EMPTY && !has(occupied, reach.slots[k])) add(next, hashes, reach.slots[k]);
  }
  return length == p.size;
}

/// The patch `v` with the rows of another one, from whose elements Python built it, in their order: each
/// has another location or colour. Without memory the order is lost.
INLINE V mapped(const Ctx &c, V v, const V &parent) {
  v.bits = (u64)payload_of(parent) | (u64)size_of_patch(parent) << 48;
  if (size_of_patch(v) < 2 || walk_of(parent) == NO_WALK) return v;
  Mapping *to = (Mapping *)room_alone(c, sizeof(Mapping));
  if (!to) return v;
  to->rows = (u64)payload_of(parent);
  to->parent = parent;
  return walked(make((Kind)v.kind, v.a, v.b, v.c, v.len, (u64)to | (u64)size_of_patch(v) << 48), MAPPED);
}

/// Writes the elements of a patch in iteration order. Returns a failure, or any value.
INLINE V elements_in_order(const Ctx &c, const V &v, V *to) {
  u32 n = size_of_patch(v), depth = 0;
  auto parent_of = [](const V &child) {
    return ((const Mapping *)(child.bits & 0xffffffffffffull))->parent;
  };
  V root = v;
  for (; walk_of(root) == MAPPED; depth++) root = parent_of(root);
  if (n > 1 && walk_of(root) == NO_WALK) return stopped(ORDER);
  u32 room = size_above(n * 4);
  u64 *hashes = (u64 *)take(c, (u64)n * 8);
  u16 *scratch = (u16 *)take(c, (u64)(room * 2 + 2 * n) * 2);
  if (!hashes || !scratch) return stopped(MEMORY);
  u16 *places = scratch + room * 2, *sorted = places + n;
  const u32 *payload = payload_of(root);
  if (walk_of(root) == FLOODED) {
    const Flood *flood = (const Flood *)(payload[-2] | (u64)payload[-1] << 32);
    if (!flood_sequence(c, root, *flood, places)) return stopped(MEMORY);
    u32 corner = (u32)row_of(root.len) << 5 | (u32)column_of(root.len);
    sync();
    (void)rows([&](u32 l) {
      for (u32 k = l; k < n; k += 32) places[k] -= (u16)corner;
      return 0u;
    });
  } else {
    Rows mask = load_rows(payload, v.a);
    Rows before = sums_before(rows([&](u32 l) { return popcount(mask[l]); }));
    (void)rows([&](u32 l) {
      u32 at = before[l];
      for (u32 todo = mask[l]; todo; todo &= todo - 1) places[at++] = (u16)(l << 5 | lowest(todo));
      return 0u;
    });
  }
  // Every set of the chain, the first one first.
  for (u32 level = depth + 1; level-- > 0;) {
    V now = v;
    for (u32 k = 0; k < level; k++) now = parent_of(now);
    sync();
    (void)rows([&](u32 l) {
      for (u32 k = l; k < n; k += 32) {
        V e = element_at(now, places[k]);
        i32 i = row_of(e.len), j = column_of(e.len);
        hashes[k] = e.kind == PAIR ? hash_pair(i, j) : hash_cell(c, i, j, e.a);
      }
      return 0u;
    });
    Table t = {scratch, scratch + room, 7, 0};
    clear(t);
    sync();
    for (u32 k = 0; k < n; k++) add(t, hashes, (u16)k);
    u32 walk = walk_of(now);
    if (walk == FLOODED || walk == ROWS_FROZEN) freeze(t, hashes);
    u32 done = 0;
    for (u32 k = 0; k <= t.mask; k++)
      if (t.slots[k] != EMPTY) sorted[done++] = places[t.slots[k]];
    u16 *swap = places;
    places = sorted;
    sorted = swap;
  }
  sync();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) to[k] = element_at(v, places[k]);
    return 0u;
  });
  sync();
  return none();
}

/// The first element of a patch that is not empty, or a failure.
INLINE V first_element(const Ctx &c, const V &v) {
  if (walk_of(v) == NO_WALK && size_of_patch(v) > 1) return stopped(ORDER);
  V *all = (V *)take(c, (u64)size_of_patch(v) * sizeof(V));
  if (!all) return stopped(MEMORY);
  V done = elements_in_order(c, v, all);
  return is_value(done) ? all[0] : done;
}
