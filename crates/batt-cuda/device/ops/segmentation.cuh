// Objects, partitions, frontiers.

// ---- Grids of anything --------------------------------------------------------------------------------------------
//
// A tuple of tuples need not hold colours. Equal values get the same number, and then it is a grid like any other.

struct Codes {
  V *values; // by position: equals need not look the same
  u32 width;
  V *known; // by number
  u32 count;
  bool plain; // are all values colours that fit into cells?
  bool nans;  // nan, which is not even equal to itself, has a new number each time
};

/// The fault of looking at every place of something taken for a grid of this width: rows may be too short, or no tuples.
/// none() if there is a value everywhere.
OUTLINE V fault_of_rows(Ctx &c, V v, u32 height, u32 width) {
  bool broken = false, no_row = false;
  for (u32 i = lane(); i < height; i += LANES) {
    V row = item(c, v, i);
    no_row |= !is_tuple(row);
    broken |= is_tuple(row) && length(c, row) < width;
  }
  no_row = any(no_row);
  broken = any(broken);
  // Which of them is met first is a long story; to tokpidjin it is all the same.
  if (no_row && broken && !triples(c)) return odd(c);
  return no_row ? failed(TYPE_) : broken ? failed(INDEX_) : none();
}

/// The number of a value; -1 for one that has none.
OUTLINE i32 code_of(Ctx &c, const Codes &codes, V v) {
  for (u32 k = 0; k < codes.count; k++)
    if (equal(c, codes.known[k], v)) return (i32)k;
  return -1;
}

/// Numbers the values of the first `width` columns of something that has a value everywhere: a fault, or none().
OUTLINE V encode_grid(Ctx &c, V v, u32 height, u32 width, Grid *grid, Codes *codes) {
  V fault = fault_of_rows(c, v, height, width);
  TRY(fault);
  if (height > 32767 || width > 32767 || (u64)height * width > 0xffff) return stop(c, SIZE);
  u32 n = height * width;
  spend(c, (u64)n * 2);
  ROOM(u8, cells, c, n);
  ROOM(V, values, c, n);
  ROOM(V, known, c, 256);
  for (u32 k = lane(); k < n; k += LANES) values[k] = item(c, item(c, v, k / width), k % width);
  sync();
  *grid = Grid{height, width, cells};
  *codes = Codes{values, width, known, 0, true, false};
  for (u32 k = 0; k < n; k++) {
    V value = values[k];
    codes->plain &= value.kind == INT && fits32(int_of(value));
    codes->nans |= is_nan(value);
    i32 code = code_of(c, *codes, value);
    CHECK(c);
    if (code < 0) {
      if (codes->count == 256) return odd(c);
      code = (i32)codes->count++;
      put(known + code, value);
      sync();
    }
    put(cells + k, (u8)code);
  }
  sync();
  return none();
}

/// A list of cells whose colours are numbers, with the values at their locations instead.
OUTLINE V decoded(Ctx &c, V list, const Codes &codes) {
  Dot *dots = dots_of(c, list);
  if (codes.plain) {
    for (u32 k = lane(); k < list.len; k += LANES) {
      u32 at = dots[k].at;
      dots[k].color = (i32)codes.values[(u32)row_of(at) * codes.width + (u32)column_of(at)].lo;
    }
    sync();
    return list;
  }
  ROOM(V, cells, c, list.len);
  for (u32 k = 0; k < list.len; k++) {
    i32 i = row_of(dots[k].at), j = column_of(dots[k].at);
    V cell = cell_from(c, codes.values[(u32)i * codes.width + (u32)j], integer(i), integer(j));
    TRY(cell);
    put(cells + k, cell);
  }
  sync();
  return list_of(c, cells, list.len);
}

// ---- Objects ----------------------------------------------------------------------------------------------------
//
// Without order, objects are found by all lanes together: every open cell has a label, the smallest position known to
// belong to the same object, and neighbours unite theirs. In an exact launch each object's cells must stand in the
// order that Python's flood fill gives them, and so the fill is replayed, sets and all: by a lane for each object, for
// once the objects are known, so is what Python has found before each of them.

/// A grid, and which of its cells belong together.
struct Joining {
  const u8 *cells;
  u32 height, width, count;
  u32 background; // no colour is 256: then all cells are open
  bool univalued, diagonal;
};

INLINE bool is_open(const Joining &g, u32 k) { return g.cells[k] != g.background; }
/// Do two neighbours belong to the same object?
INLINE bool alike(const Joining &g, u32 a, u32 b) {
  u32 x = g.cells[a], y = g.cells[b];
  return x != g.background && (g.univalued ? x == y : y != g.background);
}
INLINE Dot dot_at(const Joining &g, u32 k) {
  Dot d = {pair_word((i32)(k / g.width), (i32)(k % g.width)), g.cells[k]};
  return d;
}

/// Larger grids are left to the CPU: labels share their words with counts.
const u32 MOST_LABELS = 0xff00;
const u32 LABEL = 0xffff;

INLINE u32 root_of(const volatile u32 *labels, u32 k) {
  for (u32 up = labels[k]; up != k; up = labels[k]) k = up;
  return k;
}

/// Makes two labels one, whatever other lanes do meanwhile.
INLINE void unite(u32 *labels, u32 a, u32 b) {
  for (;;) {
    a = root_of(labels, a);
    b = root_of(labels, b);
    if (a == b) return;
    u32 low = min_of(a, b), high = max_of(a, b);
    u32 old = atomic_min(labels + high, low);
    if (old == high) return;
    // Somebody was quicker: what `high` was made part of belongs to us as well.
    a = old;
    b = low;
  }
}

/// Labels every open cell with the first position of its stretch of a row; closed ones with LABEL.
OUTLINE void label_rows(const Joining &g, u32 *labels) {
  u32 carried = 0;
  for (u32 from = 0; from < g.count; from += LANES) {
    u32 k = from + lane();
    bool open = k < g.count && is_open(g, k);
    bool joined = open && k % g.width != 0 && alike(g, k - 1, k);
    u32 starts = ballot(!joined) & (lanes_before() | 1u << lane());
    u32 start = starts ? from + highest(starts) : carried;
    if (k < g.count) labels[k] = open ? start : LABEL;
    carried = from_lane(start, LANES - 1);
  }
  sync();
}

