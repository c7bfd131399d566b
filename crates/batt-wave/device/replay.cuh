// The iteration order of patches and other sets: a team of lanes replays how Python built the set, as the notes
// of walk.cuh and sets.cuh say.

template <class T, int DEPTH> CALLED V write_order(const Ctx &c, const V &v, u16 *to);

// ---- Patches --------------------------------------------------------------------------------------------

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
  u8 direction[8]; // in iteration order: the number of a cell of 3 x 3, or the one in the middle if there are no more
  u8 slot[8];
};
const u32 MIDDLE = 4;
/// Those of a cell of a grid. A lane works at them alone.
INLINE Neighbors find_neighbors(i32 i, i32 j, bool diagonal, bool is_lowest, bool is_rightmost) {
  alignas(8) u16 room[4][32];
  u64 hashes[9];
  for (u32 k = 0; k < 9; k++) hashes[k] = hash_pair(i + (i32)(k / 3) - 1, j + (i32)(k % 3) - 1);
  Table near = {room[0], room[1], 7, 0}, around = {room[2], room[3], 7, 0};
  auto add = [&](Table &t, u32 direction) { add_all<Lone>(t, hashes, 1, [&](u32) { return direction; }); };
  clear<Lone>(near);
  add(near, 1);
  add(near, 7);
  add(near, 3);
  add(near, 5);
  if (diagonal) {
    clear<Lone>(around);
    for (u32 k = 0; k < 9; k += k == 2 ? 4 : 2) add(around, k);
    resize<Lone>(near, hashes, 32);
    for (u32 k = 0; k < 8; k++)
      if (around.slots[k] != EMPTY) add(near, around.slots[k]);
  }
  clear<Lone>(around);
  for (u32 k = 0; k <= near.mask; k++) {
    u32 own = near.slots[k];
    if (own == EMPTY) continue;
    bool outside = (own < 3 && i == 0) || (own > 5 && is_lowest) || (own % 3 == 0 && j == 0) || (own % 3 == 2 && is_rightmost);
    if (!outside) add(around, own);
  }
  Neighbors n;
  u32 count = 0;
  for (u32 k = 0; k <= around.mask; k++) {
    if (around.slots[k] == EMPTY) continue;
    n.direction[count] = (u8)around.slots[k];
    n.slot[count++] = (u8)k;
  }
  for (; count < 8; count++) n.direction[count] = MIDDLE, n.slot[count] = 0;
  return n;
}
/// The highest and widest grid with neighbours in the table.
const u32 MOST_NEIGHBORS_SIDE = 30;
/// The table of all neighbours has them for each cell, and there for each of 8 cases.
INLINE const Neighbors &neighbors_of(const Ctx &c, const Flood &flood, u32 i, u32 j) {
  const Neighbors *all = (const Neighbors *)((const Tables *)c.wave->tables)->neighbors;
  u32 edges = (u32)(i + 1 == flood.height) << 1 | (u32)(j + 1 == flood.width) << 2;
  return all[(i * MOST_NEIGHBORS_SIDE + j) * 8 + (edges | (flood.diagonal ? 1 : 0))];
}
LINKED void write_neighbors(const Node &node, u32 item) {
  u32 cell = item / 8;
  i32 i = (i32)(cell / MOST_NEIGHBORS_SIDE), j = (i32)(cell % MOST_NEIGHBORS_SIDE);
  ((Neighbors *)node.out)[item] = find_neighbors(i, j, item & 1, item & 2, item & 4);
}

/// The lowest rank of each object of a flood, if it has been found out.
INLINE u32 rank_in(const Flood &flood, u32 k, const u16 *ranks) {
  const u16 *known = (const u16 *)*(volatile const u64 *)&flood.ranks;
  return known ? known[k] : first_rank_alone(((const V *)flood.objects)[k], ranks, flood.width);
}
/// Finds them out, before each object asks for those of all.
template <class T> CALLED void find_ranks(const Ctx &c, Flood &flood) {
  if (T::where([&](u32) { return *(volatile u64 *)&flood.ranks != 0; })) return;
  u16 *to = (u16 *)T::room(c, (u64)flood.count * 2);
  if (!to) return;
  const u16 *ranks = ranks_of(c, flood.height, flood.width);
  each_below<T>(flood.count, [&](u32 k) {
    to[k] = (u16)first_rank_alone(((const V *)flood.objects)[k], ranks, flood.width);
  });
  T::wait();
  // Several warps may do so. They find the same.
  publish();
  each_below<T>(1, [&](u32) { *(volatile u64 *)&flood.ranks = (u64)to; });
  T::wait();
}
/// The flood of an object that `objects` found.
INLINE Flood &flood_of(const V &v) {
  const u32 *payload = payload_of(v);
  return *(Flood *)(payload[-2] | (u64)payload[-1] << 32);
}

