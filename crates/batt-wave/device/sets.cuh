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

// ---- For a lane alone -----------------------------------------------------------------------------------

/// Python's table of a SET.
struct KnownTable {
  Table table;
  u64 *hashes;   // by the number of the element; one more may be written
  Reason reason; // why there is no table, if `hashes` is null
};
/// What all lanes have found out about a set before one of them makes its table.
struct Prepared {
  u64 *hashes[MOST_LEVELS + 2]; // of the set, of its parent and so on
  u16 *sequence;                // of the last of them, if not null
};

INLINE void write_numbers(u16 *to, u32 n) {
  for (u32 k = 0; k < n; k++) to[k] = (u16)k;
}
/// Writes the numbers of a set's objects in the sequence of their lowest ranks.
INLINE void write_by_rank(const Ctx &c, const V &set, u16 *sequence, u16 *keys) {
  const V *items = (const V *)set.bits;
  const u16 *ranks = ranks_of(c, set.a, set.b);
  for (u32 k = 0; k < set.len; k++) keys[k] = (u16)first_rank_alone(items[k], ranks, set.b);
  for (u32 k = 0; k < set.len; k++) {
    u32 before = 0;
    for (u32 j = 0; j < set.len; j++) before += keys[j] < keys[k];
    sequence[before] = (u16)k;
  }
}
/// The members of which a set was made.
struct Members {
  const V *list;
  u32 count;
  u16 *outer, *starts; // their order, and where the numbers of each begin
  u16 *inner;          // the order of the elements of each
};
/// Takes memory for them with `take_some`. False if there is not enough.
template <class F> INLINE bool open_members(const V &set, Members &m, F take_some) {
  const V &parent = note_of(set).parent;
  m.list = (const V *)parent.bits;
  m.count = parent.len;
  u32 all = 0;
  for (u32 k = 0; k < m.count; k++) all += length_of(m.list[k]);
  m.outer = (u16 *)take_some((u64)(2 * m.count + all) * 2);
  m.starts = m.outer + m.count;
  m.inner = m.starts + m.count;
  return m.outer;
}
INLINE void write_starts(Members &m) {
  for (u32 k = 0, start = 0; k < m.count; k++) m.starts[k] = (u16)start, start += length_of(m.list[k]);
}
/// Writes the numbers of a set's elements in the sequence in which they come from its members. `seen` has a word
/// for each.
CALLED void write_of_members(const V &set, const Members &m, u16 *sequence, u16 *seen) {
  const u16 *numbers = (const u16 *)note_of(set).numbers;
  u32 n = 0;
  for (u32 k = 0; k < set.len; k++) seen[k] = 0;
  for (u32 p = 0; p < m.count; p++) {
    u32 start = m.starts[m.outer[p]];
    for (u32 k = 0; k < length_of(m.list[m.outer[p]]); k++) {
      u32 own = numbers[start + m.inner[start + k]];
      if (seen[own]) continue;
      seen[own] = 1;
      sequence[n++] = (u16)own;
    }
  }
}
/// The same for a lane that knows no order yet. Returns a failure, or NONE.
template <int DEPTH> INLINE V write_of_members_alone(const Ctx &c, const V &set, u16 *sequence, u16 *seen) {
  if (DEPTH == 0) return stopped(ORDER);
  const int INNER = DEPTH ? DEPTH - 1 : 0;
  Members m;
  if (!open_members(set, m, [&](u64 bytes) { return take_alone(c, bytes); })) return stopped(MEMORY);
  write_starts(m);
  V failed = write_order<INNER>(c, note_of(set).parent, m.outer);
  for (u32 k = 0; k < m.count && failed.kind == NONE; k++)
    failed = write_order<INNER>(c, m.list[k], m.inner + m.starts[k]);
  if (failed.kind == NONE) write_of_members(set, m, sequence, seen);
  return failed;
}
/// Writes the numbers of a set's elements in the sequence in which Python added them. Returns a failure, or
/// NONE.
template <int DEPTH> INLINE V write_sequence(const Ctx &c, const V &set, u16 *sequence, u16 *scratch) {
  if (set.c == LATER) return write_of_members_alone<DEPTH>(c, set, sequence, scratch);
  if (set.c == BY_RANK) write_by_rank(c, set, sequence, scratch);
  else write_numbers(sequence, set.len);
  return none();
}
INLINE void write_slots(const Table &t, u16 *to) {
  u32 n = 0;
  for (u32 slot = 0; slot <= t.mask; slot++)
    if (t.slots[slot] != EMPTY) to[n++] = t.slots[slot];
}
/// The order of a patch: its elements are numbered row by row.
template <int DEPTH> CALLED V write_order_of_patch(const Ctx &c, const V &v, u16 *to) {
  if (!may_walk(v)) return stopped(ORDER);
  Replay r;
  V failed = replay<DEPTH>(c, v, r);
  if (failed.kind != NONE) return failed;
  u32 before[SIDE], n = 0;
  for (u32 l = 0, sum = 0; l < v.a; l++) before[l] = sum, sum += popcount(patch_row(v, 0, l));
  each_place(r, [&](u32 at) {
    to[n++] = (u16)(before[at >> 5] + popcount(patch_row(v, 0, at >> 5) & low(at & 31)));
  });
  return none();
}
/// Simulates the table of a SET that does not stand in order.
template <int DEPTH> CALLED KnownTable table_of(const Ctx &c, const V &set, const Prepared *prepared) {
  KnownTable known;
  known.hashes = nullptr;
  known.reason = ORDER;
  if (!may_walk(set)) return known;
  V root = set;
  u32 depth = 0;
  for (; has_images(root); depth++) root = note_of(root).parent;
  u32 most = length_of(root) + 1, room = size_above(most * 4);
  known.reason = MEMORY;
  u64 *hashes = (u64 *)take_alone(c, (u64)most * (8 + 3 * 2) + (u64)room * 4);
  if (!hashes) return known;
  u16 *sequence = (u16 *)(hashes + most), *order = sequence + most, *scratch = order + most;
  Table &t = known.table;
  t.slots = scratch + most;
  t.other = t.slots + room;
  bool is_set = root.kind == SET && root.len > 1 && root.c != IN_ORDER;
  if (!is_set) {
    V failed = is_patch(root) ? write_order_of_patch<DEPTH>(c, root, order) : none();
    if (!is_patch(root)) write_numbers(order, most - 1);
    known.reason = (Reason)failed.a;
    if (failed.kind != NONE) return known;
  }
  for (u32 level = depth + is_set; level-- > 0;) {
    V now = set;
    for (u32 k = 0; k < level; k++) now = note_of(now).parent;
    const V *items = (const V *)now.bits;
    u64 *own = prepared ? prepared->hashes[level] : hashes;
    known.reason = ODD;
    for (u32 k = 0; k < now.len && !prepared; k++)
      if (!hash_alone<2>(c, items[k], own + k)) return known;
    const u16 *added = sequence;
    if (level == depth) {
      if (prepared && prepared->sequence) {
        added = prepared->sequence;
      } else {
        V failed = write_sequence<DEPTH>(c, now, sequence, scratch);
        known.reason = (Reason)failed.a;
        if (failed.kind != NONE) return known;
      }
    } else {
      // What became of the elements of the parent.
      const Note &note = note_of(now);
      const u16 *numbers = (const u16 *)note.numbers;
      u32 n = 0;
      for (u32 k = 0; k < now.len; k++) scratch[k] = 0;
      for (u32 k = 0; k < length_of(note.parent); k++) {
        u32 number = numbers ? numbers[order[k]] : order[k];
        if (number == EMPTY || scratch[number]) continue;
        scratch[number] = 1;
        sequence[n++] = (u16)number;
      }
    }
    clear(t);
    for (u32 k = 0; k < now.len; k++) add(t, own, added[k]);
    if (now.c != BUILT && now.c != LATER) freeze(t, own);
    if (level == 0) known.hashes = own;
    else write_slots(t, order);
  }
  return known;
}
/// Writes the numbers of the elements of a container in iteration order. Patches are numbered row by row.
/// Returns a failure, or NONE.
template <int DEPTH> CALLED V write_order(const Ctx &c, const V &v, u16 *to) {
  if (is_patch(v) && size_of_patch(v) > 1) return write_order_of_patch<DEPTH>(c, v, to);
  if (v.kind != SET || v.len < 2 || v.c == IN_ORDER) {
    write_numbers(to, length_of(v));
    return none();
  }
  KnownTable known = table_of<DEPTH>(c, v, nullptr);
  if (!known.hashes) return stopped(known.reason);
  write_slots(known.table, to);
  return none();
}

