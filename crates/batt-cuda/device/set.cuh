// Frozensets.
//
// A set's elements are distinct and lie in one array. In an *exact* launch they stand in CPython's iteration order and
// the set knows its table (ORDERED): every construction replays CPython's. Otherwise the order is not kept, and a
// primitive that depends on it stops the run with ORDER (NEED_ORDER), to be run again exactly.
//
// Sets of locations (SET_P) and of cells (SET_C) are packed; the empty set is a SET_P; all else is a SET_V. The form
// depends on the elements alone.

/// So many elements are few.
const u32 FEW = 32;

INLINE V empty_set() {
  V v = make(SET_P, ORDERED, 0, 0, 0);
  v.lg = 3;
  return v;
}

INLINE u32 element_size(u8 kind) { return kind == SET_P ? 4 : kind == SET_C ? 8 : 16; }

INLINE void copy_element(u8 kind, u8 *to, u32 k, const u8 *from, u32 j) {
  if (kind == SET_P) ((u32 *)to)[k] = ((const u32 *)from)[j];
  else if (kind == SET_C) ((Dot *)to)[k] = ((const Dot *)from)[j];
  else ((V *)to)[k] = ((const V *)from)[j];
}

/// A list of elements that is not a set yet: may hold equals, has no order.
INLINE V list_at(Ctx &c, u8 kind, const void *items, u32 n) {
  if (n == 0) return empty_set();
  return make(kind, 0, n, offset_of(c, items), 0);
}

/// A list of n values in the packed form they allow.
OUTLINE V list_of(Ctx &c, const V *items, u32 n) {
  if (n == 0) return empty_set();
  u8 kind = items[0].kind;
  if (kind != PAIR && kind != CELL) return list_at(c, SET_V, items, n);
  bool mixed = false;
  for (u32 k = lane(); k < n; k += LANES) mixed |= items[k].kind != kind;
  if (any(mixed)) return list_at(c, SET_V, items, n);
  if (kind == PAIR) {
    ROOM(u32, pairs, c, n);
    for (u32 k = lane(); k < n; k += LANES) pairs[k] = items[k].lo;
    sync();
    return list_at(c, SET_P, pairs, n);
  }
  ROOM(Dot, dots, c, n);
  for (u32 k = lane(); k < n; k += LANES) {
    dots[k].at = items[k].lo;
    dots[k].color = (i32)items[k].hi;
  }
  sync();
  return list_at(c, SET_C, dots, n);
}

struct Bounds { i32 top, left, bottom, right; };

/// The bounding box of a non-empty patch (or list of one).
OUTLINE Bounds bounds_of(Ctx &c, V patch) {
  Bounds b = {32767, 32767, -32768, -32768};
  for (u32 k = lane(); k < patch.len; k += LANES) {
    u32 at = location(c, patch, k);
    i32 i = row_of(at), j = column_of(at);
    b.top = min_of(b.top, i);
    b.left = min_of(b.left, j);
    b.bottom = max_of(b.bottom, i);
    b.right = max_of(b.right, j);
  }
  b.top = least(b.top);
  b.left = least(b.left);
  b.bottom = largest(b.bottom);
  b.right = largest(b.right);
  return b;
}

// ---- Bits: one for each location of a rectangle, or one for each location and colour ----------------------------

struct Bits {
  u32 *words;
  Bounds box;
  u32 width, area, count; // count: words
};

/// Room for the bits of a patch in scratch, cleared; false when the rectangle is too large or a colour is not 0 to 9.
OUTLINE bool bits_for(Ctx &c, Bounds box, bool colors, Bits *bits) {
  i64 area = (i64)(box.bottom - box.top + 1) * (box.right - box.left + 1);
  i64 total = colors ? area * 10 : area;
  if (total > (i64)SCRATCH * 8) return false;
  bits->words = (u32 *)c.scratch;
  bits->box = box;
  bits->width = box.right - box.left + 1;
  bits->area = (u32)area;
  bits->count = ((u32)total + 31) / 32;
  sync();
  fill_with(bits->words, 0u, bits->count);
  sync();
  return true;
}
INLINE u32 bit_of(const Bits &b, u32 at) {
  return (u32)(row_of(at) - b.box.top) * b.width + (u32)(column_of(at) - b.box.left);
}
INLINE bool in_box(const Bounds &b, u32 at) {
  i32 i = row_of(at), j = column_of(at);
  return i >= b.top && i <= b.bottom && j >= b.left && j <= b.right;
}
INLINE bool bit_is_set(const Bits &b, u32 bit) { return b.words[bit >> 5] >> (bit & 31) & 1; }

