// CPython's set table, simulated slot by slot: the twin of batt-dsl/src/set/layout.rs.
//
// Tables hold element *numbers*: positions in an array of distinct elements whose hashes are at hand. Each is built by
// one lane: by lane 0, inside `if (lane() == 0) { ... }`, or several by a lane each (see for_each_object). Nothing here is a
// collective but the functions that say so.

const u32 EMPTY = 0xffffffffu;
const u32 DUMMY = 0xfffffffeu;
const u32 LINEAR_PROBES = 9;

struct Table {
  u32 *slots, *other; // two buffers of table_room(n) slots each
  u32 mask, fill, used;
};

/// How many slots a table of n elements has at most.
INLINE u32 table_room(u32 n) {
  u32 size = 8;
  while (size <= (u64)n * 4) size *= 2;
  return size;
}

INLINE void table_clear(Table &t) {
  for (u32 k = 0; k < 8; k++) t.slots[k] = EMPTY;
  t.mask = 7;
  t.fill = 0;
  t.used = 0;
}

/// Follows the probe sequence to `element` or to the empty slot that ends it.
INLINE u32 table_probe(const u32 *slots, u32 mask, u64 hash, u32 element) {
  u64 perturb = hash;
  u32 i = (u32)hash & mask;
  for (;;) {
    u32 s = slots[i];
    if (s == EMPTY || s == element) return i;
    if (i + LINEAR_PROBES <= mask) {
      for (u32 k = 1; k <= LINEAR_PROBES; k++) {
        s = slots[i + k];
        if (s == EMPTY || s == element) return i + k;
      }
    }
    perturb >>= 5;
    i = (u32)((u64)i * 5 + 1 + perturb) & mask;
  }
}

OUTLINE void table_resize(Table &t, const u64 *hashes, u32 wanted) {
  u32 size = 8;
  while (size <= wanted) size *= 2;
  if (size == 8 && t.mask == 7 && t.fill == t.used) return;
  u32 *from = t.slots;
  t.slots = t.other;
  t.other = from;
  for (u32 k = 0; k < size; k++) t.slots[k] = EMPTY;
  for (u32 k = 0; k <= t.mask; k++) {
    u32 e = from[k];
    if (e < DUMMY) t.slots[table_probe(t.slots, size - 1, hashes[e], EMPTY)] = e;
  }
  t.mask = size - 1;
  t.fill = t.used;
}

/// Adds an element if it is not there yet, growing like CPython.
OUTLINE void table_add(Table &t, const u64 *hashes, u32 element) {
  u32 at = table_probe(t.slots, t.mask, hashes[element], element);
  if (t.slots[at] == element) return;
  t.slots[at] = element;
  t.fill++;
  t.used++;
  if ((u64)t.fill * 5 >= (u64)t.mask * 3) table_resize(t, hashes, t.used * (t.used > 50000 ? 2 : 4));
}

/// CPython's set_merge: takes in a table of `live` elements. `slot_of(k)` and `number_of(k)` give slot and number of
/// its k-th element in iteration order.
template <class Slot, class Number>
INLINE void table_merge(Table &t, const u64 *hashes, u32 live, u32 size, bool dummies, Slot slot_of, Number number_of) {
  if (live == 0) return;
  if ((u64)(t.fill + live) * 5 >= (u64)t.mask * 3) table_resize(t, hashes, (t.used + live) * 2);
  if (t.fill > 0) {
    for (u32 k = 0; k < live; k++) table_add(t, hashes, number_of(k));
    return;
  }
  bool same = t.mask + 1 == size && !dummies;
  for (u32 k = 0; k < live; k++) {
    u32 e = number_of(k);
    u32 at = same ? slot_of(k) : table_probe(t.slots, t.mask, hashes[e], EMPTY);
    t.slots[at] = e;
  }
  t.fill = live;
  t.used = live;
}

/// Takes in another table under construction, with the same numbers.
OUTLINE void table_merge_table(Table &t, const u64 *hashes, const Table &from) {
  if (from.used == 0) return;
  if ((u64)(t.fill + from.used) * 5 >= (u64)t.mask * 3) table_resize(t, hashes, (t.used + from.used) * 2);
  bool adding = t.fill > 0;
  bool same = t.mask == from.mask && from.fill == from.used;
  for (u32 k = 0; k <= from.mask; k++) {
    u32 e = from.slots[k];
    if (e >= DUMMY) continue;
    if (adding) table_add(t, hashes, e);
    else t.slots[same ? k : table_probe(t.slots, t.mask, hashes[e], EMPTY)] = e;
  }
  if (!adding) t.fill = t.used = from.used;
}

/// `frozenset(set)`: a copy in the size that a copy gets. Needs the table's buffers to be of table_room() each.
OUTLINE void table_freeze(Table &t, const u64 *hashes) {
  // The copy starts with 8 slots and is sized for all at once.
  u32 size = 8;
  if ((u64)t.used * 5 >= 7 * 3)
    while (size <= t.used * 2) size *= 2;
  if (t.used == 0 || (size == t.mask + 1 && t.fill == t.used)) {
    if (t.used == 0) table_clear(t);
    return;
  }
  u32 *from = t.slots, old = t.mask;
  t.slots = t.other;
  t.other = from;
  for (u32 k = 0; k < size; k++) t.slots[k] = EMPTY;
  for (u32 k = 0; k <= old; k++) {
    u32 e = from[k];
    if (e < DUMMY) t.slots[table_probe(t.slots, size - 1, hashes[e], EMPTY)] = e;
  }
  t.mask = size - 1;
  t.fill = t.used;
}

OUTLINE void table_discard(Table &t, const u64 *hashes, u32 element) {
  u32 at = table_probe(t.slots, t.mask, hashes[element], element);
  if (t.slots[at] == element) {
    t.slots[at] = DUMMY;
    t.used--;
  }
}
