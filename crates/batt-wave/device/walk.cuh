// The iteration order of patches, worked out when an op asks for it: a team of lanes replays how Python
// built the set.

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
template <class T, int DEPTH> CALLED V write_order(const Ctx &c, const V &v, u16 *to);

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
  u8 *seen;             // whether the element at a place is there
  bool dummies;         // does the table have some?
};
/// Stands for a place that is not in a patch.
const u32 NOWHERE = 1024;

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
template <class T> INLINE void clear(Replay &r, const V &v) {
  clear_bytes<T>(r.seen, 32u * v.a);
  clear<T>(r.table);
  r.dummies = false;
}
/// Takes memory for n elements of a patch. False if there is not enough.
template <class T> CALLED bool open_replay(const Ctx &c, Replay &r, const V &v, u32 n) {
  u32 room = size_above(n * 4);
  r.hashes = (u64 *)T::room(c, (u64)n * 12 + 32u * v.a + (u64)room * 4);
  if (!r.hashes) return false;
  r.table.slots = (u16 *)(r.hashes + n);
  r.table.other = r.table.slots + room;
  r.seen = (u8 *)(r.table.other + room);
  r.places = (u16 *)(r.seen + 32u * v.a);
  r.others = r.places + n;
  clear<T>(r, v);
  return true;
}
/// Adds the elements of a patch at n places, one after the other, unless they are there.
template <class T, class F> INLINE void add_places(const Ctx &c, Replay &r, const V &v, u32 n, F place_at) {
  for (u32 from = 0; from < n; from += T::WIDTH) {
    typename T::template Own<u32> at;
    u32 some = T::where([&](u32 l) {
      at[l] = from + l < n ? place_at(from + l) : NOWHERE;
      bool is_new = at[l] < NOWHERE && !r.seen[at[l]];
      if (!is_new) at[l] = ~l;
      return is_new;
    });
    some &= ~T::repeated(at);
    if (!some) continue;
    u32 first = r.table.used;
    auto number = [&](u32 l) { return first + popcount(some & low(l)); };
    T::each([&](u32 l) {
      if (!(some >> l & 1)) return;
      r.places[number(l)] = (u16)at[l];
      r.hashes[number(l)] = hash_at(c, v, at[l]);
      r.seen[at[l]] = 1;
    });
    T::wait();
    add_elements<T>(r.table, r.hashes, some, number);
  }
}
/// The places of all elements in iteration order.
template <class T> INLINE const u16 *in_order(Replay &r) {
  auto in = [&](u32 k) { return r.table.slots[k] != EMPTY; };
  write_chosen<T>(r.table.mask + 1, r.others, in, [&](u32 k) { return r.places[r.table.slots[k]]; });
  return r.others;
}
/// Where the element at a place of one patch is in another one.
INLINE u32 place_in(const V &to, const V &from, u32 at) {
  i32 i = row_of(from.len) + (i32)(at >> 5) - row_of(to.len);
  i32 j = column_of(from.len) + (i32)(at & 31) - column_of(to.len);
  if (i < 0 || j < 0 || i >= to.a || j >= to.b) return NOWHERE;
  return patch_row(to, 0, (u32)i) >> j & 1 ? (u32)(i << 5 | j) : NOWHERE;
}
/// Adds the elements of another patch that are in this one, in their order.
template <class T> INLINE void add_those_of(const Ctx &c, Replay &r, const V &v, Replay &other, const V &from) {
  const u16 *all = in_order<T>(other);
  add_places<T>(c, r, v, other.table.used, [&](u32 k) { return place_in(v, from, all[k]); });
}
/// Python's union: `r` is a copy already. The elements of `from` are those of `other`.
template <class T> CALLED void merge_into(const Ctx &c, Replay &r, const V &v, Replay &other, const V &from) {
  make_room<T>(r.table, r.hashes, other.table.used);
  add_those_of<T>(c, r, v, other, from);
}