/// Unites the labels of neighbours in different rows: once for each place where two stretches meet.
OUTLINE void unite_rows(const Joining &g, u32 *labels) {
  for (u32 k = lane(); k + g.width < g.count; k += LANES) {
    if (!is_open(g, k)) continue;
    u32 j = k % g.width, below = k + g.width;
    bool left = j > 0 && alike(g, k, k - 1);
    bool down = alike(g, k, below);
    if (down && !(left && alike(g, below, below - 1))) unite(labels, k, below);
    // A diagonal neighbour that is reached in two straight steps has been united with us already.
    if (!g.diagonal || down) continue;
    if (j > 0 && !left && alike(g, k, below - 1)) unite(labels, k, below - 1);
    if (j + 1 < g.width && !alike(g, k, k + 1) && alike(g, k, below + 1)) unite(labels, k, below + 1);
  }
  sync();
}

/// Labels every open cell with the first position of its object; closed ones with LABEL.
OUTLINE void label_objects(const Joining &g, u32 *labels) {
  label_rows(g, labels);
  unite_rows(g, labels);
  // Nobody shortens a way while others are on it.
  for (u32 from = 0; from < g.count; from += LANES) {
    u32 k = from + lane();
    u32 root = k < g.count && labels[k] != LABEL ? root_of(labels, k) : LABEL;
    sync();
    if (root != LABEL) labels[k] = root;
    sync();
  }
}

/// Neighbouring lanes that hold the same: the first of them, and how many they are.
struct Stretch { u32 head, length; };
INLINE Stretch stretch_of(u32 x) {
  u32 before = from_lane(x, lane() ? lane() - 1 : 0);
  u32 heads = ballot(lane() == 0 || before != x);
  u32 here = lanes_before() | 1u << lane();
  u32 head = highest(heads & here), next = heads & ~here;
  Stretch s = {head, (next ? lowest(next) : LANES) - head};
  return s;
}

/// Objects that have been found: each a list of cells.
struct Found {
  V *objects;
  u32 count;
  bool sequenced; // in the sequence in which Python finds them
};

/// For every cell of a grid its place in the order in which Python looks for cells of no object yet: that of the set of
/// all locations. The host has worked it out for the grids of ARC. Null for larger ones.
INLINE const u16 *ranks_of(const Ctx &c, u32 height, u32 width) {
  const u32 side = 30, row = side * (side + 1) / 2;
  if (height > side || width > side) return nullptr;
  return c.ranks + row * (height * (height - 1) / 2) + height * (width * (width - 1) / 2);
}

/// Puts objects in the sequence in which Python finds them, by the lowest rank of their cells. `labels` has the root of
/// each cell in its lower half, and the objects stand in the sequence of their roots.
OUTLINE void put_in_sequence(Ctx &c, const Joining &g, const u32 *labels, Found *found) {
  const u16 *ranks = ranks_of(c, g.height, g.width);
  u32 count = found->count;
  if (!ranks || count > 256) return;
  V *sorted = room_for<V>(c, count);
  u32 mark = c.top;
  u32 *first = room_for<u32>(c, g.count), *keys = room_for<u32>(c, count);
  if (c.stop) return;
  fill_with(first, 0xffffffffu, g.count);
  sync();
  for (u32 k = lane(); k < g.count; k += LANES) {
    u32 root = labels[k] & LABEL;
    if (root != LABEL) atomic_min(first + root, (u32)ranks[k]);
  }
  sync();
  u32 done = 0;
  for (u32 from = 0; from < g.count; from += LANES) {
    u32 k = from + lane();
    bool root = k < g.count && (labels[k] & LABEL) == k;
    u32 roots = ballot(root);
    if (root) keys[done + popcount(roots & lanes_before())] = first[k];
    done += popcount(roots);
  }
  sync();
  for (u32 k = lane(); k < count; k += LANES) {
    u32 before = 0;
    for (u32 j = 0; j < count; j++) before += keys[j] < keys[k];
    sorted[before] = found->objects[k];
  }
  sync();
  c.top = mark;
  found->objects = sorted;
  found->sequenced = true;
}

/// The objects, and their cells, in any order.
OUTLINE void unite_all(Ctx &c, const Joining &g, Found *found) {
  u32 *labels = scratch_for<u32>(c, g.count);
  if (!labels) return;
  label_objects(g, labels);
  // The upper half of a root's word counts the object's cells.
  u32 open = 0, count = 0;
  for (u32 from = 0; from < g.count; from += LANES) {
    u32 k = from + lane();
    u32 root = k < g.count ? labels[k] & LABEL : LABEL;
    Stretch s = stretch_of(root);
    open += popcount(ballot(root != LABEL));
    count += popcount(ballot(root == k));
    if (root != LABEL && s.head == lane()) atomic_add32(labels + root, s.length << 16);
  }
  V *objects = room_for<V>(c, count);
  Dot *dots = room_for<Dot>(c, open);
  if (c.stop) return;
  found->objects = objects;
  found->count = count;
  sync();
  // Then it says where the next of them goes.
  u32 done = 0, placed = 0;
  for (u32 from = 0; from < g.count; from += LANES) {
    u32 k = from + lane();
    u32 word = k < g.count ? labels[k] : LABEL;
    bool root = (word & LABEL) == k;
    u32 roots = ballot(root), size = root ? word >> 16 : 0, start = placed + sum_before(size);
    if (root) {
      objects[done + popcount(roots & lanes_before())] = make(SET_C, 0, size, offset_of(c, dots + start), 0);
      labels[k] = start << 16 | k;
    }
    done += popcount(roots);
    placed += sum(size);
  }
  sync();
  for (u32 from = 0; from < g.count; from += LANES) {
    u32 k = from + lane();
    u32 root = k < g.count ? labels[k] & LABEL : LABEL;
    Stretch s = stretch_of(root);
    u32 start = 0;
    if (root != LABEL && s.head == lane()) start = atomic_add32(labels + root, s.length << 16) >> 16;
    start = from_lane(start, s.head);
    if (root != LABEL) dots[start + lane() - s.head] = dot_at(g, k);
  }
  sync();
  put_in_sequence(c, g, labels, found);
}

/// The neighbours of a cell inside the grid, as the set of them stands in its table: a table of 8 slots for up to four,
/// else of 32.
struct Around {
  u16 to[8];
  u8 slot[8];
  u16 count;
};