OUTLINE bool colors_are_digits(Ctx &c, V list) {
  bool other = false;
  for (u32 k = lane(); k < list.len; k += LANES) other |= (u32)dots_of(c, list)[k].color > 9;
  return !any(other);
}

/// Sets the bits of all elements of a patch that lie in the rectangle.
OUTLINE void set_bits(Ctx &c, Bits &b, V patch, bool colors) {
  for (u32 k = lane(); k < patch.len; k += LANES) {
    u32 at = location(c, patch, k);
    if (!in_box(b.box, at)) continue;
    u32 bit = bit_of(b, at);
    if (colors) bit += (u32)dots_of(c, patch)[k].color * b.area;
    atomic_or(b.words + (bit >> 5), 1u << (bit & 31));
  }
  sync();
}

/// The patch of all set bits, as a set without order. One element a bit, row by row (and colour by colour).
OUTLINE V patch_of_bits(Ctx &c, const Bits &b, bool colors) {
  u32 mine = 0;
  for (u32 k = lane(); k < b.count; k += LANES) mine += popcount(b.words[k]);
  u32 n = sum(mine);
  if (n == 0) return empty_set();
  u8 *items = room(c, (u64)n * (colors ? 8 : 4));
  if (!items) return make(STOPPED, 0, 0, 0, 0);
  u32 done = 0;
  for (u32 from = 0; from < b.count; from += LANES) {
    u32 word = from + lane() < b.count ? b.words[from + lane()] : 0;
    u32 here = popcount(word);
    u32 to = done + sum_before(here);
    while (word) {
      u32 bit = (from + lane()) * 32 + lowest(word);
      word &= word - 1;
      u32 color = colors ? bit / b.area : 0;
      u32 place = bit - color * b.area;
      u32 at = pair_word(b.box.top + (i32)(place / b.width), b.box.left + (i32)(place % b.width));
      if (colors) { Dot d = {at, (i32)color}; ((Dot *)items)[to++] = d; }
      else ((u32 *)items)[to++] = at;
    }
    done += sum(here);
  }
  sync();
  return list_at(c, colors ? SET_C : SET_P, items, n);
}

// ---- Distinct elements ---------------------------------------------------------------------------------------

INLINE u64 key_of(const Ctx &c, V list, u32 k) {
  if (list.kind == SET_P) return pairs_of(c, list)[k];
  Dot d = dots_of(c, list)[k];
  return (u64)(u32)d.color << 32 | d.at;
}

/// The hash of a value that one lane has soon, such as a small object. Per lane; false for the others.
INLINE bool lane_hash(const Ctx &c, V v, u64 *hash) {
  u64 x = 0;
  switch (v.kind) {
  case INT: *hash = hash_int(int_of(v)); return true;
  case PAIR: *hash = hash_pair(v.lo); return true;
  case CELL: *hash = hash_cell(c, v.lo, (i32)v.hi); return true;
  case SET_P:
    if (v.len > FEW) return false;
    for (u32 k = 0; k < v.len; k++) x ^= hash_member(hash_pair(pairs_of(c, v)[k]));
    break;
  case SET_C:
    if (v.len > FEW) return false;
    for (u32 k = 0; k < v.len; k++) {
      Dot d = dots_of(c, v)[k];
      x ^= hash_member(hash_cell(c, d.at, d.color));
    }
    break;
  default: return false;
  }
  *hash = hash_set_close(x, v.len);
  return true;
}

/// The hashes of values: of small ones by a lane each, of the others by all lanes, one after the other.
OUTLINE void hash_values(Ctx &c, const V *values, u32 n, u64 *hashes) {
  for (u32 from = 0; from < n; from += LANES) {
    u32 k = from + lane();
    u64 mine;
    bool hashed = k < n && lane_hash(c, values[k], &mine);
    if (hashed) hashes[k] = mine;
    for (u32 left = ballot(k < n && !hashed); left; left &= left - 1) {
      u32 j = from + lowest(left);
      u64 hash = hash_of(c, values[j]);
      put(hashes + j, hash);
    }
  }
  sync();
}

/// The hashes of a list's elements.
OUTLINE void hash_elements(Ctx &c, V list, u64 *hashes) {
  if (list.kind == SET_V) {
    hash_values(c, values_of(c, list), list.len, hashes);
    return;
  }
  for (u32 k = lane(); k < list.len; k += LANES) {
    if (list.kind == SET_P) hashes[k] = hash_pair(pairs_of(c, list)[k]);
    else { Dot d = dots_of(c, list)[k]; hashes[k] = hash_cell(c, d.at, d.color); }
  }
  sync();
}

