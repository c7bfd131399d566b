// The iteration order of patches, worked out when an op asks for it: one lane replays how Python built
// the set.

/// What the objects of one call of `objects` have in common. Their order needs all of them, because a fill
/// avoids the cells of objects found earlier.
struct Flood {
  u64 objects;
  u32 count;
  u8 height, width, diagonal, unused;
};

// These are in numbers.cuh and container.cuh, which come later.
INLINE u32 patch_row(const V &v, u32 board, u32 row);
INLINE u32 patch_color(const V &v, u32 row, u32 column);
INLINE u32 first_rank_alone(const V &v, const u16 *ranks, u32 width);
// And this is in sets.cuh.
template <int DEPTH> CALLED V write_order(const Ctx &c, const V &v, u16 *to);

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

// ---- Replaying ------------------------------------------------------------------------------------------

/// Python's table of a patch. Its elements are numbered.
struct Replay {
  Table table;
  u64 *hashes;
  u16 *places, *others; // places (i << 5 | j) in the boards of the patch; room for as many
  u32 *seen;            // a bit for each place
  u32 room;             // slots in each of the two buffers
  bool dummies;         // does the table have some?
};

/// The element of a patch at a place (i << 5 | j) of its boards.
INLINE V element_at(const V &v, u32 at) {
  u32 i = at >> 5, j = at & 31, where = place(row_of(v.len) + (i32)i, column_of(v.len) + (i32)j);
  if (v.kind == INDICES) return make(PAIR, 0, 0, 0, where, 0);
  return make(CELL, (u8)patch_color(v, i, j), 0, 0, where, 0);
}
INLINE u64 hash_at(const Ctx &c, const V &v, u32 at) {
  V e = element_at(v, at);
  i32 i = row_of(e.len), j = column_of(e.len);
  return e.kind == PAIR ? hash_pair(i, j) : hash_cell(c, i, j, e.a);
}
INLINE void clear(Table &t) {
  for (u32 k = 0; k < 8; k++) t.slots[k] = EMPTY;
  t.mask = 7;
  t.used = 0;
}
INLINE void clear(Replay &r) {
  for (u32 k = 0; k < 32; k++) r.seen[k] = 0;
  clear(r.table);
  r.dummies = false;
}
/// Takes memory for a patch of n elements. False if there is not enough.
CALLED bool open_replay(const Ctx &c, Replay &r, u32 n) {
  r.room = size_above(n * 4);
  r.hashes = (u64 *)take_alone(c, (u64)n * 8 + 128 + (u64)n * 4 + (u64)r.room * 4);
  if (!r.hashes) return false;
  r.seen = (u32 *)(r.hashes + n);
  r.places = (u16 *)(r.seen + 32);
  r.others = r.places + n;
  r.table.slots = r.others + n;
  r.table.other = r.table.slots + r.room;
  clear(r);
  return true;
}
/// Adds the element of a patch at a place, unless it is there.
CALLED void add_place(const Ctx &c, Replay &r, const V &v, u32 at) {
  if (r.seen[at >> 5] >> (at & 31) & 1) return;
  r.seen[at >> 5] |= 1u << (at & 31);
  u32 k = r.table.used;
  r.places[k] = (u16)at;
  r.hashes[k] = hash_at(c, v, at);
  add(r.table, r.hashes, (u16)k);
}
/// Calls `f` with the place of each element in iteration order.
template <class F> INLINE void each_place(const Replay &r, F f) {
  for (u32 slot = 0; slot <= r.table.mask; slot++)
    if (r.table.slots[slot] != EMPTY) f(r.places[r.table.slots[slot]]);
}
/// Where the element at a place of one patch is in another one; 1024 if it cannot be there.
INLINE u32 place_in(const V &to, const V &from, u32 at) {
  i32 i = row_of(from.len) + (i32)(at >> 5) - row_of(to.len);
  i32 j = column_of(from.len) + (i32)(at & 31) - column_of(to.len);
  if (i < 0 || j < 0 || i >= to.a || j >= to.b) return 1024;
  return patch_row(to, 0, (u32)i) >> j & 1 ? (u32)(i << 5 | j) : 1024;
}
/// Python's union: `r` is a copy already. The elements of `from` are those of `other`.
CALLED void merge_into(const Ctx &c, Replay &r, const V &v, const Replay &other, const V &from) {
  u32 both = r.table.used + other.table.used;
  if (both * 5 >= r.table.mask * 3) resize(r.table, r.hashes, size_above(both * 2));
  each_place(other, [&](u32 at) {
    u32 own = place_in(v, from, at);
    if (own < 1024) add_place(c, r, v, own);
  });
}