/// Works out the neighbours of a cell. By one lane.
OUTLINE void find_around(const Joining &g, u32 k, Around *around) {
  u32 first[32], second[32], third[32];
  u64 hashes[8];
  i32 i = (i32)(k / g.width), j = (i32)(k % g.width);
  // As Python lists them: direct ones, then diagonal ones.
  u32 places[8] = {pair_word(i - 1, j),     pair_word(i + 1, j),     pair_word(i, j - 1),     pair_word(i, j + 1),
                   pair_word(i - 1, j - 1), pair_word(i - 1, j + 1), pair_word(i + 1, j - 1), pair_word(i + 1, j + 1)};
  for (u32 e = 0; e < 8; e++) hashes[e] = hash_pair(places[e]);
  Table all = {first, second, 0, 0, 0};
  table_clear(all);
  for (u32 e = 0; e < 4; e++) table_add(all, hashes, e);
  if (g.diagonal) {
    Table corners = {third, third, 0, 0, 0}; // four fit: it never grows
    table_clear(corners);
    for (u32 e = 4; e < 8; e++) table_add(corners, hashes, e);
    table_merge_table(all, hashes, corners);
  }
  // Those inside the grid make a set of their own, in the order of that one.
  Table inside = {all.other, third, 0, 0, 0};
  table_clear(inside);
  for (u32 at = 0; at <= all.mask; at++) {
    u32 e = all.slots[at];
    if (e < DUMMY && (u32)row_of(places[e]) < g.height && (u32)column_of(places[e]) < g.width)
      table_add(inside, hashes, e);
  }
  u32 count = 0;
  for (u32 at = 0; at <= inside.mask; at++) {
    u32 e = inside.slots[at];
    if (e >= DUMMY) continue;
    around->to[count] = (u16)(row_of(places[e]) * (i32)g.width + column_of(places[e]));
    around->slot[count++] = (u8)at;
  }
  around->count = (u16)count;
}

/// What Python finds, one object after the other.
struct Sequence {
  u32 count;
  u32 *start;         // how many cells have been found before each object, and in all
  const u32 *first;   // the cell that each is found by
  const u16 *number;  // for every cell that of its object; NOBODY for closed ones
};
const u16 NOBODY = 0xffff;

/// So many words of tables at once, unless one object takes more.
const u32 WORDS_AT_ONCE = 1 << 14;

/// For every cell of a grid its rank, worked out here if it is a large one. Null: the run has been stopped.
OUTLINE const u16 *any_ranks_of(Ctx &c, const Joining &g) {
  const u16 *known = ranks_of(c, g.height, g.width);
  if (known) return known;
  u16 *ranks = room_for<u16>(c, g.count);
  V all = rectangle(c, 0, 0, (i64)g.height - 1, (i64)g.width - 1);
  if (c.stop) return nullptr;
  for (u32 k = lane(); k < g.count; k += LANES) {
    u32 at = pairs_of(c, all)[k];
    ranks[(u32)row_of(at) * g.width + (u32)column_of(at)] = (u16)k;
  }
  sync();
  return ranks;
}

/// Finds the objects and the sequence in which Python finds them; there is room at `start`. Stops the run if there is none elsewhere.
OUTLINE void find_sequence(Ctx &c, const Joining &g, Sequence *s) {
  const u16 *ranks = any_ranks_of(c, g);
  u32 *labels = room_for<u32>(c, g.count), *sizes = room_for<u32>(c, g.count);
  u32 *ranked = room_for<u32>(c, g.count); // at the label of an object the lowest rank of its cells, then its number
  u32 *found = room_for<u32>(c, g.count);  // at that rank the cell, then one after the other
  u16 *number = room_for<u16>(c, g.count);
  if (c.stop) return;
  label_objects(g, labels);
  fill_with(sizes, 0u, g.count);
  fill_with(ranked, EMPTY, g.count);
  fill_with(found, EMPTY, g.count);
  sync();
  for (u32 k = lane(); k < g.count; k += LANES) {
    if (labels[k] == LABEL) continue;
    atomic_add32(sizes + labels[k], 1);
    atomic_min(ranked + labels[k], (u32)ranks[k]);
  }
  sync();
  for (u32 k = lane(); k < g.count; k += LANES)
    if (labels[k] != LABEL && ranked[labels[k]] == ranks[k]) found[ranks[k]] = k;
  sync();
  u32 count = 0, cells = 0;
  for (u32 from = 0; from < g.count; from += LANES) {
    u32 k = from + lane() < g.count ? found[from + lane()] : EMPTY;
    u32 here = ballot(k != EMPTY), size = k != EMPTY ? sizes[labels[k]] : 0, before = sum_before(size);
    sync(); // all have read what stood there
    if (k != EMPTY) {
      u32 n = count + popcount(here & lanes_before());
      found[n] = k;
      s->start[n] = cells + before;
      ranked[labels[k]] = n;
    }
    count += popcount(here);
    cells += sum(size);
  }
  put(s->start + count, cells);
  sync();
  for (u32 k = lane(); k < g.count; k += LANES) number[k] = labels[k] == LABEL ? NOBODY : (u16)ranked[labels[k]];
  sync();
  s->count = count;
  s->first = found;
  s->number = number;
}

/// Something for every object of a sequence, a lane each and as many at once as have room: `words_for(size)` words of
/// memory for an object of that size. `work(number, its words)`.
template <class Words, class Work> INLINE void for_each_object(Ctx &c, const Sequence &s, Words words_for, Work work) {
  u64 mine = 0;
  u32 most = 0;
  for (u32 n = lane(); n < s.count; n += LANES) {
    u32 words = words_for(s.start[n + 1] - s.start[n]);
    mine += words;
    most = max_of(most, words);
  }
  u32 words = (u32)min_of(sum(mine), (u64)max_of(largest(most), WORDS_AT_ONCE));
  i64 fuel = c.fuel, budget = c.budget;
  u32 *memory = room_for<u32>(c, words);
  if (c.stop) return;
  // Little of it is ever touched.
  c.fuel = fuel;
  c.budget = budget;
  for (u32 from = 0; from < s.count;) {
    u32 n = from + lane();
    u32 own = n < s.count ? words_for(s.start[n + 1] - s.start[n]) : 0, at = sum_before(own);
    bool fits = n < s.count && at + own <= words;
    if (fits) work(n, memory + at);
    sync();
    from += popcount(ballot(fits));
  }
}

/// A flood fill in progress. By one lane.
struct Flood {
  const Joining *grid;
  const Around *around;
  const u64 *hashes; // of the locations
  const u16 *number;
  u8 *visited;
  u32 object, occupied; // its number, and how many cells have been found so far
  Table reach, candidates;
};

INLINE bool is_occupied(const Flood &f, u32 k) {
  return f.number[k] < f.object || (f.number[k] == f.object && f.visited[k]);
}