/// Are two equal values also indistinguishable? Otherwise it shows which of them a set keeps.
DEVICE bool same_form_inside(Ctx &c, V a, V b, u32 depth);
OUTLINE bool same_form(Ctx &c, V a, V b, u32 depth) {
  if (same_bits(a, b)) return true;
  if (depth > MOST_NESTED) return false;
  if (is_set(a) || is_set(b)) {
    // Without order, sets of the same form are as good as each other.
    if (c.exact || a.kind != b.kind) return false;
    if (a.kind != SET_V) return !((a.flags | b.flags) & ORDERED) || a.len <= 1;
    return false;
  }
  if (!is_tuple(a) || !is_tuple(b)) return a.kind == b.kind && a.kind != FLOAT;
  if ((a.kind == ROW || a.kind == GRID) && a.kind == b.kind) return true;
  u32 n = length(c, a);
  for (u32 k = 0; k < n; k++)
    if (!same_form_inside(c, item(c, a, k), item(c, b, k), depth + 1)) return false;
  return true;
}
OUTLINE bool same_form_inside(Ctx &c, V a, V b, u32 depth) { return same_form(c, a, b, depth); }

/// The list without repetitions, the first of equals kept, in place of sequence. By lane 0, for packed lists.
OUTLINE V distinct_packed(Ctx &c, V list) {
  u32 n = list.len, size = 16;
  while (size < n * 2) size *= 2;
  u8 *items = room(c, (u64)n * element_size(list.kind));
  if (!items) return make(STOPPED, 0, 0, 0, 0);
  u32 mark = c.top;
  ROOM(u32, index, c, size);
  fill_with(index, EMPTY, size);
  sync();
  spend(c, n / 2);
  u32 kept = 0;
  if (lane() == 0) {
    for (u32 k = 0; k < n; k++) {
      u64 key = key_of(c, list, k);
      u32 at = (u32)((key * 0x9E3779B97F4A7C15ull) >> 40) & (size - 1);
      while (index[at] != EMPTY && key_of(c, list, index[at]) != key) at = (at + 1) & (size - 1);
      if (index[at] != EMPTY) continue;
      index[at] = k;
      copy_element(list.kind, items, kept++, c.arena + list.lo, k);
    }
  }
  kept = from_lane(kept, 0);
  sync();
  c.top = mark;
  return list_at(c, list.kind, items, kept);
}

/// What the CPU may compare a value with, at the most, before it knows whether a set has it.
const u32 MOST_COMPARED = 8;

/// The same for any values; `hashes` is room for as many hashes.
OUTLINE V distinct_values(Ctx &c, V list, u64 *hashes, bool sequenced) {
  u32 n = list.len, kept = 0;
  ROOM(V, items, c, n);
  const V *from = values_of(c, list);
  hash_values(c, from, n, hashes);
  for (u32 k = 0; k < n; k++) {
    V v = from[k];
    u64 hash = hashes[k];
    spend(c, min_of(kept, MOST_COMPARED) + kept / LANES + 1);
    bool found = false;
    for (u32 start = 0; start < kept && !found; start += LANES) {
      u32 j = start + lane();
      u32 candidates = ballot(j < kept && hashes[j] == hash);
      while (candidates && !found) {
        V other = items[start + lowest(candidates)];
        candidates &= candidates - 1;
        if (!equal_member(c, other, v, 0)) continue;
        found = true;
        // Which of two equals stays depends on the order in which they come, and that may not be known.
        if (!c.exact && !sequenced && !same_form(c, other, v, 0)) return stop(c, ORDER);
      }
    }
    CHECK(c);
    if (found) continue;
    put(items + kept, v);
    put(hashes + kept, hash); // nobody needs what stood there any more: kept <= k
    sync();
    kept++;
  }
  return list_at(c, SET_V, items, kept);
}

// ---- Construction --------------------------------------------------------------------------------------------

/// A set under construction in an exact launch: room for the result, hashes, and a table.
struct Builder {
  V list; // distinct elements; the table holds their positions
  u8 *items;
  u32 *slots;
  u64 *hashes;
  Table table;
  u32 mark;
};