/// Adds the cells of an object of a grid as its fill did. False if there is not enough memory.
CALLED bool replay_flood(const Ctx &c, const V &v, Replay &r) {
  const u32 *payload = payload_of(v);
  const Flood &flood = *(const Flood *)(payload[-2] | (u64)payload[-1] << 32);
  const u16 *ranks = ranks_of(c, flood.height, flood.width);
  i32 top = row_of(v.len), left = column_of(v.len);
  // Cells are numbered in the bounds with a margin of 1, where their neighbours are.
  u32 height = v.a + 2u, width = v.b + 2u, cells = height * width;
  u32 room = min_of(size_above(4 * cells), 2048u);
  u64 *hashes = (u64 *)take_alone(c, (u64)(cells + 2 * height) * 8 + room * 8 + 256);
  if (!hashes) return false;
  u64 *occupied = hashes + cells, *reached = occupied + height;
  u16 *slots = (u16 *)(reached + height), *small = slots + 4 * room;
  for (u32 k = 0; k < cells; k++)
    hashes[k] = hash_pair(top + (i32)(k / width) - 1, left + (i32)(k % width) - 1);
  for (u32 k = 0; k < height; k++) occupied[k] = 0;
  auto in = [&](const u64 *board, u32 at) { return board[at / width] >> (at % width) & 1; };
  auto mark = [&](u64 *board, u32 at) { board[at / width] |= 1ull << (at % width); };
  // The cell of the lowest rank is the first.
  u32 own = 0xffffffffu, start = 0;
  for (u32 i = 0; i < v.a; i++)
    for (u32 todo = payload[i]; todo; todo &= todo - 1) {
      u32 j = lowest(todo), rank = ranks[((u32)top + i) * flood.width + (u32)left + j];
      if (rank < own) own = rank, start = (i + 1) * width + j + 1;
    }
  u32 taken = 0;
  const V *objects = (const V *)flood.objects;
  for (u32 k = 0; k < flood.count; k++) {
    const V &other = objects[k];
    if (other.len == v.len && payload_of(other) == payload) continue;
    if (first_rank_alone(other, ranks, flood.width) >= own) continue;
    taken += size_of_patch(other);
    i32 down = row_of(other.len) - top + 1, right = column_of(other.len) - left + 1;
    for (i32 i = max_of(0, -down); i < other.a && down + i < (i32)height; i++) {
      u64 row = patch_row(other, 0, (u32)i);
      if (right > 33 || right < -31) continue;
      occupied[down + i] |= (right >= 0 ? row << right : row >> -right) & ((1ull << width) - 1);
    }
  }
  Table reach = {slots, slots + room, 7, 0}, next = {slots + 2 * room, slots + 3 * room, 7, 0};
  Table near = {small, small + 32, 7, 0}, around = {small + 64, small + 96, 7, 0};
  clear(next);
  add(next, hashes, (u16)start);
  while (next.used) {
    clear(reach);
    for (u32 k = 0; k < height; k++) reached[k] = 0;
    for (u32 slot = 0; slot <= next.mask; slot++) {
      u32 at = next.slots[slot];
      if (at == EMPTY || in(occupied, at)) continue;
      u32 i = at / width - 1, j = at % width - 1;
      if (i >= v.a || j >= v.b || !(payload[i] >> j & 1)) continue;
      add_place(c, r, v, i << 5 | j);
      mark(occupied, at);
      taken++;
      // The neighbours, in the order of their set.
      clear(near);
      add(near, hashes, (u16)(at - width));
      add(near, hashes, (u16)(at + width));
      add(near, hashes, (u16)(at - 1));
      add(near, hashes, (u16)(at + 1));
      if (flood.diagonal) {
        clear(around);
        add(around, hashes, (u16)(at - width - 1));
        add(around, hashes, (u16)(at - width + 1));
        add(around, hashes, (u16)(at + width - 1));
        add(around, hashes, (u16)(at + width + 1));
        resize(near, hashes, 32);
        for (u32 k = 0; k < 8; k++)
          if (around.slots[k] != EMPTY) add(near, hashes, around.slots[k]);
      }
      clear(around);
      for (u32 k = 0; k <= near.mask; k++) {
        u32 e = near.slots[k];
        if (e == EMPTY) continue;
        i32 down = top + (i32)(e / width) - 1, right = left + (i32)(e % width) - 1;
        if (down < 0 || down >= flood.height || right < 0 || right >= flood.width) continue;
        add(around, hashes, (u16)e);
      }
      u32 both = reach.used + around.used;
      if (both * 5 >= reach.mask * 3) resize(reach, hashes, size_above(both * 2));
      bool copied = reach.used == 0 && reach.mask == around.mask;
      for (u32 k = 0; k <= around.mask; k++) {
        u16 e = around.slots[k];
        if (copied) reach.slots[k] = e;
        if (e == EMPTY || in(reached, e)) continue;
        if (copied) reach.used++;
        else add(reach, hashes, e);
        mark(reached, e);
      }
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
      if (reach.slots[k] != EMPTY && !in(occupied, reach.slots[k])) add(next, hashes, reach.slots[k]);
  }
  return true;
}

/// Adds the elements of a frame: the union of its columns, and of its rows, and of both.
CALLED bool replay_frame(const Ctx &c, const V &v, Replay &r) {
  u32 height = v.a, width = v.b;
  Replay part, side;
  if (!open_replay(c, part, 2 * width) || !open_replay(c, side, max_of(height, width))) return false;
  for (u32 i = 0; i < height; i++) add_place(c, r, v, i << 5);
  for (u32 i = 0; i < height; i++) add_place(c, side, v, i << 5 | (width - 1));
  freeze(r.table, r.hashes);
  merge_into(c, r, v, side, v);
  clear(side);
  for (u32 j = 0; j < width; j++) add_place(c, part, v, j);
  for (u32 j = 0; j < width; j++) add_place(c, side, v, (height - 1) << 5 | j);
  freeze(part.table, part.hashes);
  merge_into(c, part, v, side, v);
  freeze(r.table, r.hashes);
  merge_into(c, r, v, part, v);
  freeze(r.table, r.hashes);
  return true;
}
/// Adds the four neighbours of a location, or all eight.
CALLED bool replay_neighbors(const Ctx &c, const V &v, Replay &r, bool all) {
  add_place(c, r, v, 0 << 5 | 1);
  add_place(c, r, v, 2 << 5 | 1);
  add_place(c, r, v, 1 << 5 | 0);
  add_place(c, r, v, 1 << 5 | 2);
  if (!all) return true;
  Replay corners;
  if (!open_replay(c, corners, 4)) return false;
  add_place(c, corners, v, 0 << 5 | 0);
  add_place(c, corners, v, 0 << 5 | 2);
  add_place(c, corners, v, 2 << 5 | 0);
  add_place(c, corners, v, 2 << 5 | 2);
  merge_into(c, r, v, corners, v);
  return true;
}

/// Does the place of each element follow from its place in the parent?
INLINE bool has_own_places(const V &v) { return walk_of(v) == MADE && origin_of(v).making < GATHER; }
INLINE u32 moved_place(const V &v, u32 at) {
  u32 i = at >> 5, j = at & 31;
  switch (origin_of(v).making) {
    case UPSIDE_DOWN: return (v.a - 1 - i) << 5 | j;
    case LEFT_TO_RIGHT: return i << 5 | (v.b - 1 - j);
    case TRANSPOSED: return j << 5 | i;
    default: return at;
  }
}

template <int DEPTH> CALLED V replay(const Ctx &c, const V &v, Replay &r);

/// Replays a patch that was made of other values. Returns a failure, or NONE.
template <int DEPTH> INLINE V replay_made(const Ctx &c, const V &v, Replay &r) {
  if (DEPTH == 0) return stopped(ORDER);
  const int INNER = DEPTH ? DEPTH - 1 : 0;
  const Origin &origin = origin_of(v);
  const V &parent = origin.parent;
  const u16 *list = (const u16 *)origin.list;
  Replay other;
  if (origin.making == SEQUENCE) {
    for (u32 k = 0; k < parent.len; k++) add_place(c, r, v, list[k]);
    return none();
  }
  if (origin.making == IMAGES) {
    u32 n = length_of(parent);
    u16 *order = (u16 *)take_alone(c, (u64)n * 2);
    if (!order) return stopped(MEMORY);
    V failed = write_order<INNER>(c, parent, order);
    for (u32 k = 0; failed.kind == NONE && k < n; k++) add_place(c, r, v, list[order[k]]);
    return failed;
  }
  if (origin.making == SCALED) {
    V failed = replay<INNER>(c, parent, other);
    if (failed.kind != NONE) return failed;
    u32 times = v.a / parent.a;
    each_place(other, [&](u32 at) {
      u32 i = (at >> 5) * times, j = (at & 31) * times;
      for (u32 p = 0; p < times; p++)
        for (u32 q = 0; q < times; q++) add_place(c, r, v, (i + p) << 5 | (j + q));
    });
    freeze(r.table, r.hashes);
    return none();
  }
  if (origin.making == UNITE || origin.making == SUBTRACT) {
    const V &a = ((const V *)parent.bits)[0], &b = ((const V *)parent.bits)[1];
    V failed = replay<INNER>(c, a, other);
    if (failed.kind != NONE) return failed;
    bool copy = origin.making == UNITE || size_of_patch(a) / 4 > size_of_patch(b);
    if (!copy) {
      each_place(other, [&](u32 at) {
        u32 own = place_in(v, a, at);
        if (own < 1024) add_place(c, r, v, own);
      });
      return none();
    }
    if (other.dummies) return stopped(ORDER);
    freeze(other.table, other.hashes);
    if (origin.making == SUBTRACT) {
      // What is taken out leaves dummies.
      u32 n = other.table.used;
      for (u32 k = 0; k < n; k++) other.places[k] = (u16)place_in(v, a, other.places[k]);
      for (u32 slot = 0; slot <= other.table.mask; slot++) {
        u16 &k = other.table.slots[slot];
        if (k != EMPTY && other.places[k] >= 1024) k = EMPTY, other.table.used--;
      }
      r = other;
      r.dummies = true;
      return none();
    }
    for (u32 k = 0; k < other.table.used; k++) {
      u32 at = place_in(v, a, other.places[k]);
      r.places[k] = (u16)at;
      r.hashes[k] = other.hashes[k];
      r.seen[at >> 5] |= 1u << (at & 31);
    }
    for (u32 slot = 0; slot <= other.table.mask; slot++) r.table.slots[slot] = other.table.slots[slot];
    r.table.mask = other.table.mask;
    r.table.used = other.table.used;
    failed = replay<INNER>(c, b, other);
    if (failed.kind == NONE) merge_into(c, r, v, other, b);
    return failed;
  }
  // One patch, or members of a container.
  const V *members = &parent;
  u32 n = 1;
  u16 *order = nullptr;
  if (!is_patch(parent)) {
    n = parent.len;
    members = (const V *)parent.bits;
    order = (u16 *)take_alone(c, (u64)n * 2);
    if (!order) return stopped(MEMORY);
    V failed = write_order<INNER>(c, parent, order);
    if (failed.kind != NONE) return failed;
  }
  for (u32 k = 0; k < n; k++) {
    const V &member = members[order ? order[k] : 0];
    if (member.kind == PAIR || member.kind == CELL) {
      u32 own = place_in(v, member, 0);
      if (own < 1024) add_place(c, r, v, own);
      continue;
    }
    if (!is_patch(member)) return stopped(ORDER);
    if (size_of_patch(member) == 0) continue;
    V failed = replay<INNER>(c, member, other);
    if (failed.kind != NONE) return failed;
    each_place(other, [&](u32 at) {
      u32 own = place_in(v, member, at);
      if (own < 1024) add_place(c, r, v, own);
    });
  }
  return none();
}

/// The cells of the largest object whose fill one lane replays. The CPU takes less time for larger ones than
/// all others would wait.
const u32 MOST_FLOODED = 64;

/// Replays how Python built a patch that is not empty. Returns a failure, or NONE.
template <int DEPTH> CALLED V replay(const Ctx &c, const V &v, Replay &r) {
  u32 n = size_of_patch(v), depth = 0;
  V root = v;
  for (; has_own_places(root); depth++) root = origin_of(root).parent;
  if (n > 1 && (walk_of(root) == NO_WALK || (walk_of(root) == FLOODED && n > MOST_FLOODED))) return stopped(ORDER);
  if (!open_replay(c, r, n)) return stopped(MEMORY);
  bool done = true;
  u32 walk = n == 1 ? ROWS_BUILT : walk_of(root);
  switch (walk) {
    case FLOODED: done = replay_flood(c, root, r); break;
    case FRAME: done = replay_frame(c, root, r); break;
    case CROSS:
    case RING: done = replay_neighbors(c, root, r, walk == RING); break;
    case MADE: {
      V failed = replay_made<DEPTH>(c, root, r);
      if (failed.kind != NONE) return failed;
      break;
    }
    default:
      for (u32 i = 0; i < root.a; i++)
        for (u32 todo = patch_row(root, 0, i); todo; todo &= todo - 1)
          add_place(c, r, root, i << 5 | lowest(todo));
  }
  if (!done) return stopped(MEMORY);
  if (walk == FLOODED || walk == ROWS_FROZEN) freeze(r.table, r.hashes);
  if (r.table.used != n) return stopped(ORDER);
  // The sets that were built of it, one after the other.
  for (u32 level = depth; level-- > 0;) {
    V now = v;
    for (u32 k = 0; k < level; k++) now = origin_of(now).parent;
    u32 k = 0;
    each_place(r, [&](u32 at) { r.others[k++] = (u16)at; });
    clear(r);
    u16 *sequence = r.others;
    r.others = r.places;
    r.places = sequence;
    // Number k is read before it is written.
    for (k = 0; k < n; k++) add_place(c, r, now, moved_place(now, sequence[k]));
  }
  return none();
}

/// How deep patches may be made of each other, without those that keep their places. Each level is another
/// copy of the code, and more are rare.
const int DEEPEST = 2;

// ---- For ops --------------------------------------------------------------------------------------------

/// The first or the last element of a patch that is not empty, for a lane alone.
CALLED V end_of_patch(const Ctx &c, const V &v, bool last) {
  if (!may_walk(v)) return stopped(ORDER);
  Replay r;
  V failed = replay<DEEPEST>(c, v, r);
  if (failed.kind != NONE) return failed;
  u32 slot = last ? r.table.mask : 0;
  while (r.table.slots[slot] == EMPTY) slot += last ? (u32)-1 : 1u;
  return element_at(v, r.places[r.table.slots[slot]]);
}
/// The first element of a patch that is not empty, or a failure.
CALLED V first_element(const Ctx &c, const V &v) {
  V first = stopped(ORDER);
  if (!may_walk(v)) return first;
  V *to = (V *)take(c, sizeof(V));
  if (!to) return stopped(MEMORY);
  alone([&]() {
    *to = end_of_patch(c, v, false);
    return 0u;
  });
  return *to;
}
/// The same patch without a known order.
INLINE V unordered(V v) {
  v.bits = (u64)payload_of(v) | (u64)size_of_patch(v) << 48;
  return v;
}