/// `candidates = reach - occupied`.
INLINE void next_candidates(Flood &f) {
  table_clear(f.candidates);
  bool copied = f.reach.used / 4 > f.occupied;
  if (copied) table_merge_table(f.candidates, f.hashes, f.reach);
  for (u32 at = 0; at <= f.reach.mask; at++) {
    u32 k = f.reach.slots[at];
    if (k >= DUMMY) continue;
    // Discarding in any order leaves the same dummies behind.
    if (!copied && !is_occupied(f, k)) table_add(f.candidates, f.hashes, k);
    if (copied && is_occupied(f, k)) table_discard(f.candidates, f.hashes, k);
  }
}

/// The cells of the object that holds `start`, layer by layer, each layer in the order of a set.
OUTLINE void flood_from(Flood &f, u32 start, Dot *dots) {
  const Joining &g = *f.grid;
  table_clear(f.candidates);
  table_add(f.candidates, f.hashes, start);
  while (f.candidates.used > 0) {
    table_clear(f.reach);
    for (u32 at = 0; at <= f.candidates.mask; at++) {
      u32 k = f.candidates.slots[at];
      if (k >= DUMMY || !alike(g, start, k)) continue;
      *dots++ = dot_at(g, k);
      f.visited[k] = 1;
      f.occupied++;
      const Around *around = f.around + k;
      table_merge(f.reach, f.hashes, around->count, around->count > 4 ? 32 : 8, false,
                  [&](u32 e) { return (u32)around->slot[e]; }, [&](u32 e) { return (u32)around->to[e]; });
    }
    next_candidates(f);
  }
}

/// Floods all objects of a grid: their cells one after the other, each object's where it starts. Whatever memory it takes
/// may be given back afterwards.
OUTLINE void flood_all(Ctx &c, const Joining &g, const Sequence &s, Dot *dots) {
  u64 *hashes = room_for<u64>(c, g.count);
  Around *around = room_for<Around>(c, g.count);
  u8 *visited = room_for<u8>(c, g.count);
  if (c.stop) return;
  for (u32 k = lane(); k < g.count; k += LANES) {
    hashes[k] = hash_pair(pair_word((i32)(k / g.width), (i32)(k % g.width)));
    visited[k] = 0;
    if (is_open(g, k)) find_around(g, k, around + k);
  }
  sync();
  auto table_size = [&](u32 size) { return table_room(min_of(g.count, size * (g.diagonal ? 8 : 4))); };
  for_each_object(c, s, [&](u32 size) { return 4 * table_size(size); }, [&](u32 n, u32 *slots) {
    u32 size = table_size(s.start[n + 1] - s.start[n]);
    Flood f = {&g, around, hashes, s.number, visited, n, s.start[n],
               {slots, slots + size, 0, 0, 0}, {slots + size * 2, slots + size * 3, 0, 0, 0}};
    flood_from(f, s.first[n], dots + s.start[n]);
  });
}

/// `frozenset(cells)` of every object.
OUTLINE void freeze_all(Ctx &c, const Sequence &s, const Dot *dots, V *objects) {
  u32 cells = s.start[s.count];
  spend(c, cells);
  Dot *items = room_for<Dot>(c, cells);
  u32 *places = room_for<u32>(c, cells), mark = c.top;
  u64 *hashes = room_for<u64>(c, cells);
  if (c.stop) return;
  for (u32 k = lane(); k < cells; k += LANES) hashes[k] = hash_cell(c, dots[k].at, dots[k].color);
  sync();
  for_each_object(c, s, [&](u32 size) { return 2 * table_room(size); }, [&](u32 n, u32 *slots) {
    u32 start = s.start[n], size = s.start[n + 1] - start;
    Table table = {slots, slots + table_room(size), 0, 0, 0};
    table_clear(table);
    for (u32 k = 0; k < size; k++) table_add(table, hashes + start, k);
    table_freeze(table, hashes + start);
    u32 done = start, lg = 3;
    for (u32 at = 0; at <= table.mask; at++) {
      u32 k = table.slots[at];
      if (k >= DUMMY) continue;
      items[done] = dots[start + k];
      places[done++] = at;
    }
    while ((1u << lg) <= table.mask) lg++;
    V object = list_at(c, SET_C, items + start, size);
    object.flags = ORDERED;
    object.lg = (u8)lg;
    object.hi = size > 1 ? offset_of(c, places + start) : 0;
    objects[n] = object;
  });
  c.top = mark;
}

/// The objects in the sequence in which Python finds them: lists of cells, as it finds those, or frozensets.
OUTLINE void find_in_order(Ctx &c, const Joining &g, bool frozen, Found *found) {
  spend(c, (u64)g.count * 8);
  Dot *dots = room_for<Dot>(c, g.count);
  Sequence s = {0, scratch_for<u32>(c, g.count + 1), nullptr, nullptr};
  u32 mark = c.top;
  if (c.stop) return;
  find_sequence(c, g, &s);
  if (c.stop) return;
  flood_all(c, g, s, dots);
  c.top = mark;
  V *objects = room_for<V>(c, s.count);
  if (c.stop) return;
  found->objects = objects;
  found->count = s.count;
  if (frozen) return freeze_all(c, s, dots, objects);
  for (u32 n = lane(); n < s.count; n += LANES)
    objects[n] = make(SET_C, 0, s.start[n + 1] - s.start[n], offset_of(c, dots + s.start[n]), 0);
  sync();
}

/// The objects as sets of cells, in a set.
OUTLINE V objects_as_sets(Ctx &c, const Joining &g, const Codes *codes) {
  Found found = {nullptr, 0, false};
  if (c.exact) find_in_order(c, g, !codes, &found);
  else unite_all(c, g, &found);
  CHECK(c);
  for (u32 k = 0; k < found.count && codes; k++) {
    V object = decoded(c, found.objects[k], *codes);
    TRY(object);
    object = build_distinct(c, object, FROZEN);
    TRY(object);
    sync();
    put(found.objects + k, object);
  }
  sync();
  u8 how = found.sequenced ? FROZEN | SEQUENCED : FROZEN;
  return build_distinct(c, list_at(c, SET_V, found.objects, found.count), how);
}