/// Stops a run that has hashed something by its address, among n elements of a table, since `c.by_address` was cleared: closures
/// stand in the order of their addresses, and so of how many were made before. As on the CPU, not here.
INLINE void refuse_addresses(Ctx &c, u32 n) {
  if (c.by_address && n > 1) stop(c, ODD);
}

/// False when the arena is full. `list` must be distinct. Temporary memory begins at `mark`.
OUTLINE bool builder_for(Ctx &c, V list, Builder *b) {
  u32 n = list.len;
  b->list = list;
  b->items = room(c, (u64)n * element_size(list.kind));
  b->slots = room_for<u32>(c, n);
  b->mark = c.top;
  b->hashes = room_for<u64>(c, n);
  u32 size = table_room(n);
  b->table.slots = room_for<u32>(c, size);
  b->table.other = room_for<u32>(c, size);
  if (c.stop) return false;
  spend(c, n);
  c.by_address = false;
  hash_elements(c, list, b->hashes);
  refuse_addresses(c, n);
  return !c.stop;
}

/// The finished set; gives the temporary memory back. A collective; the table is lane 0's.
OUTLINE V builder_finish(Ctx &c, Builder *b) {
  u32 mask = from_lane(b->table.mask, 0), fill = from_lane(b->table.fill, 0), used = from_lane(b->table.used, 0);
  bool second = from_lane((u32)(b->table.slots > b->table.other), 0);
  u32 *low = b->table.slots < b->table.other ? b->table.slots : b->table.other;
  u32 *high = b->table.slots < b->table.other ? b->table.other : b->table.slots;
  const u32 *slots = second ? high : low;
  sync();
  u32 done = 0;
  for (u32 from = 0; from <= mask; from += LANES) {
    u32 at = from + lane();
    u32 e = at <= mask ? slots[at] : EMPTY;
    bool live = e < DUMMY;
    u32 lives = ballot(live);
    if (live) {
      u32 to = done + popcount(lives & lanes_before());
      copy_element(b->list.kind, b->items, to, c.arena + b->list.lo, e);
      b->slots[to] = at;
    }
    done += popcount(lives);
  }
  sync();
  c.top = b->mark;
  V v = list_at(c, b->list.kind, b->items, used);
  u32 lg = 3;
  while ((1u << lg) <= mask) lg++;
  v.flags = ORDERED | (fill != used ? DUMMIES : 0);
  v.lg = (u8)lg;
  v.hi = used > 1 ? offset_of(c, b->slots) : 0;
  return v;
}

/// How a set is made: built, or built and copied. SEQUENCED: the elements stand in the sequence in which Python inserts
/// them, also if the launch is not exact. Then sets of a few elements, and of values such as objects, are put in order
/// all the same: it costs little, and saves the run from being run again.
enum How : u8 { BUILD = 0, FROZEN = 1, SEQUENCED = 2 };

INLINE bool is_put_in_order(const Ctx &c, V list, u8 how) {
  return c.exact || ((how & SEQUENCED) && (list.kind == SET_V ? list.len <= 256 : list.len <= FEW));
}
/// The elements of a container in its sequence: is that Python's?
INLINE u8 sequence_of(V container) { return in_order(container) ? SEQUENCED : 0; }

/// The canonical form of a set of values that turned out to be all pairs or all cells is a packed one; lists made
/// with list_of have it, and so do parts of them unless the others are taken away: hence this.
INLINE V packed(Ctx &c, V list) {
  if (list.kind != SET_V) return list;
  if (list.len == 0) return empty_set();
  u8 kind = values_of(c, list)[0].kind;
  return kind == PAIR || kind == CELL ? list_of(c, values_of(c, list), list.len) : list;
}

/// A set of distinct elements, inserted in the sequence of the list (and, if FROZEN, copied).
OUTLINE V build_distinct(Ctx &c, V list, u8 how) {
  if (list.len == 0) return empty_set();
  list = packed(c, list);
  TRY(list);
  if (!is_put_in_order(c, list, how)) {
    spend_shared(c, list.len / 8);
    list.flags = 0;
    list.hi = 0;
    return list;
  }
  Builder b;
  if (!builder_for(c, list, &b)) return make(STOPPED, 0, 0, 0, 0);
  if (lane() == 0) {
    table_clear(b.table);
    for (u32 k = 0; k < list.len; k++) table_add(b.table, b.hashes, k);
    if (how & FROZEN) table_freeze(b.table, b.hashes);
  }
  return builder_finish(c, &b);
}

