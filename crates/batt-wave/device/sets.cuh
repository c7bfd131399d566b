// The iteration order of sets that are no patches, worked out when an op asks for it.

// ---- Elements -------------------------------------------------------------------------------------------

/// Is an element of this value read by its place?
INLINE bool is_container(const V &v) { return v.kind >= GRID && v.kind <= SET; }

/// Writes the elements of a container. Patches go row by row.
CALLED bool spread_elements(const Ctx &c, const V &v, V *to) {
  if (v.kind == TUPLE || v.kind == SET) {
    const V *from = (const V *)v.bits;
    (void)rows([&](u32 l) {
      for (u32 k = l; k < v.len; k += 32) to[k] = from[k];
      return 0u;
    });
    return true;
  }
  if (is_patch(v)) {
    Patch p = patch_of(v);
    if (p.size == 0) return true;
    bool cells = v.kind == OBJECT, several = cells && p.color == PLANES;
    Rows plane[4];
    if (several)
      for (u32 k = 0; k < 4; k++) plane[k] = plane_of(v, k);
    Rows before = sums_before(rows([&](u32 l) { return popcount(p.mask[l]); }));
    (void)rows([&](u32 l) {
      u32 at = before[l];
      for (u32 todo = p.mask[l]; todo; todo &= todo - 1) {
        u32 j = lowest(todo), color = p.color;
        if (several) {
          color = 0;
          for (u32 k = 0; k < 4; k++) color |= (plane[k][l] >> j & 1) << k;
        }
        u32 where = place(p.top + (i32)l, p.left + (i32)j);
        to[at++] = cells ? make(CELL, (u8)color, 0, 0, where, 0) : make(PAIR, 0, 0, 0, where, 0);
      }
      return 0u;
    });
    return true;
  }
  // The rows of a grid.
  Grid g = grid_of(v);
  Rows widths = v.kind == RAGGED ? load_rows((const u32 *)v.bits + 128, g.height)
                                 : rows([&](u32) { return g.width; });
  V *cells = (V *)take(c, (u64)g.height * SIDE * sizeof(V));
  if (!cells) return false;
  (void)rows([&](u32 l) {
    if (l >= g.height) return 0u;
    V *own = cells + l * SIDE;
    u32 width = widths[l];
    for (u32 j = 0; j < width; j++) {
      u32 color = 0;
      for (u32 k = 0; k < 4; k++) color |= (g.plane[k][l] >> j & 1) << k;
      own[j] = integer(color);
    }
    bool cell = width == 3 && has_triples(c);
    to[l] = width == 2 ? pair((i32)own[0].bits, (i32)own[1].bits)
            : cell     ? make(CELL, (u8)own[2].bits, 0, 0, place((i32)own[0].bits, (i32)own[1].bits), 0)
                       : make(TUPLE, 0, 0, 0, width, (u64)own);
    return 0u;
  });
  return true;
}

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

// ---- Orders ---------------------------------------------------------------------------------------------

/// Python's table of a SET.
struct KnownTable {
  Table table;
  u64 *hashes;   // by the number of the element; one more may be written
  Reason reason; // why there is no table, if `hashes` is null
};

// replay.cuh has the following. On a GPU it is compiled by itself, because it takes as long as hundreds of ops.
#ifdef BATT_HOST
#define LINKED static inline
#else
#define LINKED __device__ __noinline__
#endif

/// Simulates the table of a SET that does not stand in order.
LINKED KnownTable known_table(const Ctx &c, const V &set);
/// Writes the numbers of the elements of a container in iteration order. Patches are numbered row by row.
/// Returns a failure, or NONE.
template <class T> LINKED V write_order_of(const Ctx &c, const V &v, u16 *to);
/// The first or the last element of a set or a patch that does not stand in order, or a failure.
template <class T> LINKED V end_of_set(const Ctx &c, const V &v, bool last);
/// Writes an entry of the table of neighbours. out: the Neighbors.
LINKED void write_neighbors(const Node &node, u32 item);

template <class T> INLINE void write_numbers(u16 *to, u32 n) {
  each_below<T>(n, [&](u32 k) { to[k] = (u16)k; });
  T::wait();
}
/// May a lane put one of n members in order by itself, while others do the same?
INLINE bool is_short(u32 n, const V &member) { return length_of(member) <= min_of(n, 32u) * 3 / 2; }
/// More elements than one lane puts in order by itself.
const u32 MOST_ALONE = 512;

/// Writes the elements of a set in iteration order, by a lane alone. Returns a failure, or NONE.
CALLED V list_alone(const Ctx &c, const V &set, V *to) {
  if (set.len > MOST_ALONE) return stopped(SIZE);
  u16 *order = (u16 *)take_alone(c, (u64)set.len * 2);
  if (!order) return stopped(MEMORY);
  V failed = write_order_of<Lone>(c, set, order);
  for (u32 k = 0; k < set.len && failed.kind == NONE; k++) to[k] = ((const V *)set.bits)[order[k]];
  return failed;
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
  failed = write_order_of<Warp>(c, v, order);
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