/// The objects as tuples of cells, in a tuple, all as Python finds them.
OUTLINE V objects_as_tuples(Ctx &c, const Joining &g, const Codes *codes) {
  // Where the host has not worked out the order of all locations, it is known in an exact launch alone.
  if (!c.exact && !ranks_of(c, g.height, g.width)) return stop(c, ORDER);
  Found found = {nullptr, 0, false};
  find_in_order(c, g, false, &found);
  CHECK(c);
  for (u32 k = 0; k < found.count; k++) {
    V object = found.objects[k];
    if (codes) object = decoded(c, object, *codes);
    TRY(object);
    const V *cells = elements(c, object);
    CHECK(c);
    object = tuple_at(c, cells, object.len);
    TRY(object);
    sync();
    put(found.objects + k, object);
  }
  sync();
  return tuple_at(c, found.objects, found.count);
}

/// What belongs to one object, and whether objects are tuples.
struct ObjectKind {
  bool univalued, diagonal, tuples;
};

/// The objects of a grid. `background`: a colour, or 256 for none. `codes`: what the colours stand for; null for colours.
OUTLINE V objects_of(Ctx &c, const Grid &grid, ObjectKind kind, u32 background, const Codes *codes) {
  u64 count = (u64)grid.height * grid.width;
  if (count > MOST_LABELS) return stop(c, SIZE);
  Joining g = {grid.cells, grid.height, grid.width, (u32)count, background, kind.univalued, kind.diagonal};
  spend(c, count / 4);
  return kind.tuples ? objects_as_tuples(c, g, codes) : objects_as_sets(c, g, codes);
}

/// The objects of something that is no grid of colours.
OUTLINE V objects_of_values(Ctx &c, V v, ObjectKind kind, V background) {
  u32 height, width;
  V fault = grid_dims(c, v, &height, &width);
  TRY(fault);
  if (width == 0) return kind.tuples ? empty_tuple() : empty_set();
  Grid grid;
  Codes codes;
  fault = encode_grid(c, v, height, width, &grid, &codes);
  TRY(fault);
  // In an object of one value a nan is not even accepted as its own cell, and the fill goes on as if it were not there.
  if ((c.exact || kind.tuples) && kind.univalued && codes.nans) return odd(c);
  i32 closed = code_of(c, codes, background);
  CHECK(c);
  return objects_of(c, grid, kind, closed < 0 ? 256 : (u32)closed, &codes);
}

/// The objects of a grid, or of what is walked like one.
OUTLINE V find_objects(Ctx &c, V v, ObjectKind kind, V background) {
  Grid grid;
  bool is_grid = small_grid(c, v, &grid);
  CHECK(c);
  if (!is_grid) return objects_of_values(c, v, kind, background);
  return objects_of(c, grid, kind, background.kind == INT ? background.lo : 256, nullptr);
}

OP(objects)(Ctx &c, V v, V univalued, V diagonal, V without_bg) {
  V background = none();
  if (truth(c, without_bg)) background = op_mostcolor(c, v);
  TRY(background);
  ObjectKind kind = {truth(c, univalued), truth(c, diagonal), false};
  return find_objects(c, v, kind, background);
}

// ---- By colour --------------------------------------------------------------------------------------------------

/// `grid[i][j] == color` for all values of something that is walked like a grid but is none: calls for the locations, or
/// the cells, that have it. Room for all of them must be at `to`; gives their number.
OUTLINE u32 matches_in_rows(Ctx &c, V v, V color, bool with_color, V *to) {
  u32 n = length(c, v), found = 0;
  for (u32 i = 0; i < n && !c.stop; i++) {
    V row = item(c, v, i);
    u32 m = length(c, row);
    for (u32 j = 0; j < m && !c.stop; j++) {
      V value = item(c, row, j);
      if (!equal(c, value, color)) continue;
      put(to + found++, with_color ? cell_from(c, value, integer(i), integer(j)) : int_pair(c, i, j));
    }
  }
  sync();
  return found;
}

/// `ofcolor` of something that is no grid.
OUTLINE V places_in_rows(Ctx &c, V v, V color) {
  Rows rows;
  V fault = look_at_rows(c, v, &rows);
  TRY(fault);
  spend(c, rows.total);
  ROOM(V, places, c, rows.total + 1);
  u32 found = matches_in_rows(c, v, color, false, places);
  CHECK(c);
  if (found > 0 && !rows.ordered) return stop(c, ORDER);
  return build_values(c, places, found);
}

/// The positions of a colour in a grid, row by row, written by `write(number, position)`. Gives how many there are.
template <class Write> INLINE u32 each_of_color(const Grid &grid, u32 color, Write write) {
  u32 n = grid.height * grid.width, found = 0;
  for (u32 from = 0; from < n; from += LANES) {
    u32 k = from + lane();
    bool mine = k < n && grid.cells[k] == color;
    u32 bits = ballot(mine);
    if (mine) write(found + popcount(bits & lanes_before()), k);
    found += popcount(bits);
  }
  sync();
  return found;
}

OP(ofcolor)(Ctx &c, V v, V color) {
  Grid grid;
  if (!small_grid(c, v, &grid)) {
    CHECK(c);
    return places_in_rows(c, v, color);
  }
  i64 wanted;
  if (!integral(color, &wanted) || wanted < 0 || wanted > 255) return empty_set();
  u32 width = grid.width;
  spend(c, grid.height * width / LANES);
  ROOM(u32, pairs, c, grid.height * width);
  u32 found = each_of_color(grid, (u32)wanted, [&](u32 to, u32 k) {
    pairs[to] = pair_word((i32)(k / width), (i32)(k % width));
  });
  c.top = (offset_of(c, pairs + found) + 15) & ~15u;
  return build_distinct(c, list_at(c, SET_P, pairs, found), BUILD);
}

/// `partition` of something that is no grid: one object a colour.
OUTLINE V partition_of_rows(Ctx &c, V v, V colors, V *objects) {
  Rows rows;
  V fault = look_at_rows(c, v, &rows);
  TRY(fault);
  if (!rows.ordered) return stop(c, ORDER);
  for (u32 k = 0; k < colors.len; k++) {
    spend(c, rows.total);
    ROOM(V, cells, c, rows.total + 1);
    u32 found = matches_in_rows(c, v, item(c, colors, k), true, cells);
    CHECK(c);
    V object = build_values(c, cells, found);
    TRY(object);
    put(objects + k, object);
  }
  sync();
  return build_values(c, objects, colors.len);
}