/// A list without repetitions.
OUTLINE V distinct(Ctx &c, V list, u8 how = BUILD) {
  if (list.len <= 1) return list;
  if (list.kind == SET_V) {
    u64 *hashes = room_for<u64>(c, list.len);
    if (!hashes) return make(STOPPED, 0, 0, 0, 0);
    return distinct_values(c, list, hashes, how & SEQUENCED);
  }
  if (!is_put_in_order(c, list, how)) {
    spend_shared(c, list.len / 8);
    bool colors = list.kind == SET_C;
    Bits bits;
    if ((!colors || colors_are_digits(c, list)) && bits_for(c, bounds_of(c, list), colors, &bits)) {
      set_bits(c, bits, list, colors);
      return patch_of_bits(c, bits, colors);
    }
  }
  return distinct_packed(c, list);
}

/// *Build*: `frozenset(list)`.
INLINE V build(Ctx &c, V list, u8 how = BUILD) {
  V kept = distinct(c, list, how);
  TRY(kept);
  return build_distinct(c, kept, how);
}

/// `frozenset` of n values in the arena, inserted one after the other.
INLINE V build_values(Ctx &c, const V *items, u32 n, u8 how = BUILD) {
  V list = list_of(c, items, n);
  TRY(list);
  return build(c, list, how);
}

/// The elements that are marked (nonzero), as a list in the same sequence.
OUTLINE V kept_of(Ctx &c, V set, const u8 *keep) {
  u8 *items = room(c, (u64)set.len * element_size(set.kind));
  if (!items) return make(STOPPED, 0, 0, 0, 0);
  spend_shared(c, set.len);
  u32 kept = 0;
  for (u32 from = 0; from < set.len; from += LANES) {
    u32 k = from + lane();
    bool mine = k < set.len && keep[k];
    u32 bits = ballot(mine);
    if (mine) copy_element(set.kind, items, kept + popcount(bits & lanes_before()), c.arena + set.lo, k);
    kept += popcount(bits);
  }
  sync();
  return list_at(c, set.kind, items, kept);
}

/// *Build* of the marked elements, in the set's order.
INLINE V set_keep(Ctx &c, V set, const u8 *keep) {
  V kept = kept_of(c, set, keep);
  TRY(kept);
  return build_distinct(c, kept, BUILD | sequence_of(set));
}

/// *Copy*: laid out as a copy is.
OUTLINE V set_copy(Ctx &c, V a) {
  if (a.len == 0) return empty_set();
  if (!c.exact && !(a.kind == SET_V && (a.flags & ORDERED))) {
    // A copy may stand in another order than the original.
    a.flags = 0;
    a.hi = 0;
    return a;
  }
  if (!(a.flags & ORDERED)) return stop(c, ORDER);
  Builder b;
  if (!builder_for(c, a, &b)) return make(STOPPED, 0, 0, 0, 0);
  if (lane() == 0) {
    table_clear(b.table);
    const u32 *slots = slots_of(c, a);
    u32 mask = (1u << a.lg) - 1;
    table_merge(b.table, b.hashes, a.len, 1u << a.lg, a.flags & DUMMIES,
                [&](u32 k) { return a.len > 1 ? slots[k] : (u32)b.hashes[k] & mask; }, [&](u32 k) { return k; });
  }
  return builder_finish(c, &b);
}

// ---- Membership ----------------------------------------------------------------------------------------------

/// The pair that a tuple equals, if it equals one: (True, 0) is (1, 0).
INLINE bool numeric_pair(const Ctx &c, V v, u32 *at) {
  *at = v.lo;
  if (v.kind == PAIR) return true;
  if (v.kind != TUPLE || v.len != 2) return false;
  i64 i, j;
  if (!integral(values_of(c, v)[0], &i) || !integral(values_of(c, v)[1], &j) || !fits16(i) || !fits16(j)) return false;
  *at = pair_word((i32)i, (i32)j);
  return true;
}

/// The key among the elements of a packed set of what a value equals; false if it can equal none of them.
OUTLINE bool numeric_key(const Ctx &c, u8 kind, V v, u64 *key) {
  u32 at;
  i64 i, j, color;
  if (kind == SET_P) {
    if (!numeric_pair(c, v, &at)) return false;
    *key = at;
    return true;
  }
  *key = (u64)v.hi << 32 | v.lo;
  if (v.kind == CELL) return true;
  if (v.kind != TUPLE || v.len != (triples(c) ? 3 : 2)) return false;
  const V *parts = values_of(c, v);
  if (!integral(parts[triples(c) ? 2 : 0], &color) || !fits32(color)) return false;
  if (triples(c)) {
    if (!integral(parts[0], &i) || !integral(parts[1], &j) || !fits16(i) || !fits16(j)) return false;
    at = pair_word((i32)i, (i32)j);
  } else if (!numeric_pair(c, parts[1], &at)) {
    return false;
  }
  *key = (u64)(u32)color << 32 | at;
  return true;
}