/// More elements than one lane puts in order.
const u32 MOST_ALONE = 512;

/// Writes the elements of a set in iteration order. Returns a failure, or NONE.
CALLED V list_alone(const Ctx &c, const V &set, V *to) {
  if (set.len > MOST_ALONE) return stopped(SIZE);
  u16 *order = (u16 *)take_alone(c, (u64)set.len * 2);
  if (!order) return stopped(MEMORY);
  V failed = write_order<DEEPEST>(c, set, order);
  for (u32 k = 0; k < set.len && failed.kind == NONE; k++) to[k] = ((const V *)set.bits)[order[k]];
  return failed;
}

// ---- For all lanes --------------------------------------------------------------------------------------

/// Writes the hashes of some values. False if one of them is not known.
CALLED bool write_hashes(const Ctx &c, const V *items, u32 n, u64 *to) {
  bool scalar = !rows_of(rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32)
      if (!is_scalar(items[k])) return 1u;
    return 0u;
  }));
  if (!scalar) {
    for (u32 k = 0; k < n; k++) {
      u64 hash;
      if (!hash_value<2>(c, items[k], &hash)) return false;
      put(to + k, hash);
    }
    return true;
  }
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) hash_alone<0>(c, items[k], to + k);
    return 0u;
  });
  return true;
}
/// The sequence of a set's objects by their lowest ranks. Null if there is no memory.
INLINE u16 *sequence_by_rank(const Ctx &c, const V &set) {
  u16 *sequence = (u16 *)take(c, (u64)set.len * 4), *keys = sequence + set.len;
  if (!sequence) return nullptr;
  const V *items = (const V *)set.bits;
  const u16 *ranks = ranks_of(c, set.a, set.b);
  for (u32 k = 0; k < set.len; k++) put(keys + k, (u16)first_rank(items[k], ranks, set.b));
  sync();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < set.len; k += 32) {
      u32 before = 0;
      for (u32 j = 0; j < set.len; j++) before += keys[j] < keys[k];
      sequence[before] = (u16)k;
    }
    return 0u;
  });
  return sequence;
}
/// The sequence of a set that was made of members, each of which one lane puts in order. Null if it is not known;
/// then `failed` says why.
CALLED u16 *sequence_of_members(const Ctx &c, const V &set, V &failed) {
  Members m;
  u16 *sequence = (u16 *)take(c, (u64)set.len * 4);
  failed = stopped(MEMORY);
  if (!sequence || !open_members(set, m, [&](u64 bytes) { return take(c, bytes); })) return nullptr;
  u32 reason = alone([&]() {
    write_starts(m);
    V done = write_order<DEEPEST - 1>(c, note_of(set).parent, m.outer);
    return done.kind == NONE ? 0u : 1u + done.a;
  });
  u32 unknown = columns_of(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < m.count && !reason; k += 32) {
      V done = write_order<DEEPEST - 1>(c, m.list[k], m.inner + m.starts[k]);
      if (done.kind != NONE) own |= done.a == MEMORY ? 2 : 1;
    }
    return own;
  }));
  failed = reason ? stopped((Reason)(reason - 1)) : stopped(unknown & 2 ? MEMORY : ORDER);
  if (reason || unknown) return nullptr;
  sync();
  alone([&]() {
    write_of_members(set, m, sequence, sequence + set.len);
    return 0u;
  });
  return sequence;
}
/// Finds out what all lanes can about a set that does not stand in order. Returns a failure, or NONE.
CALLED V prepare(const Ctx &c, const V &set, Prepared &prepared) {
  V now = set;
  prepared.sequence = nullptr;
  for (u32 level = 0;; level++) {
    if (now.kind != SET || now.len < 2 || now.c == IN_ORDER) return none();
    prepared.hashes[level] = (u64 *)take(c, (u64)(now.len + 1) * 8);
    if (!prepared.hashes[level]) return stopped(MEMORY);
    if (!write_hashes(c, (const V *)now.bits, now.len, prepared.hashes[level])) return stopped(ODD);
    if (!has_images(now)) break;
    now = note_of(now).parent;
  }
  V failed = stopped(MEMORY);
  if (now.c == BY_RANK) prepared.sequence = sequence_by_rank(c, now);
  else if (now.c == LATER) prepared.sequence = sequence_of_members(c, now, failed);
  else return none();
  return prepared.sequence ? none() : failed;
}

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
  Prepared prepared;
  failed = prepare(c, v, prepared);
  if (failed.kind != NONE) return nullptr;
  sync();
  u32 reason = alone([&]() {
    if (v.kind != SET) {
      V done = write_order<DEEPEST>(c, v, order);
      return done.kind == NONE ? 0u : 1u + done.a;
    }
    KnownTable known = table_of<DEEPEST>(c, v, &prepared);
    if (!known.hashes) return 1u + known.reason;
    write_slots(known.table, order);
    return 0u;
  });
  if (reason) failed = stopped((Reason)(reason - 1));
  return reason ? nullptr : order;
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
