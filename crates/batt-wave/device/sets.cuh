// The iteration order of sets that are no patches, worked out when an op asks for it.

// These are in container.cuh and closures.cuh, which come later.
template <int DEPTH> CALLED bool hash_alone(const Ctx &c, const V &v, u64 *hash);
CALLED bool spread_elements(const Ctx &c, const V &v, V *to);

// ---- Notes on how a set was made ------------------------------------------------------------------------

/// What a LATER set was made of. `a` of the set counts the sets that were made of each other one by one up
/// to here, and `b` how deep sets of members are in each other.
struct Note {
  V parent;
  u64 numbers; // of u16: for each element of the parent, or for each of its members one after the other, the
               // number of the element it became, or EMPTY; 0 if the numbers are the same
  u32 members; // do the elements come from the members of the parent?
  u32 unused;
};
/// The room that a note takes behind the elements, in values.
const u32 NOTE_ROOM = sizeof(Note) / sizeof(V);
/// The most sets that are made of each other before one of them is put in order, and how deep they nest.
const u32 MOST_LEVELS = 4, MOST_NESTING = 2;

INLINE bool has_note(const V &v) { return v.kind == SET && v.c == LATER; }
INLINE const Note &note_of(const V &set) { return *(const Note *)((const V *)set.bits + set.len); }
/// Does the order of a set follow from that of one other container?
INLINE bool has_images(const V &v) { return has_note(v) && !note_of(v).members; }
INLINE u32 levels_of(const V &v) { return has_images(v) ? v.a : 0; }
INLINE u32 nesting_of(const V &v) { return has_note(v) ? v.b : 0; }

/// The set of n distinct values, behind which there is room for a note.
INLINE V set_with_note(V *items, u32 n, const Note &note, u32 levels, u32 nesting) {
  if (n == 1) return make(SET, 0, 0, IN_ORDER, 1, (u64)items);
  *(Note *)(items + n) = note;
  return make(SET, (u8)levels, (u8)nesting, LATER, n, (u64)items);
}
/// The set of n values that are made of the elements of the parent.
INLINE V set_of_images(V *items, u32 n, const V &parent, const u16 *numbers) {
  return set_with_note(items, n, {parent, (u64)numbers, 0, 0}, levels_of(parent) + 1, nesting_of(parent));
}
/// The same with the elements of the parent's members.
INLINE V set_of_members(V *items, u32 n, const V &parent, const u16 *numbers, u32 nesting) {
  return set_with_note(items, n, {parent, (u64)numbers, 1, 0}, 0, nesting);
}

// ---- Replaying ------------------------------------------------------------------------------------------

/// Python's table of a SET.
struct KnownTable {
  Table table;
  u64 *hashes;   // by the number of the element; one more may be written
  Reason reason; // why there is no table, if `hashes` is null
};

template <class T> INLINE void write_numbers(u16 *to, u32 n) {
  each_below<T>(n, [&](u32 k) { to[k] = (u16)k; });
  T::wait();
}
/// Writes the hashes of some values. False if one of them is not known.
template <class T> CALLED bool write_hashes(const Ctx &c, const V *items, u32 n, u64 *to) {
  // A lane takes as long for a value as it has elements.
  bool by_lanes = T::WIDTH == 1 || !T::where([&](u32 l) {
    for (u32 k = l; k < n; k += T::WIDTH)
      if (length_of(items[k]) > 2 * n) return true;
    return false;
  });
  if (by_lanes)
    return !T::where([&](u32 l) {
      bool unknown = false;
      for (u32 k = l; k < n; k += T::WIDTH) unknown |= !hash_alone<2>(c, items[k], to + k);
      return unknown;
    });
  for (u32 k = 0; k < n; k++) {
    u64 hash;
    if (!hash_value<2>(c, items[k], &hash)) return false;
    put(to + k, hash);
  }
  return true;
}
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
    if (!write_hashes<T>(c, (const V *)now.bits, now.len, hashes)) return known;
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

/// The first or the last element of a set or a patch that does not stand in order, or a failure.
template <class T> CALLED V end_of_set(const Ctx &c, const V &v, bool last) {
  if (is_patch(v)) return end_of_patch<T>(c, v, last);
  if (v.len > MOST_ORDERED) return stopped(SIZE);
  KnownTable known = table_of<T, DEEPEST>(c, v);
  return known.hashes ? ((const V *)v.bits)[end_of_table(known.table, last)] : stopped(known.reason);
}

/// More elements than one lane puts in order by itself.
const u32 MOST_ALONE = 512;

/// Writes the elements of a set in iteration order, by a lane alone. Returns a failure, or NONE.
CALLED V list_alone(const Ctx &c, const V &set, V *to) {
  if (set.len > MOST_ALONE) return stopped(SIZE);
  u16 *order = (u16 *)take_alone(c, (u64)set.len * 2);
  if (!order) return stopped(MEMORY);
  V failed = write_order<Lone, DEEPEST>(c, set, order);
  for (u32 k = 0; k < set.len && failed.kind == NONE; k++) to[k] = ((const V *)set.bits)[order[k]];
  return failed;
}

// ---- For all lanes --------------------------------------------------------------------------------------

/// The numbers of a container's elements in iteration order, or null; then `failed` says why.
CALLED const u16 *order_of(const Ctx &c, const V &v, V &failed) {
  failed = stopped(ORDER);
  if (!may_walk(v)) return nullptr;
  failed = stopped(SIZE);
  u32 n = length_of(v);
  if (n > MOST_ORDERED) return nullptr;
  failed = stopped(MEMORY);
  u16 *order = (u16 *)take(c, (u64)n * 2);
  if (!order) return nullptr;
  failed = write_order<Warp, DEEPEST>(c, v, order);
  return failed.kind == NONE ? order : nullptr;
}
/// Does a container not stand in its iteration order?
INLINE bool is_unordered(const V &v) {
  return is_patch(v) ? size_of_patch(v) > 1 : v.kind == SET && v.len > 1 && v.c != IN_ORDER;
}
/// A container with its elements in iteration order, or STOPPED. Patches become a SET.
CALLED V with_order(const Ctx &c, const V &v) {
  if (!is_unordered(v)) return v;
  V failed;
  const u16 *order = order_of(c, v, failed);
  if (!order) return failed;
  u32 n = length_of(v);
  V *to = (V *)take(c, (u64)n * sizeof(V));
  const V *items = (const V *)v.bits;
  if (is_patch(v)) {
    V *all = (V *)take(c, (u64)n * sizeof(V));
    if (!all || !spread_elements(c, v, all)) return stopped(MEMORY);
    sync();
    items = all;
  }
  if (!to) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) to[k] = items[order[k]];
    return 0u;
  });
  return make(SET, 0, 0, IN_ORDER, n, (u64)to);
}
/// A set that was made of many others, put in order, so that it does not take more of them.
INLINE V settled(const Ctx &c, const V &set) {
  if (levels_of(set) <= MOST_LEVELS) return set;
  sync();
  V sorted = with_order(c, set);
  sync();
  return is_value(sorted) ? sorted : make(SET, 0, 0, UNKNOWN, set.len, set.bits);
}