/// `v in set`.
OUTLINE bool set_contains(Ctx &c, V set, V v) {
  if (set.len == 0) return false;
  if (set.kind != SET_V) {
    u64 key;
    if (!numeric_key(c, set.kind, v, &key)) return false;
    bool found = false;
    for (u32 k = lane(); k < set.len; k += LANES) found |= key_of(c, set, k) == key;
    return any(found);
  }
  spend(c, set.len / 4 + 1);
  for (u32 k = 0; k < set.len; k++) {
    if (equal_member(c, values_of(c, set)[k], v, 1)) return true;
    if (c.stop) return false;
  }
  return false;
}

/// Marks the elements of `a` that are in `b`, a set of values. Values of the same hash are mostly the same value.
OUTLINE void mark_among_values(Ctx &c, V a, V b, u8 *inside) {
  u32 mark = c.top;
  i64 budget = c.budget; // it is given back, and the CPU needs none
  u64 *hashes = room_for<u64>(c, a.len), *others = room_for<u64>(c, b.len);
  if (c.stop) return;
  hash_elements(c, a, hashes);
  hash_elements(c, b, others);
  const V *values = values_of(c, b);
  spend(c, (u64)a.len * (min_of(b.len, MOST_COMPARED) + b.len / (4 * LANES) + 1));
  for (u32 from = 0; from < a.len && !c.stop; from += LANES) {
    u32 k = from + lane(), j = 0;
    while (k < a.len && j < b.len && others[j] != hashes[k]) j++;
    bool found = k < a.len && j < b.len;
    u32 in = ballot(found && same_bits(values[j], item(c, a, k)));
    for (u32 open = ballot(found) & ~in; open; open &= open - 1) {
      u32 number = lowest(open);
      V v = item(c, a, from + number);
      if (equal_member(c, values[from_lane(j, number)], v, 1) || set_contains(c, b, v)) in |= 1u << number;
    }
    if (k < a.len) inside[k] = in >> lane() & 1;
  }
  sync();
  c.top = mark;
  c.budget = budget;
}

/// Marks the elements of `a` that are in `b`, which is a set unless it is `listed`: in a tuple the CPU looks for each of them from the
/// beginning, and that has to be paid for.
OUTLINE void mark_members(Ctx &c, V a, V b, u8 *inside, bool listed = false) {
  if (a.kind == b.kind && a.kind != SET_V && b.len > 0) {
    bool colors = a.kind == SET_C;
    Bits bits;
    if (b.len > LANES && (!colors || (colors_are_digits(c, a) && colors_are_digits(c, b))) &&
        bits_for(c, bounds_of(c, b), colors, &bits)) {
      set_bits(c, bits, b, colors);
      for (u32 k = lane(); k < a.len; k += LANES) {
        u32 at = location(c, a, k);
        bool in = in_box(bits.box, at);
        if (in) {
          u32 bit = bit_of(bits, at) + (colors ? (u32)dots_of(c, a)[k].color * bits.area : 0);
          in = bit_is_set(bits, bit);
        }
        inside[k] = in;
      }
      sync();
      return;
    }
    spend_shared(c, (u64)a.len * b.len / 4);
    for (u32 k = lane(); k < a.len; k += LANES) {
      u64 key = key_of(c, a, k);
      bool in = false;
      for (u32 j = 0; j < b.len && !in; j++) in = key_of(c, b, j) == key;
      inside[k] = in;
    }
    sync();
    return;
  }
  if (!listed && b.kind == SET_V && b.len > 1) return mark_among_values(c, a, b, inside);
  for (u32 k = 0; k < a.len; k++) {
    bool in = set_contains(c, b, item(c, a, k));
    put(inside + k, (u8)in);
  }
  sync();
}