/// Adds the cells of an object of a grid as its fill did. False if there is not enough memory.
template <class T> CALLED bool replay_flood(const Ctx &c, const V &v, Replay &r) {
  const u32 *payload = payload_of(v);
  const Flood &flood = flood_of(v);
  const u16 *ranks = ranks_of(c, flood.height, flood.width);
  i32 top = row_of(v.len), left = column_of(v.len);
  // Cells are numbered in the bounds with a margin of 1, where their neighbours are.
  u32 height = v.a + 2u, width = v.b + 2u, cells = height * width;
  u32 bytes = (cells + 7) & ~7u, room = min_of(size_above(4 * cells), 2048u);
  u64 *hashes = (u64 *)T::room(c, (u64)cells * 10 + (u64)room * 8 + 2 * bytes);
  if (!hashes) return false;
  u16 *slots = (u16 *)(hashes + cells);
  u8 *occupied = (u8 *)(slots + 4 * room), *reached = occupied + bytes;
  u16 *found = (u16 *)(reached + bytes);
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
      if (rank_in(flood, k, ranks) >= own) continue;
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
    each_below<T>(n, [&](u32 k) { occupied[found[k]] = 1; });
    T::wait();
    taken += n;
    clear<T>(reach);
    for (u32 k = 0; k < n; k++) {
      u32 at = found[k];
      const Neighbors near = neighbors_of(c, flood, (u32)top + at / width - 1, (u32)left + at % width - 1);
      u32 count = 0;
      while (count < 8 && near.direction[count] != MIDDLE) count++;
      auto cell = [&](u32 j) { return at + (near.direction[j] / 3 - 1) * width + near.direction[j] % 3 - 1; };
      make_room<T>(reach, hashes, count);
      // A table of the same size is copied slot by slot.
      if (reach.used == 0 && reach.mask == (is_full(count, 7) ? 31u : 7u)) {
        each_below<T>(count, [&](u32 j) { reach.slots[near.slot[j]] = (u16)cell(j); });
        T::wait();
        reach.used = count;
      } else {
        add_all<T>(reach, hashes, count, [&](u32 j) { return reached[cell(j)] ? (u32)EMPTY : cell(j); });
      }
      each_below<T>(count, [&](u32 j) { reached[cell(j)] = 1; });
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
  // Members are mostly objects of one grid.
  if (T::WIDTH > 1 && m.count > 1 && is_patch(m.list[0]) && walk_of(m.list[0]) == FLOODED)
    find_ranks<T>(c, flood_of(m.list[0]));
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

// ---- Other sets -----------------------------------------------------------------------------------------

/// Writes the numbers of a set's objects in the sequence of their lowest ranks.
template <class T> INLINE void write_by_rank(const Ctx &c, const V &set, u16 *sequence, u16 *keys) {
  const V *items = (const V *)set.bits;
  const u16 *ranks = ranks_of(c, set.a, set.b);
  each_below<T>(set.len, [&](u32 k) { keys[k] = (u16)first_rank_alone(items[k], ranks, set.b); });
  T::wait();
  each_below<T>(set.len, [&](u32 k) {
    u32 before = 0;
    for (u32 j = 0; j < set.len; j++) before += keys[j] < keys[k];
    sequence[before] = (u16)k;
  });
  T::wait();
}
/// Writes the numbers of a set's elements in the sequence in which they come from the members that it was made
/// of. Returns a failure, or NONE.
template <class T, int DEPTH> INLINE V write_of_members(const Ctx &c, const V &set, u16 *sequence, u8 *seen) {
  if (DEPTH == 0) return stopped(ORDER);
  const Note &note = note_of(set);
  const u16 *numbers = (const u16 *)note.numbers;
  Members m;
  V failed = open_members<T, (DEPTH ? DEPTH - 1 : 0)>(c, note.parent, nullptr, m);
  if (failed.kind != NONE) return failed;
  clear_bytes<T>(seen, set.len);
  u32 done = 0;
  for (u32 p = 0; p < m.count; p++) {
    u32 own = m.outer[p], start = m.starts[own];
    auto number = [&](u32 k) { return numbers[start + m.inner[start + k]]; };
    done += write_new<T>(length_of(m.list[own]), seen, sequence + done, number);
  }
  return none();
}
/// Writes the numbers of a set's elements in the sequence in which Python added them. Returns a failure, or
/// NONE.
template <class T, int DEPTH> INLINE V write_sequence(const Ctx &c, const V &set, u16 *sequence, u64 *scratch) {
  if (set.c == LATER) return write_of_members<T, DEPTH>(c, set, sequence, (u8 *)scratch);
  if (set.c == BY_RANK) write_by_rank<T>(c, set, sequence, (u16 *)scratch);
  else write_numbers<T>(sequence, set.len);
  return none();
}
/// Simulates the table of a SET that does not stand in order.
template <class T, int DEPTH> CALLED KnownTable table_of(const Ctx &c, const V &set) {
  KnownTable known;
  known.hashes = nullptr;
  known.reason = ORDER;
  if (!may_walk(set)) return known;
  V root = set;
  u32 depth = 0;
  for (; has_images(root); depth++) root = note_of(root).parent;
  // Numbers of 8 bytes, then slots, then numbers of 2 bytes.
  u32 most = (length_of(root) + 4) & ~3u, room = size_above(most * 4);
  known.reason = MEMORY;
  u64 *hashes = (u64 *)T::room(c, (u64)most * (8 + 3 * 2) + (u64)room * 4);
  if (!hashes) return known;
  Table &t = known.table;
  t.slots = (u16 *)(hashes + most);
  t.other = t.slots + room;
  u64 *scratch = (u64 *)(t.other + room);
  u16 *sequence = (u16 *)scratch + most, *order = sequence + most;
  bool is_set = root.kind == SET && root.len > 1 && root.c != IN_ORDER;
  if (!is_set) {
    V failed = is_patch(root) ? write_order_of_patch<T, DEPTH>(c, root, false, order) : none();
    if (!is_patch(root)) write_numbers<T>(order, length_of(root));
    known.reason = (Reason)failed.a;
    if (failed.kind != NONE) return known;
  }
  for (u32 level = depth + is_set; level-- > 0;) {
    V now = set;
    for (u32 k = 0; k < level; k++) now = note_of(now).parent;
    known.reason = ODD;
    if (!write_hashes<T, 2>(c, (const V *)now.bits, now.len, hashes)) return known;
    if (level == depth) {
      V failed = write_sequence<T, DEPTH>(c, now, sequence, scratch);
      known.reason = (Reason)failed.a;
      if (failed.kind != NONE) return known;
    } else {
      // What became of the elements of the parent.
      const Note &note = note_of(now);
      const u16 *numbers = (const u16 *)note.numbers;
      clear_bytes<T>((u8 *)scratch, now.len);
      auto number = [&](u32 k) { return numbers ? numbers[order[k]] : order[k]; };
      write_new<T>(length_of(note.parent), (u8 *)scratch, sequence, number);
    }
    T::wait();
    clear<T>(t);
    add_all<T>(t, hashes, now.len, [&](u32 k) { return sequence[k]; });
    if (now.c != BUILT && now.c != LATER) freeze<T>(t, hashes);
    if (level == 0) known.hashes = hashes;
    else write_slots<T>(t, order);
  }
  return known;
}
/// Writes the numbers of the elements of a container in iteration order. Patches are numbered row by row.
/// Returns a failure, or NONE.
template <class T, int DEPTH> CALLED V write_order(const Ctx &c, const V &v, u16 *to) {
  if (is_patch(v) && size_of_patch(v) > 1) return write_order_of_patch<T, DEPTH>(c, v, false, to);
  if (v.kind != SET || v.len < 2 || v.c == IN_ORDER) {
    write_numbers<T>(to, length_of(v));
    return none();
  }
  KnownTable known = table_of<T, DEPTH>(c, v);
  if (!known.hashes) return stopped(known.reason);
  write_slots<T>(known.table, to);
  return none();
}

// ---- For ops --------------------------------------------------------------------------------------------

/// How deep patches may be made of each other, without those that keep their places. Each level is another
/// copy of the code, and more are rare.
const int DEEPEST = 2;

LINKED KnownTable known_table(const Ctx &c, const V &set) { return table_of<Warp, DEEPEST>(c, set); }
template <class T> LINKED V write_order_of(const Ctx &c, const V &v, u16 *to) {
  return write_order<T, DEEPEST>(c, v, to);
}
template <class T> LINKED V end_of_set(const Ctx &c, const V &v, bool last) {
  if (!may_walk(v)) return stopped(ORDER);
  if (length_of(v) > MOST_ORDERED) return stopped(SIZE);
  if (is_patch(v)) {
    Replay r;
    V failed = replay<T, DEEPEST>(c, v, r);
    return failed.kind == NONE ? element_at(v, r.places[end_of_table(r.table, last)]) : failed;
  }
  KnownTable known = table_of<T, DEEPEST>(c, v);
  return known.hashes ? ((const V *)v.bits)[end_of_table(known.table, last)] : stopped(known.reason);
}

#ifndef BATT_HOST
template __device__ V write_order_of<Warp>(const Ctx &c, const V &v, u16 *to);
template __device__ V write_order_of<Lone>(const Ctx &c, const V &v, u16 *to);
template __device__ V end_of_set<Warp>(const Ctx &c, const V &v, bool last);
template __device__ V end_of_set<Lone>(const Ctx &c, const V &v, bool last);
#endif