/// *Build* of one object a colour, in the order of the set of colours.
OUTLINE V partition_by(Ctx &c, V v, V colors) {
  if (!is_set(colors)) return failed(TYPE_);
  if (colors.len == 0) return empty_set();
  ROOM(V, objects, c, colors.len);
  Grid grid;
  if (!small_grid(c, v, &grid)) {
    CHECK(c);
    return partition_of_rows(c, v, colors, objects);
  }
  u32 width = grid.width, n = grid.height * width, done = 0;
  spend(c, (u64)n * colors.len / LANES);
  ROOM(Dot, dots, c, n);
  for (u32 k = 0; k < colors.len; k++) {
    u32 color = item(c, colors, k).lo;
    Dot *to = dots + done;
    u32 found = each_of_color(grid, color, [&](u32 number, u32 at) {
      Dot d = {pair_word((i32)(at / width), (i32)(at % width)), (i32)color};
      to[number] = d;
    });
    done += found;
    V object = build_distinct(c, list_at(c, SET_C, to, found), BUILD);
    TRY(object);
    put(objects + k, object);
  }
  sync();
  // One object a colour: all different.
  return build_distinct(c, list_at(c, SET_V, objects, colors.len), BUILD | sequence_of(colors));
}

/// `colors - {background}`.
OUTLINE V other_colors(Ctx &c, V colors, V background) {
  ROOM(V, items, c, 1);
  put(items, background);
  sync();
  V one = build_values(c, items, 1);
  TRY(one);
  return set_minus(c, colors, one);
}

OP(partition)(Ctx &c, V grid) {
  V colors = op_palette(c, grid);
  TRY(colors);
  return partition_by(c, grid, colors);
}
OP(fgpartition)(Ctx &c, V grid) {
  V colors = op_palette(c, grid);
  TRY(colors);
  V background = op_mostcolor(c, grid);
  TRY(background);
  colors = other_colors(c, colors, background);
  TRY(colors);
  return partition_by(c, grid, colors);
}

// ---- Occurrences --------------------------------------------------------------------------------------------------

/// Does an object occur at an offset? For one lane.
INLINE bool occurs_at(const Grid &grid, const Dot *dots, u32 n, i32 i, i32 j) {
  for (u32 k = 0; k < n; k++) {
    // What is negative is large without its sign.
    u32 a = (u32)(row_of(dots[k].at) + i), b = (u32)(column_of(dots[k].at) + j);
    if (a >= grid.height || b >= grid.width || grid.cells[a * grid.width + b] != dots[k].color) return false;
  }
  return true;
}

/// Which of the first `rows` and `columns` of places an object occurs at, if `top` and `left` of it stand there.
OUTLINE V occurrences_of(Ctx &c, const Grid &grid, V cells, i32 top, i32 left, u32 rows, u32 columns) {
  u32 n = rows * columns, found = 0;
  const Dot *dots = dots_of(c, cells);
  spend(c, (u64)n * (cells.len / 4 + 1) / LANES);
  ROOM(u32, pairs, c, n);
  for (u32 from = 0; from < n; from += LANES) {
    u32 k = from + lane();
    i32 i = (i32)(k / columns), j = (i32)(k % columns);
    bool mine = k < n && occurs_at(grid, dots, cells.len, i - top, j - left);
    u32 bits = ballot(mine);
    if (mine) pairs[found + popcount(bits & lanes_before())] = pair_word(i, j);
    found += popcount(bits);
  }
  sync();
  return build_distinct(c, list_at(c, SET_P, pairs, found), FROZEN);
}

/// The fault of taking the elements of a container for cells; none() if they are. `*failing`: how many are not.
OUTLINE V fault_of_cells(Ctx &c, V container, u32 *failing) {
  u32 n = length(c, container);
  V outcome = none();
  *failing = 0;
  for (u32 k = 0; k < n; k++) {
    V color, i, j;
    V fault = unpack_cell(c, item(c, container, k), &color, &i, &j);
    if (fault.kind == STOPPED) return fault;
    if (fault.kind != FAILED) continue;
    bool another = outcome.kind == FAILED && outcome.flags != fault.flags;
    if (another && !in_order(container)) return stop(c, FAULTS);
    if (++*failing == 1) outcome = fault;
  }
  return outcome;
}

/// A list of cells with the numbers of their colours instead; -1 for those that have none.
OUTLINE V encoded_cells(Ctx &c, V cells, const Codes &codes) {
  ROOM(Dot, dots, c, cells.len);
  for (u32 k = 0; k < cells.len; k++) {
    Dot d = dots_of(c, cells)[k];
    d.color = code_of(c, codes, integer(d.color));
    put(dots + k, d);
  }
  sync();
  CHECK(c);
  return list_at(c, SET_C, dots, cells.len);
}

/// Occurrences of anything but an object in a grid. `normed` has been moved to the origin.
OUTLINE V other_occurrences(Ctx &c, V v, u32 height, u32 width, V normed, V shape) {
  V tall, wide;
  V fault = unpack_pair(c, shape, &tall, &wide);
  TRY(fault);
  if (!is_number(tall) || !is_number(wide)) return failed(TYPE_);
  if (!fits32(number_of(tall)) || !fits32(number_of(wide))) return odd(c);
  i64 rows = (i64)height - number_of(tall) + 1, columns = (i64)width - number_of(wide) + 1;
  if (rows <= 0 || columns <= 0) return empty_set();
  if (rows > 32767 || columns > 32767) return stop(c, SIZE);
  if (!is_container(normed)) return failed(TYPE_);
  // Nothing occurs everywhere.
  if (length(c, normed) == 0) return rectangle(c, 0, 0, rows - 1, columns - 1, FROZEN);
  if (normed.kind != SET_C) {
    u32 failing;
    fault = fault_of_cells(c, normed, &failing);
    return is_bad(fault) && failing == length(c, normed) ? fault : odd(c);
  }
  Grid grid;
  bool is_grid = small_grid(c, v, &grid);
  CHECK(c);
  if (!is_grid) {
    Codes codes;
    fault = encode_grid(c, v, height, width, &grid, &codes);
    // Short rows matter only to those who look there.
    if (is_bad(fault)) return odd(c);
    normed = encoded_cells(c, normed, codes);
    TRY(normed);
  }
  return occurrences_of(c, grid, normed, 0, 0, (u32)rows, (u32)columns);
}