OUTLINE bool equal_sets(Ctx &c, V a, V b, u32 depth) {
  spend(c, a.len / 64 + 4);
  if (a.len != b.len) return false;
  if (a.len == 0 || (a.kind == b.kind && a.lo == b.lo)) return true;
  if (a.kind != b.kind) {
    if (a.kind != SET_V && b.kind != SET_V) return false;
    return a.kind == SET_V ? is_subset(c, a, b) : is_subset(c, b, a);
  }
  if (a.kind != SET_V) {
    bool differ = false;
    u64 difference = 0;
    for (u32 k = lane(); k < a.len; k += LANES) {
      u64 x = key_of(c, a, k), y = key_of(c, b, k);
      differ |= x != y;
      x = (x ^ x >> 29) * P1;
      y = (y ^ y >> 29) * P1;
      difference += (x ^ x >> 32) * P2 - (y ^ y >> 32) * P2;
    }
    if (!any(differ)) return true;
    if (sum(difference)) return false;
    spend_shared(c, (u64)a.len * b.len / 4);
    differ = false;
    for (u32 k = lane(); k < a.len; k += LANES) {
      u64 key = key_of(c, a, k);
      bool in = false;
      for (u32 j = 0; j < b.len && !in; j++) in = key_of(c, b, j) == key;
      differ |= !in;
    }
    return !any(differ);
  }
  spend(c, a.len);
  for (u32 k = 0; k < a.len; k++) {
    bool in = false;
    for (u32 j = 0; j < b.len && !in; j++) in = equal_member(c, values_of(c, b)[j], values_of(c, a)[k], depth + 1);
    if (!in || c.stop) return false;
  }
  return true;
}

/// `a <= b`.
OUTLINE bool is_subset(Ctx &c, V a, V b) {
  if (a.len > b.len) return false;
  if (a.kind == b.kind && a.kind != SET_V) {
    spend_shared(c, (u64)a.len * b.len / 4);
    bool missing = false;
    for (u32 k = lane(); k < a.len; k += LANES) {
      u64 key = key_of(c, a, k);
      u32 j = 0;
      while (j < b.len && key_of(c, b, j) != key) j++;
      missing |= j == b.len;
    }
    return !any(missing);
  }
  for (u32 k = 0; k < a.len; k++)
    if (!set_contains(c, b, item(c, a, k)) || c.stop) return false;
  return true;
}

// ---- Algebra -------------------------------------------------------------------------------------------------

/// The elements of several lists one after the other, as one list.
OUTLINE V concat_lists(Ctx &c, const V *lists, u32 count) {
  u8 kind = SET_P;
  u64 total = 0;
  bool first = true, mixed = false;
  for (u32 m = 0; m < count; m++) {
    V list = lists[m];
    u32 n = length(c, list);
    if (n == 0) continue;
    total += n;
    u8 own = is_set(list) ? list.kind : SET_V;
    if (first) kind = own;
    else if (own != kind) mixed = true;
    first = false;
  }
  if (total == 0) return empty_set();
  if (total > 0x7fffffff) return stop(c, SIZE);
  spend(c, count);
  spend_shared(c, total);
  if (mixed) kind = SET_V;
  u8 *items = room(c, total * element_size(kind));
  if (!items) return make(STOPPED, 0, 0, 0, 0);
  u32 to = 0;
  for (u32 m = 0; m < count; m++) {
    V list = lists[m];
    u32 n = length(c, list);
    if (kind != SET_V || list.kind == SET_V || list.kind == TUPLE) {
      for (u32 k = lane(); k < n; k += LANES) copy_element(kind, items, to + k, c.arena + list.lo, k);
    } else {
      for (u32 k = lane(); k < n; k += LANES) ((V *)items)[to + k] = item(c, list, k);
    }
    to += n;
  }
  sync();
  if (kind == SET_V) return list_of(c, (V *)items, to);
  return list_at(c, kind, items, to);
}

