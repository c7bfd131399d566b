// CPython's table of a set, simulated.
//
// One lane works at a table, and the others wait.

const u16 EMPTY = 0xffff;

/// Two buffers of slots, which hold the numbers of elements.
struct Table {
  u16 *slots, *other;
  u32 mask, used;
};

INLINE u32 free_slot(const u16 *slots, u32 mask, u64 hash) {
  u64 perturb = hash;
  u32 i = (u32)hash & mask;
  for (;;) {
    if (slots[i] == EMPTY) return i;
    if (i + 9 <= mask)
      for (u32 k = 1; k <= 9; k++)
        if (slots[i + k] == EMPTY) return i + k;
    perturb >>= 5;
    i = (u32)((u64)i * 5 + 1 + perturb) & mask;
  }
}
/// Moves all elements to a table of this many slots.
CALLED void resize(Table &t, const u64 *hashes, u32 size) {
  u16 *from = t.slots;
  t.slots = t.other;
  t.other = from;
  for (u32 k = 0; k < size; k++) t.slots[k] = EMPTY;
  for (u32 k = 0; k <= t.mask; k++)
    if (from[k] != EMPTY) t.slots[free_slot(t.slots, size - 1, hashes[from[k]])] = from[k];
  t.mask = size - 1;
}
INLINE u32 size_above(u32 n) {
  u32 size = 8;
  while (size <= n) size *= 2;
  return size;
}
/// Adds an element that the table does not have.
CALLED void add(Table &t, const u64 *hashes, u16 element) {
  t.slots[free_slot(t.slots, t.mask, hashes[element])] = element;
  t.used++;
  if (t.used * 5 >= t.mask * 3) resize(t, hashes, size_above(t.used * 4));
}
/// `frozenset(set)` of a set that only grew.
INLINE void freeze(Table &t, const u64 *hashes) {
  u32 size = t.used * 5 >= 7 * 3 ? size_above(t.used * 2) : 8;
  // A table of the same size is copied slot by slot.
  if (size != t.mask + 1) resize(t, hashes, size);
}

/// For every cell of a grid, its place in the iteration order of the set of all locations; grids of up to 30 x 30.
INLINE const u16 *ranks_of(const Ctx &c, u32 height, u32 width) {
  const u16 *all = (const u16 *)((const Tables *)c.wave->tables)->ranks;
  return all + 465 * (height * (height - 1) / 2) + height * (width * (width - 1) / 2);
}
/// The lowest rank of the locations of a patch.
INLINE u32 first_rank(const V &v, const u16 *ranks, u32 width) {
  Patch p = patch_of(v);
  return least(rows([&](u32 l) {
    u32 lowest_rank = 0xffffffffu;
    for (u32 todo = p.mask[l]; todo; todo &= todo - 1)
      lowest_rank = min_of(lowest_rank, (u32)ranks[((u32)p.top + l) * width + (u32)p.left + lowest(todo)]);
    return lowest_rank;
  }));
}

/// More elements than a table of 16-bit numbers is worth.
const u32 MOST_ORDERED = 4096;