OP(occurrences)(Ctx &c, V v, V obj) {
  Grid grid;
  if (is_container(obj)) spend(c, length(c, obj) / 16);
  bool is_grid = small_grid(c, v, &grid);
  CHECK(c);
  if (is_grid && obj.kind == SET_C) {
    Bounds b = bounds_of(c, obj);
    i32 rows = (i32)grid.height - (b.bottom - b.top), columns = (i32)grid.width - (b.right - b.left);
    if (rows <= 0 || columns <= 0) return empty_set();
    return occurrences_of(c, grid, obj, b.top, b.left, (u32)rows, (u32)columns);
  }
  V normed = op_normalize(c, obj);
  TRY(normed);
  u32 height, width;
  V fault = grid_dims(c, v, &height, &width);
  TRY(fault);
  V shape = op_shape(c, obj);
  TRY(shape);
  return other_occurrences(c, v, height, width, normed, shape);
}

// ---- Frontiers ------------------------------------------------------------------------------------------------------

/// The cells from a position on, `count` of them, `step` apart: a frozen set.
OUTLINE V line_of_cells(Ctx &c, const Grid &grid, const Codes *codes, u32 start, u32 step, u32 count) {
  ROOM(Dot, dots, c, count);
  for (u32 k = lane(); k < count; k += LANES) {
    u32 at = start + k * step;
    Dot d = {pair_word((i32)(at / grid.width), (i32)(at % grid.width)), grid.cells[at]};
    dots[k] = d;
  }
  sync();
  V list = list_at(c, SET_C, dots, count);
  if (codes) list = decoded(c, list, *codes);
  TRY(list);
  return build_distinct(c, list, FROZEN);
}

/// The lines of a single colour among `lines` parallel ones of `count` cells each. Gives how many there are; a fault of
/// making them is in c.stop.
OUTLINE u32 uniform_lines(Ctx &c, const Grid &grid, const Codes *codes, u32 lines, u32 between, u32 count, u32 step,
                          V *to) {
  u32 found = 0;
  for (u32 from = 0; from < lines; from += LANES) {
    u32 line = from + lane();
    bool uniform = line < lines;
    for (u32 k = 1; k < count && uniform; k++)
      uniform = grid.cells[line * between + k * step] == grid.cells[line * between];
    u32 bits = ballot(uniform);
    for (; bits && !c.stop; bits &= bits - 1) {
      V object = line_of_cells(c, grid, codes, (from + lowest(bits)) * between, step, count);
      if (!is_bad(object)) put(to + found++, object);
    }
  }
  sync();
  return found;
}

/// Numbers the values of something that is no grid of colours, for frontiers: rows are walked to their end.
OUTLINE V encode_whole_rows(Ctx &c, V v, u32 height, u32 width, Grid *grid, Codes *codes) {
  for (u32 i = 0; i < height; i++) {
    V row = item(c, v, i);
    if (!is_tuple(row) || length(c, row) != width) return odd(c);
  }
  V fault = encode_grid(c, v, height, width, grid, codes);
  TRY(fault);
  return codes->nans ? odd(c) : none();
}

OP(frontiers)(Ctx &c, V v) {
  u32 height, width;
  V fault = grid_dims(c, v, &height, &width);
  TRY(fault);
  Grid grid;
  Codes coded;
  const Codes *codes = nullptr;
  if (!small_grid(c, v, &grid)) {
    CHECK(c);
    fault = encode_whole_rows(c, v, height, width, &grid, &coded);
    TRY(fault);
    if (width == 0) return empty_set();
    codes = &coded;
  }
  spend(c, height + width + grid.height * grid.width / 16);
  ROOM(V, lines, c, height + width);
  u32 rows = uniform_lines(c, grid, codes, height, width, width, 1, lines);
  // In a single cell, row and column are the same.
  u32 columns = height * width == 1 ? 0 : uniform_lines(c, grid, codes, width, 1, height, width, lines + rows);
  CHECK(c);
  if (!c.exact) return list_at(c, SET_V, lines, rows + columns);
  V horizontal = build_distinct(c, list_at(c, SET_V, lines, rows), FROZEN);
  TRY(horizontal);
  V vertical = columns ? build_distinct(c, list_at(c, SET_V, lines + rows, columns), FROZEN)
             : height * width == 1 ? set_copy(c, horizontal)
                                   : empty_set();
  TRY(vertical);
  return set_union(c, horizontal, vertical);
}

// ---- Periods --------------------------------------------------------------------------------------------------------

/// The smallest shift along an axis that maps a set of cells, moved to the origin, into itself, as far as it stays.
OUTLINE V period_of_cells(Ctx &c, V cells, bool columns) {
  Bounds box = bounds_of(c, cells);
  i32 extent = columns ? box.right - box.left + 1 : box.bottom - box.top + 1;
  Bits bits;
  bool quick = colors_are_digits(c, cells) && bits_for(c, box, true, &bits);
  if (quick) set_bits(c, bits, cells, true);
  const Dot *dots = dots_of(c, cells);
  for (i32 p = 1; p < extent; p++) {
    spend(c, (quick ? cells.len / 16 : (u64)cells.len * cells.len / 4 / LANES) + 1);
    bool missing = false;
    for (u32 k = lane(); k < cells.len && !missing; k += LANES) {
      Dot d = dots[k];
      i32 i = row_of(d.at) - (columns ? 0 : p), j = column_of(d.at) - (columns ? p : 0);
      if (i < 0 || j < 0) continue;
      u32 at = pair_word(i, j);
      bool found = false;
      if (quick) found = in_box(box, at) && bit_is_set(bits, bit_of(bits, at) + (u32)d.color * bits.area);
      else
        for (u32 m = 0; m < cells.len && !found; m++) found = dots[m].at == at && dots[m].color == d.color;
      missing = !found;
    }
    if (!any(missing)) return integer(p);
    if (c.fuel < 0) return stop(c, FUEL);
  }
  return integer(extent);
}

/// The period of something that is no set of cells: none unless it has no extent.
OUTLINE V other_period(Ctx &c, V normed, V extent) {
  TRY(extent);
  if (!is_number(extent)) return failed(TYPE_);
  if (number_of(extent) <= 1) return extent;
  // It is moved and looked at cell by cell; what is moved stays as it is but for its numbers.
  V moved = op_shift(c, normed, pair_of_word(0));
  TRY(moved);
  u32 failing;
  V fault = fault_of_cells(c, moved, &failing);
  return is_bad(fault) ? fault : odd(c);
}

OP(hperiod)(Ctx &c, V obj) {
  V normed = op_normalize(c, obj);
  TRY(normed);
  return normed.kind == SET_C ? period_of_cells(c, normed, true) : other_period(c, normed, op_width(c, normed));
}
OP(vperiod)(Ctx &c, V obj) {
  V normed = op_normalize(c, obj);
  TRY(normed);
  return normed.kind == SET_C ? period_of_cells(c, normed, false) : other_period(c, normed, op_height(c, normed));
}