/// *Union*: `a | b`.
OUTLINE V set_union(Ctx &c, V a, V b) {
  if (same_bits(a, b)) return set_copy(c, a);
  ROOM(V, both, c, 2);
  put(both, a);
  put(both + 1, b);
  sync();
  V list = concat_lists(c, both, 2);
  TRY(list);
  list = distinct(c, list); // the elements of `a` keep their numbers: they come first and are distinct
  TRY(list);
  if (!c.exact || list.len == 0) return build_distinct(c, list, BUILD);
  if ((a.len && !(a.flags & ORDERED)) || (b.len && !(b.flags & ORDERED))) return stop(c, ORDER);
  list = packed(c, list);
  TRY(list);
  Builder bu;
  if (!builder_for(c, list, &bu)) return make(STOPPED, 0, 0, 0, 0);
  // Our numbers of b's elements.
  ROOM(u32, numbers, c, b.len ? b.len : 1);
  if (list.kind != SET_V && list.kind == b.kind) {
    for (u32 k = lane(); k < b.len; k += LANES) {
      u64 key = key_of(c, b, k);
      u32 j = 0;
      while (j + 1 < list.len && key_of(c, list, j) != key) j++;
      numbers[k] = j;
    }
  } else {
    for (u32 k = 0; k < b.len; k++) {
      V v = item(c, b, k);
      u32 j = 0;
      while (j + 1 < list.len && !equal_member(c, item(c, list, j), v, 1)) j++;
      put(numbers + k, j);
    }
  }
  sync();
  CHECK(c);
  if (lane() == 0) {
    table_clear(bu.table);
    const u32 *slots = slots_of(c, a);
    u32 mask = (1u << a.lg) - 1;
    table_merge(bu.table, bu.hashes, a.len, 1u << a.lg, a.flags & DUMMIES,
                [&](u32 k) { return a.len > 1 ? slots[k] : (u32)bu.hashes[k] & mask; }, [&](u32 k) { return k; });
    const u32 *theirs = slots_of(c, b);
    u32 other = (1u << b.lg) - 1;
    table_merge(bu.table, bu.hashes, b.len, 1u << b.lg, b.flags & DUMMIES,
                [&](u32 k) { return b.len > 1 ? theirs[k] : (u32)bu.hashes[numbers[k]] & other; },
                [&](u32 k) { return numbers[k]; });
  }
  return builder_finish(c, &bu);
}

/// *Diff*: `a - b`, as the operator does it.
OUTLINE V set_minus(Ctx &c, V a, V b) {
  ROOM(u8, inside, c, a.len ? a.len : 1);
  mark_members(c, a, b, inside);
  CHECK(c);
  for (u32 k = lane(); k < a.len; k += LANES) inside[k] = !inside[k];
  sync();
  if (a.len / 4 <= b.len) return set_keep(c, a, inside);
  if (!c.exact && !(a.kind == SET_V && (a.flags & ORDERED))) {
    V kept = kept_of(c, a, inside);
    TRY(kept);
    return build_distinct(c, kept, BUILD);
  }
  // CPython copies and deletes when there is little to delete: dummies stay behind.
  if (!(a.flags & ORDERED)) return stop(c, ORDER);
  V kept = kept_of(c, a, inside);
  TRY(kept);
  V whole = set_copy(c, a);
  TRY(whole);
  if (kept.len == a.len) return whole;
  if (kept.len == 0) {
    V v = empty_set();
    v.lg = whole.lg;
    v.flags |= DUMMIES;
    return v;
  }
  // The copy may stand in another order than `a`: mark again.
  mark_members(c, whole, b, inside);
  for (u32 k = lane(); k < a.len; k += LANES) inside[k] = !inside[k];
  sync();
  kept = kept_of(c, whole, inside);
  TRY(kept);
  ROOM(u32, slots, c, whole.len);
  u32 done = 0;
  for (u32 from = 0; from < whole.len; from += LANES) {
    u32 k = from + lane();
    bool mine = k < whole.len && inside[k];
    u32 bits = ballot(mine);
    if (mine) slots[done + popcount(bits & lanes_before())] = slots_of(c, whole)[k];
    done += popcount(bits);
  }
  sync();
  kept = packed(c, kept);
  TRY(kept);
  kept.flags = ORDERED | DUMMIES;
  kept.lg = whole.lg;
  kept.hi = kept.len > 1 ? offset_of(c, slots) : 0;
  return kept;
}

/// *Inter*: `a & b`.
OUTLINE V set_inter(Ctx &c, V a, V b) {
  if (same_bits(a, b)) {
    // The CPU compares each element with itself.
    for (u32 k = 0; k < a.len && a.kind == SET_V; k++) equal_member(c, values_of(c, a)[k], values_of(c, a)[k], 1);
    CHECK(c);
    return set_copy(c, a);
  }
  // CPython walks the smaller operand, on equal sizes the right one, and keeps that one's elements.
  V walked = a.len < b.len ? a : b, other = a.len < b.len ? b : a;
  ROOM(u8, inside, c, walked.len ? walked.len : 1);
  mark_members(c, walked, other, inside);
  CHECK(c);
  return set_keep(c, walked, inside);
}

/// *Build* of the elements of containers, one container after the other.
INLINE V set_merge(Ctx &c, const V *members, u32 count) {
  if (c.exact)
    for (u32 m = 0; m < count; m++) NEED_ORDER(c, members[m]);
  V list = concat_lists(c, members, count);
  TRY(list);
  return build(c, list, BUILD);
}