/// The neighbours of a cell that are in the grid, as the fill makes them: the table of a set.
struct Neighbors {
  u16 cell[8]; // in iteration order
  u8 slot[8];
  u32 count;
};
/// Those of a cell of the bounds with a margin. A lane works at them alone.
INLINE void find_neighbors(const Flood &flood, const u64 *hashes, i32 top, i32 left, u32 width, u32 at, Neighbors &n) {
  alignas(8) u16 room[4][32];
  Table near = {room[0], room[1], 7, 0}, around = {room[2], room[3], 7, 0};
  auto add = [&](Table &t, u32 cell) { add_all<Lone>(t, hashes, 1, [&](u32) { return cell; }); };
  clear<Lone>(near);
  add(near, at - width);
  add(near, at + width);
  add(near, at - 1);
  add(near, at + 1);
  if (flood.diagonal) {
    clear<Lone>(around);
    add(around, at - width - 1);
    add(around, at - width + 1);
    add(around, at + width - 1);
    add(around, at + width + 1);
    resize<Lone>(near, hashes, 32);
    for (u32 k = 0; k < 8; k++)
      if (around.slots[k] != EMPTY) add(near, around.slots[k]);
  }
  clear<Lone>(around);
  for (u32 k = 0; k <= near.mask; k++) {
    u32 cell = near.slots[k];
    if (cell == EMPTY) continue;
    i32 i = top + (i32)(cell / width) - 1, j = left + (i32)(cell % width) - 1;
    if (i >= 0 && i < flood.height && j >= 0 && j < flood.width) add(around, cell);
  }
  n.count = 0;
  for (u32 k = 0; k <= around.mask; k++) {
    if (around.slots[k] == EMPTY) continue;
    n.cell[n.count] = around.slots[k];
    n.slot[n.count++] = (u8)k;
  }
}

/// Adds the cells of an object of a grid as its fill did. False if there is not enough memory.
template <class T> CALLED bool replay_flood(const Ctx &c, const V &v, Replay &r) {
  const u32 *payload = payload_of(v);
  const Flood &flood = *(const Flood *)(payload[-2] | (u64)payload[-1] << 32);
  const u16 *ranks = ranks_of(c, flood.height, flood.width);
  i32 top = row_of(v.len), left = column_of(v.len);
  // Cells are numbered in the bounds with a margin of 1, where their neighbours are.
  u32 height = v.a + 2u, width = v.b + 2u, cells = height * width, size = size_of_patch(v);
  u32 bytes = (cells + 7) & ~7u, room = min_of(size_above(4 * cells), 2048u);
  u64 *hashes = (u64 *)T::room(c, (u64)cells * 10 + (u64)room * 8 + 2 * bytes + (u64)size * sizeof(Neighbors) + 16);
  if (!hashes) return false;
  u16 *slots = (u16 *)(hashes + cells);
  u8 *occupied = (u8 *)(slots + 4 * room), *reached = occupied + bytes;
  Neighbors *around = (Neighbors *)(reached + bytes);
  u16 *found = (u16 *)(around + size);
  auto place_of = [&](u32 at) { return (at / width - 1) << 5 | (at % width - 1); };
  auto is_own = [&](u32 at) {
    u32 i = at / width - 1, j = at % width - 1;
    return i < v.a && j < v.b && payload[i] >> j & 1;
  };
  clear_bytes<T>(occupied, bytes);
  each_below<T>(cells, [&](u32 k) {
    hashes[k] = hash_pair(top + (i32)(k / width) - 1, left + (i32)(k % width) - 1);
  });
  // The cell of the lowest rank is the first.
  typename T::template Own<u32> best;
  T::each([&](u32 l) {
    best[l] = 0xffffffffu;
    for (u32 at = l; at < cells; at += T::WIDTH) {
      if (!is_own(at)) continue;
      u32 rank = ranks[((u32)top + at / width - 1) * flood.width + (u32)left + at % width - 1];
      best[l] = min_of(best[l], rank << 16 | at);
    }
  });
  u32 first = T::lowest_of(best), own = first >> 16, start = first & 0xffff;
  // Cells of objects found before.
  typename T::template Own<u32> before;
  const V *objects = (const V *)flood.objects;
  T::each([&](u32 l) {
    before[l] = 0;
    for (u32 k = l; k < flood.count; k += T::WIDTH) {
      const V &other = objects[k];
      if (other.len == v.len && payload_of(other) == payload) continue;
      if (first_rank_alone(other, ranks, flood.width) >= own) continue;
      before[l] += size_of_patch(other);
      i32 down = row_of(other.len) - top + 1, right = column_of(other.len) - left + 1;
      for (i32 i = max_of(0, -down); i < other.a && down + i < (i32)height; i++)
        for (u32 todo = patch_row(other, 0, (u32)i); todo; todo &= todo - 1) {
          i32 j = right + (i32)lowest(todo);
          if (j >= 0 && j < (i32)width) occupied[(u32)(down + i) * width + (u32)j] = 1;
        }
    }
  });
  u32 taken = T::sum_of(before);
  Table next = {slots, slots + room, 7, 0}, reach = {slots + 2 * room, slots + 3 * room, 7, 0};
  clear<T>(next);
  add_all<T>(next, hashes, 1, [&](u32) { return start; });
  while (next.used) {
    auto is_found = [&](u32 k) {
      u32 at = next.slots[k];
      return at != EMPTY && !occupied[at] && is_own(at);
    };
    u32 n = write_chosen<T>(next.mask + 1, found, is_found, [&](u32 k) { return next.slots[k]; });
    add_places<T>(c, r, v, n, [&](u32 k) { return place_of(found[k]); });
    clear_bytes<T>(reached, bytes);
    each_below<T>(n, [&](u32 k) {
      occupied[found[k]] = 1;
      find_neighbors(flood, hashes, top, left, width, found[k], around[k]);
    });
    T::wait();
    taken += n;
    clear<T>(reach);
    for (u32 k = 0; k < n; k++) {
      const Neighbors &near = around[k];
      make_room<T>(reach, hashes, near.count);
      // A table of the same size is copied slot by slot.
      if (reach.used == 0 && reach.mask == (is_full(near.count, 7) ? 31u : 7u)) {
        each_below<T>(near.count, [&](u32 j) { reach.slots[near.slot[j]] = near.cell[j]; });
        T::wait();
        reach.used = near.count;
      } else {
        auto is_new = [&](u32 j) { return reached[near.cell[j]] ? (u32)EMPTY : near.cell[j]; };
        add_all<T>(reach, hashes, near.count, is_new);
      }
      each_below<T>(near.count, [&](u32 j) { reached[near.cell[j]] = 1; });
      T::wait();
    }
    // The next candidates are those reached without those occupied.
    if (reach.used / 4 > taken) {
      // A copy, in which those occupied are skipped above.
      freeze<T>(reach, hashes);
      Table copy = reach;
      reach = next;
      next = copy;
      continue;
    }
    clear<T>(next);
    add_all<T>(next, hashes, reach.mask + 1, [&](u32 k) {
      u32 at = reach.slots[k];
      return at != EMPTY && !occupied[at] ? at : (u32)EMPTY;
    });
  }
  return true;
}