// ---- tokpidjin --------------------------------------------------------------------------------------------------------

/// `objects` and `objects_t`, but for the empty tuple.
OUTLINE V objects_in(Ctx &c, V v, V without_bg, ObjectKind kind) {
  // Whatever the background of a set is, it has no rows.
  if (!is_tuple(v)) return failed(TYPE_);
  V background = truth(c, without_bg) ? safely(c, tok_mostcolor_t(c, v), TO_ZERO) : none();
  TRY(background);
  return find_objects(c, v, kind, background);
}
TOK(objects)(Ctx &c, V v, V univalued, V diagonal, V without_bg) {
  if (is_tuple(v) && length(c, v) == 0) return empty_set();
  ObjectKind kind = {truth(c, univalued), truth(c, diagonal), false};
  return objects_in(c, v, without_bg, kind);
}
TOK(objects_t)(Ctx &c, V v, V univalued, V diagonal, V without_bg) {
  if (is_tuple(v) && length(c, v) == 0) return empty_tuple();
  ObjectKind kind = {truth(c, univalued), truth(c, diagonal), true};
  return objects_in(c, v, without_bg, kind);
}
ALIAS4(objects_g, objects_t)

/// Is it a code of `o_g`?
INLINE bool is_object_code(V type, i64 *code) { return integral(type, code) && *code >= 0 && *code <= 7; }

TOK(o_g)(Ctx &c, V grid, V type) {
  i64 code;
  if (!is_object_code(type, &code)) return none();
  V objects = tok_objects(c, grid, boolean(code & 4), boolean(code & 2), boolean(code & 1));
  return safely(c, objects, TO_EMPTY_SET);
}
TOK(o_g_t)(Ctx &c, V grid, V type) {
  i64 code;
  if (!is_object_code(type, &code)) return none();
  return tok_objects_t(c, grid, boolean(code & 4), boolean(code & 2), boolean(code & 1));
}
ALIAS2(o_g_tuple, o_g_t)
TOK(partition)(Ctx &c, V grid) {
  V colors = safely(c, tok_palette_t(c, grid), TO_EMPTY_SET);
  TRY(colors);
  return partition_by(c, grid, colors);
}
TOK(fgpartition)(Ctx &c, V grid) {
  V colors = safely(c, tok_palette_t(c, grid), TO_EMPTY_SET);
  TRY(colors);
  V background = safely(c, tok_mostcolor_t(c, grid), TO_ZERO);
  TRY(background);
  colors = other_colors(c, colors, background);
  TRY(colors);
  return partition_by(c, grid, colors);
}
SAME2(colorfilter, colorfilter)
TOK(colorfilter_t)(Ctx &c, V objs, V color) {
  if (!is_container(objs)) return failed(TYPE_);
  u32 n = length(c, objs);
  owe_for(c, objs);
  spend(c, n);
  ROOM(u8, keep, c, n + 1);
  for (u32 k = 0; k < n; k++) {
    V cell = at(c, item(c, objs, k), 0);
    TRY(cell);
    V value = at(c, cell, 2);
    TRY(value);
    bool same = equal(c, value, color);
    CHECK(c);
    put(keep + k, (u8)same);
  }
  sync();
  return tuple_keep(c, objs, keep);
}
TOK(occurrences)(Ctx &c, V v, V obj) {
  Grid grid;
  if (obj.kind == SET_C && small_grid(c, v, &grid)) return op_occurrences(c, v, obj);
  V normed = safely(c, tok_normalize(c, obj), TO_EMPTY_SET);
  TRY(normed);
  u32 height, width;
  V fault = grid_dims(c, v, &height, &width);
  TRY(fault);
  V shape = safely(c, tok_shape_f(c, obj), TO_EMPTY_TUPLE);
  TRY(shape);
  return other_occurrences(c, v, height, width, normed, shape);
}
SAME1(frontiers, frontiers)
SAME2(f_ofcolor, ofcolor)
SAME1(asindices, asindices)

/// Is it a tuple of tuples of integers?
OUTLINE bool is_grid_of_integers(Ctx &c, V v) {
  if (!is_tuple(v)) return false;
  if (v.kind == GRID) return true;
  owe_for(c, v);
  u32 n = length(c, v);
  for (u32 i = 0; i < n; i++) {
    V row = item(c, v, i);
    if (!is_tuple(row)) return false;
    if (row.kind == ROW || row.kind == PAIR) continue;
    u32 m = length(c, row);
    for (u32 j = 0; j < m; j++)
      if (!is_number(item(c, row, j))) return false;
  }
  return true;
}
TOK(asobject)(Ctx &c, V grid) { return is_grid_of_integers(c, grid) ? op_asobject(c, grid) : empty_set(); }
TOK(is_no_grid)(Ctx &c, V x) { return boolean(!is_grid_of_integers(c, x)); }
TOK(toobject)(Ctx &c, V patch, V v) {
  if (is_real_patch(patch)) return op_toobject(c, patch, v);
  u32 height, width;
  V fault = grid_dims(c, v, &height, &width);
  TRY(fault);
  V places = safely(c, tok_toindices(c, patch), TO_EMPTY_SET);
  TRY(places);
  return cells_under(c, places, v, height, width);
}

const u64 MINUS_INFINITY = 0xfff0000000000000ull;

/// The colour of an object: that of its first cell. Which one that is matters only if there are several colours.
OUTLINE V color_of_cells(Ctx &c, V cells) {
  const Dot *dots = dots_of(c, cells);
  bool another = false;
  for (u32 k = lane(); k < cells.len; k += LANES) another |= dots[k].color != dots[0].color;
  if (any(another)) {
    NEED_ORDER(c, cells);
    owe_for(c, cells);
  }
  return integer(dots[0].color);
}
TOK(color)(Ctx &c, V obj) {
  if (obj.kind == SET_C) return color_of_cells(c, obj);
  if (is_empty_container(c, obj)) return floating_bits(MINUS_INFINITY);
  if (!is_container(obj)) return failed(TYPE_);
  if (obj.kind == SET_P) return failed(INDEX_);
  bool any_tuple = false;
  if (!in_order(obj)) {
    for (u32 k = 0; k < obj.len; k++) any_tuple |= is_tuple(values_of(c, obj)[k]);
    if (any_tuple) return stop(c, ORDER);
  }
  V first = item(c, obj, 0);
  return is_tuple(first) ? at(c, first, 2) : floating_bits(MINUS_INFINITY);
}