/// Adds the elements of a frame: the union of its columns, and of its rows, and of both.
template <class T> CALLED bool replay_frame(const Ctx &c, const V &v, Replay &r) {
  u32 height = v.a, width = v.b;
  Replay part, side;
  if (!open_replay<T>(c, part, v, 2 * width) || !open_replay<T>(c, side, v, max_of(height, width))) return false;
  add_places<T>(c, r, v, height, [&](u32 i) { return i << 5; });
  add_places<T>(c, side, v, height, [&](u32 i) { return i << 5 | (width - 1); });
  freeze<T>(r.table, r.hashes);
  merge_into<T>(c, r, v, side, v);
  clear<T>(side, v);
  add_places<T>(c, part, v, width, [&](u32 j) { return j; });
  add_places<T>(c, side, v, width, [&](u32 j) { return (height - 1) << 5 | j; });
  freeze<T>(part.table, part.hashes);
  merge_into<T>(c, part, v, side, v);
  freeze<T>(r.table, r.hashes);
  merge_into<T>(c, r, v, part, v);
  freeze<T>(r.table, r.hashes);
  return true;
}
/// Adds the four neighbours of a location, or all eight.
template <class T> CALLED bool replay_neighbors(const Ctx &c, const V &v, Replay &r, bool all) {
  // The places are (i << 5 | j) of a board of 3 x 3.
  const u64 direct = 1ull | 65ull << 16 | 32ull << 32 | 34ull << 48;
  const u64 diagonal = 0ull | 2ull << 16 | 64ull << 32 | 66ull << 48;
  add_places<T>(c, r, v, 4, [&](u32 k) { return (u32)(direct >> (16 * k)) & 0xffff; });
  if (!all) return true;
  Replay corners;
  if (!open_replay<T>(c, corners, v, 4)) return false;
  add_places<T>(c, corners, v, 4, [&](u32 k) { return (u32)(diagonal >> (16 * k)) & 0xffff; });
  merge_into<T>(c, r, v, corners, v);
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

template <class T, int DEPTH> CALLED V replay(const Ctx &c, const V &v, Replay &r);

/// The iteration order of a patch: the places of its elements, or their numbers row by row. Returns a failure,
/// or NONE.
template <class T, int DEPTH> CALLED V write_order_of_patch(const Ctx &c, const V &v, bool places, u16 *to) {
  if (!may_walk(v)) return stopped(ORDER);
  Replay r;
  V failed = replay<T, DEPTH>(c, v, r);
  if (failed.kind != NONE) return failed;
  const u16 *all = in_order<T>(r);
  if (places) {
    each_below<T>(r.table.used, [&](u32 k) { to[k] = all[k]; });
    T::wait();
    return none();
  }
  // How many elements stand in the rows before each.
  u16 *before = (u16 *)T::room(c, 2u * v.a);
  if (!before) return stopped(MEMORY);
  each_below<T>(v.a, [&](u32 l) {
    u32 own = 0;
    for (u32 i = 0; i < l; i++) own += popcount(patch_row(v, 0, i));
    before[l] = (u16)own;
  });
  T::wait();
  each_below<T>(r.table.used, [&](u32 k) {
    u32 i = all[k] >> 5;
    to[k] = (u16)(before[i] + popcount(patch_row(v, 0, i) & low(all[k] & 31)));
  });
  T::wait();
  return none();
}

/// The members of a container, whose elements are numbered one member after the other.
struct Members {
  const V *list;
  u32 count, total;
  u16 *outer;  // the order of the members
  u16 *starts; // where the numbers of each begin
  u16 *inner;  // the order of the elements of each
};
/// May a lane put one of n members in order by itself, while others do the same?
INLINE bool is_short(u32 n, const V &member) { return length_of(member) <= min_of(n, 32u) * 3 / 2; }
/// Writes the order of a member: for patches with places, the places in the boards of the patch `v`.
template <class T, int DEPTH> INLINE V write_inner(const Ctx &c, const Members &m, u32 k, const V *v) {
  const V &member = m.list[k];
  u16 *to = m.inner + m.starts[k];
  if (!v) return write_order<T, DEPTH>(c, member, to);
  u32 n = max_of(length_of(member), 1u);
  if (is_patch(member) && size_of_patch(member) == 0) return none();
  if (is_patch(member)) {
    V failed = write_order_of_patch<T, DEPTH>(c, member, true, to);
    if (failed.kind != NONE) return failed;
  } else if (member.kind == PAIR || member.kind == CELL) {
    each_below<T>(1, [&](u32) { to[0] = 0; });
    T::wait();
  } else {
    return stopped(ORDER);
  }
  each_below<T>(n, [&](u32 j) { to[j] = (u16)place_in(*v, member, to[j]); });
  T::wait();
  return none();
}
/// The number of elements of a member, or 1 for a location or a cell.
INLINE u32 size_of_member(const V &v) { return v.kind == PAIR || v.kind == CELL ? 1 : length_of(v); }
/// Finds out the order of the members of a container and of their elements. For the elements of a patch `v`
/// these are places in its boards. Returns a failure, or NONE.
template <class T, int DEPTH> CALLED V open_members(const Ctx &c, const V &parent, const V *v, Members &m) {
  m.list = (const V *)parent.bits;
  m.count = parent.len;
  m.starts = (u16 *)T::room(c, (u64)m.count * 4);
  if (!m.starts) return stopped(MEMORY);
  m.outer = m.starts + m.count;
  m.total = 0;
  for (u32 from = 0; from < m.count; from += T::WIDTH) {
    typename T::template Own<u32> own;
    T::each([&](u32 l) { own[l] = from + l < m.count ? size_of_member(m.list[from + l]) : 0; });
    // Each lane adds up those before it.
    T::each([&](u32 l) {
      if (from + l >= m.count) return;
      u32 start = m.total;
      for (u32 k = 0; k < l; k++) start += size_of_member(m.list[from + k]);
      m.starts[from + l] = (u16)start;
    });
    m.total += T::sum_of(own);
  }
  if (m.total >= EMPTY) return stopped(SIZE);
  m.inner = (u16 *)T::room(c, (u64)m.total * 2);
  if (!m.inner) return stopped(MEMORY);
  T::wait();
  V failed = write_order<T, DEPTH>(c, parent, m.outer);
  if (failed.kind != NONE) return failed;
  typename T::template Own<u32> reasons;
  T::each([&](u32 l) {
    reasons[l] = 0;
    for (u32 k = l; k < m.count; k += T::WIDTH) {
      if (T::WIDTH > 1 && !is_short(m.count, m.list[k])) continue;
      V done = write_inner<Lone, DEPTH>(c, m, k, v);
      if (done.kind != NONE) reasons[l] |= done.a == MEMORY ? 2 : 1;
    }
  });
  T::wait();
  if (T::where([&](u32 l) { return reasons[l] & 2; })) return stopped(MEMORY);
  if (T::where([&](u32 l) { return reasons[l] & 1; })) return stopped(ORDER);
  for (u32 k = 0; T::WIDTH > 1 && k < m.count; k++) {
    if (is_short(m.count, m.list[k])) continue;
    failed = write_inner<T, DEPTH>(c, m, k, v);
    if (failed.kind != NONE) return failed;
  }
  return none();
}

/// Replays a patch that was made of two: their union or their difference. Returns a failure, or NONE.
template <class T, int DEPTH> INLINE V replay_two(const Ctx &c, const V &v, const Origin &origin, Replay &r) {
  const V &a = ((const V *)origin.parent.bits)[0], &b = ((const V *)origin.parent.bits)[1];
  Replay other;
  V failed = replay<T, DEPTH>(c, a, other);
  if (failed.kind != NONE) return failed;
  bool copy = origin.making == UNITE || size_of_patch(a) / 4 > size_of_patch(b);
  if (!copy) {
    add_those_of<T>(c, r, v, other, a);
    return none();
  }
  if (other.dummies) return stopped(ORDER);
  freeze<T>(other.table, other.hashes);
  u32 n = other.table.used, slots = other.table.mask + 1;
  each_below<T>(n, [&](u32 k) { other.places[k] = (u16)place_in(v, a, other.places[k]); });
  T::wait();
  if (origin.making == SUBTRACT) {
    // What is taken out leaves dummies.
    u32 left = 0;
    for (u32 from = 0; from < slots; from += T::WIDTH)
      left += popcount(T::where([&](u32 l) {
        if (from + l >= slots || other.table.slots[from + l] == EMPTY) return false;
        u16 &k = other.table.slots[from + l];
        bool stays = other.places[k] < NOWHERE;
        if (!stays) k = EMPTY;
        return stays;
      }));
    T::wait();
    r = other;
    r.table.used = left;
    r.dummies = true;
    return none();
  }
  each_below<T>(n, [&](u32 k) {
    r.places[k] = other.places[k];
    r.hashes[k] = other.hashes[k];
    r.seen[other.places[k]] = 1;
  });
  each_below<T>(slots, [&](u32 k) { r.table.slots[k] = other.table.slots[k]; });
  T::wait();
  r.table.mask = other.table.mask;
  r.table.used = n;
  failed = replay<T, DEPTH>(c, b, other);
  if (failed.kind == NONE) merge_into<T>(c, r, v, other, b);
  return failed;
}
/// Replays a patch that was made of other values. Returns a failure, or NONE.
template <class T, int DEPTH> INLINE V replay_made(const Ctx &c, const V &v, Replay &r) {
  if (DEPTH == 0) return stopped(ORDER);
  const int INNER = DEPTH ? DEPTH - 1 : 0;
  const Origin &origin = origin_of(v);
  const V &parent = origin.parent;
  const u16 *list = (const u16 *)origin.list;
  Replay other;
  V failed = none();
  switch (origin.making) {
    case SEQUENCE:
      add_places<T>(c, r, v, parent.len, [&](u32 k) { return list[k]; });
      return none();
    case IMAGES: {
      u32 n = length_of(parent);
      u16 *order = (u16 *)T::room(c, (u64)n * 2);
      if (!order) return stopped(MEMORY);
      failed = write_order<T, INNER>(c, parent, order);
      if (failed.kind == NONE) add_places<T>(c, r, v, n, [&](u32 k) { return list[order[k]]; });
      return failed;
    }
    case SCALED: {
      failed = replay<T, INNER>(c, parent, other);
      if (failed.kind != NONE) return failed;
      const u16 *all = in_order<T>(other);
      u32 times = v.a / parent.a, each = times * times;
      add_places<T>(c, r, v, other.table.used * each, [&](u32 k) {
        u32 at = all[k / each], p = k % each / times, q = k % times;
        return ((at >> 5) * times + p) << 5 | ((at & 31) * times + q);
      });
      freeze<T>(r.table, r.hashes);
      return none();
    }
    case UNITE:
    case SUBTRACT: return replay_two<T, INNER>(c, v, origin, r);
    default: break;
  }
  // One patch, or members of a container.
  if (is_patch(parent)) {
    failed = replay<T, INNER>(c, parent, other);
    if (failed.kind == NONE) add_those_of<T>(c, r, v, other, parent);
    return failed;
  }
  Members m;
  failed = open_members<T, INNER>(c, parent, &v, m);
  for (u32 k = 0; failed.kind == NONE && k < m.count; k++) {
    u32 own = m.outer[k];
    const u16 *places = m.inner + m.starts[own];
    add_places<T>(c, r, v, size_of_member(m.list[own]), [&](u32 j) { return places[j]; });
  }
  return failed;
}

/// The cells of the largest object whose fill a lane replays alone. Others would wait for it.
const u32 MOST_FLOODED = 64;

/// Replays how Python built a patch that is not empty. Returns a failure, or NONE.
template <class T, int DEPTH> CALLED V replay(const Ctx &c, const V &v, Replay &r) {
  u32 n = size_of_patch(v), depth = 0;
  V root = v;
  for (; has_own_places(root); depth++) root = origin_of(root).parent;
  u32 walk = n == 1 ? ROWS_BUILT : walk_of(root);
  if (walk == NO_WALK || (walk == FLOODED && T::WIDTH == 1 && n > MOST_FLOODED)) return stopped(ORDER);
  if (!open_replay<T>(c, r, root, n)) return stopped(MEMORY);
  bool done = true;
  switch (walk) {
    case FLOODED: done = replay_flood<T>(c, root, r); break;
    case FRAME: done = replay_frame<T>(c, root, r); break;
    case CROSS:
    case RING: done = replay_neighbors<T>(c, root, r, walk == RING); break;
    case MADE: {
      V failed = replay_made<T, DEPTH>(c, root, r);
      if (failed.kind != NONE) return failed;
      break;
    }
    default:
      // All places of the board, of which some are in the patch.
      add_places<T>(c, r, root, 32u * root.a, [&](u32 at) {
        return patch_row(root, 0, at >> 5) >> (at & 31) & 1 ? at : NOWHERE;
      });
  }
  if (!done) return stopped(MEMORY);
  if (walk == FLOODED || walk == ROWS_FROZEN) freeze<T>(r.table, r.hashes);
  if (r.table.used != n) return stopped(ORDER);
  // The sets that were built of it, one after the other.
  for (u32 level = depth; level-- > 0;) {
    V now = v;
    for (u32 k = 0; k < level; k++) now = origin_of(now).parent;
    in_order<T>(r);
    u16 *sequence = r.others;
    r.others = r.places;
    r.places = sequence;
    if (now.a > root.a) {
      // The transposed board is higher.
      r.seen = (u8 *)T::room(c, 32u * now.a);
      if (!r.seen) return stopped(MEMORY);
      root = now;
    }
    clear<T>(r, now);
    // Number k is read before it is written.
    add_places<T>(c, r, now, n, [&](u32 k) { return moved_place(now, sequence[k]); });
  }
  return none();
}

/// How deep patches may be made of each other, without those that keep their places. Each level is another
/// copy of the code, and more are rare.
const int DEEPEST = 2;

// ---- For ops --------------------------------------------------------------------------------------------

/// The first or the last element of a patch that is not empty, or a failure.
template <class T> CALLED V end_of_patch(const Ctx &c, const V &v, bool last) {
  if (!may_walk(v)) return stopped(ORDER);
  Replay r;
  V failed = replay<T, DEEPEST>(c, v, r);
  if (failed.kind != NONE) return failed;
  return element_at(v, r.places[end_of_table(r.table, last)]);
}
/// The same patch without a known order.
INLINE V unordered(V v) {
  v.bits = (u64)payload_of(v) | (u64)size_of_patch(v) << 48;
  return v;
}
