// Tuples and sets of anything. Patches are sets here, too: where only their elements count, a mask
// operation does the work.

// This is in objects.cuh, which comes later.
INLINE bool property_of(const V &v, u32 property, i64 *value);

/// More elements than this are left to the CPU: those of sets are compared in pairs, and one lane puts joined
/// ones in order.
const u32 MOST_DISTINCT = 2048, MOST_ELEMENTS = 4096, MOST_JOINED = 1024;
/// The fault of a value without the method that Python calls.
const FaultCode ATTRIBUTE_ERROR = (FaultCode)3;

// ---- The order of a set, for one lane ----------------------------------------------------------

INLINE u64 hash_grid_alone(const V &v) {
  u64 acc = P5;
  for (u32 l = 0; l < v.a; l++) {
    u64 row = P5;
    u32 width = row_width(v, l);
    for (u32 j = 0; j < width; j++) row = hash_lane(row, color_at(v, l, j));
    acc = hash_lane(acc, hash_end(row, width));
  }
  return hash_end(acc, v.a);
}
INLINE u64 hash_patch_alone(const Ctx &c, const V &v) {
  u64 acc = 0;
  for (u32 l = 0; l < v.a; l++)
    for (u32 todo = patch_row(v, 0, l); todo; todo &= todo - 1) {
      u32 column = lowest(todo);
      i32 i = row_of(v.len) + (i32)l, j = column_of(v.len) + (i32)column;
      acc ^= hash_part(v.kind == OBJECT ? hash_cell(c, i, j, patch_color(v, l, column)) : hash_pair(i, j));
    }
  return hash_set(acc, size_of_patch(v));
}
/// The hash of a value whose containers nest at most DEPTH deep; false for others.
template <int DEPTH> CALLED bool hash_alone(const Ctx &c, const V &v, u64 *hash) {
  switch (v.kind) {
    case BOOL:
    case INT: *hash = hash_int(int_of(v)); return true;
    case PAIR: *hash = hash_pair(row_of(v.len), column_of(v.len)); return true;
    case CELL: *hash = hash_cell(c, row_of(v.len), column_of(v.len), v.a); return true;
    case GRID:
    case RAGGED:
    case WIDE: *hash = hash_grid_alone(v); return true;
    case INDICES:
    case OBJECT: *hash = hash_patch_alone(c, v); return true;
    case TUPLE:
    case SET: break;
    default: return false;
  }
  if (DEPTH == 0) return false;
  u64 acc = v.kind == TUPLE ? P5 : 0;
  for (u32 k = 0; k < v.len; k++) {
    u64 own;
    if (!hash_alone<(DEPTH ? DEPTH - 1 : 0)>(c, ((const V *)v.bits)[k], &own)) return false;
    acc = v.kind == TUPLE ? hash_lane(acc, own) : acc ^ hash_part(own);
  }
  *hash = v.kind == TUPLE ? hash_end(acc, v.len) : hash_set(acc, v.len);
  return true;
}

/// `first_rank` for one lane.
INLINE u32 first_rank_alone(const V &v, const u16 *ranks, u32 width) {
  u32 best = 0xffffffffu;
  for (u32 l = 0; l < v.a; l++)
    for (u32 todo = patch_row(v, 0, l); todo; todo &= todo - 1) {
      u32 row = (u32)row_of(v.len) + l, column = (u32)column_of(v.len) + lowest(todo);
      best = min_of(best, (u32)ranks[row * width + column]);
    }
  return best;
}
/// More elements than a lane puts in order alone, while 31 others wait.
const u32 MOST_QUICK = 8;
/// The first or the last element of a container, by a lane alone. It leaves large sets to all lanes. Faults are
/// those of `first` and `last`.
INLINE V end_alone(const Ctx &c, const V &v, bool last) {
  i32 n = length_alone(c, v);
  if (n < 0) return v.kind == OP ? stopped(ODD) : fault(TYPE_);
  if (n == 0) return fault(last ? VALUE_ : STOP_ITERATION);
  u32 at = last ? (u32)n - 1 : 0;
  if (is_patch(v) && n == 1) return only_element(v);
  if (!is_unordered(v)) return element_alone(c, v, at);
  if (!may_walk(v)) return stopped(ORDER);
  if ((u32)n > MOST_QUICK) return deferred();
  return end_of_set<Lone>(c, v, last);
}

THREAD_OP(size)(const Ctx &c, Any container) {
  i32 n = length_alone(c, container);
  return n < 0 ? fault(TYPE_) : integer(n);
}
THREAD_OP(first)(const Ctx &c, Any container) { return end_alone(c, container, false); }
THREAD_OP(last)(const Ctx &c, Any container) { return end_alone(c, container, true); }
INLINE V op_first_by_all(const Ctx &c, Any container) { return end_of_set<Warp>(c, container, false); }
INLINE V op_last_by_all(const Ctx &c, Any container) { return end_of_set<Warp>(c, container, true); }

// ---- Elements ----------------------------------------------------------------------------------

/// Reads the elements of a container as they are stored. Returns a failure, or NONE.
CALLED V read_stored(const Ctx &c, const V &v, Items &items) {
  i32 n = length_alone(c, v);
  if (n < 0) return v.kind == OP ? stopped(ODD) : fault(TYPE_);
  if (v.kind == WIDE) return stopped(SIZE);
  items.count = (u32)n;
  items.ordered = !is_unordered(v);
  items.at = (const V *)v.bits;
  if (v.kind == TUPLE || v.kind == SET) return none();
  V *to = (V *)take(c, (u64)n * sizeof(V));
  if (!to) return stopped(MEMORY);
  if (v.kind == PAIR || v.kind == CELL) {
    for (u32 k = 0; k < items.count; k++) put(to + k, component(c, v, k));
  } else if (n && !spread_elements(c, v, to)) {
    return stopped(MEMORY);
  }
  sync();
  items.at = to;
  return none();
}
/// The same in iteration order, if it is known.
CALLED V read_items(const Ctx &c, const V &v, Items &items) {
  V sorted = is_unordered(v) ? with_order(c, v) : v;
  sync();
  return read_stored(c, is_value(sorted) ? sorted : v, items);
}
/// Whether something is true of any number below n.
template <class F> INLINE bool any_of(u32 n, F f) {
  return rows_of(rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32)
      if (f(k)) return 1u;
    return 0u;
  })) != 0;
}
/// The largest of a number of 31 bits for all numbers below n, which is not 0.
template <class F> INLINE u32 most_of(u32 n, F f) {
  return ~least(rows([&](u32 l) {
    u32 best = 0;
    for (u32 k = l; k < n; k += 32) best = max_of(best, (u32)f(k));
    return ~best;
  }));
}

// ---- Making sets -------------------------------------------------------------------------------

/// The value of some cells with the colours of four planes.
INLINE V cells_value(const Ctx &c, const Rows &mask, i32 top, i32 left, const Rows *plane) {
  return object(c, mask, top, left, one_color(mask, plane), plane);
}

/// Are all these values locations, or all cells, within 32 x 32 and with one cell at each location?
INLINE bool make_patch(const V *items, u32 n) {
  u8 kind = items[0].kind;
  if (kind != PAIR && kind != CELL) return false;
  if (any_of(n, [&](u32 k) { return items[k].kind != kind; })) return false;
  u32 bottom = most_of(n, [&](u32 k) { return row_of(items[k].len) + 32768; });
  u32 right = most_of(n, [&](u32 k) { return column_of(items[k].len) + 32768; });
  u32 above = most_of(n, [&](u32 k) { return 32768 - row_of(items[k].len); });
  u32 beside = most_of(n, [&](u32 k) { return 32768 - column_of(items[k].len); });
  if (bottom + above >= 65536 + SIDE || right + beside >= 65536 + SIDE) return false;
  return true;
}
/// The set of distinct values.
CALLED V set_of_distinct(const Ctx &c, const V *items, u32 n, Order order) {
  if (n == 0) return empty_patch();
  if (make_patch(items, n)) return set_of(c, items, n, order);
  return make(SET, 0, 0, n == 1 ? IN_ORDER : order, n, (u64)items);
}

/// Are equal values also alike in every other way? True may equal 1, and a set one in another order.
template <int DEPTH> CALLED bool are_alike(const V &x, const V &y) {
  if (x.kind != y.kind) return false;
  if (x.kind == SET) return x.bits == y.bits && x.c == y.c;
  if (x.kind != TUPLE || x.bits == y.bits) return true;
  const V *xs = (const V *)x.bits, *ys = (const V *)y.bits;
  for (u32 k = 0; k < x.len; k++)
    if (DEPTH == 0 || !are_alike<(DEPTH ? DEPTH - 1 : 0)>(xs[k], ys[k])) return false;
  return true;
}
/// Keeps the first of equal elements. Returns a failure, or NONE.
CALLED V drop_repeated(const Ctx &c, Items &items) {
  if (items.count < 2) return none();
  Distinct d;
  V failed = items.ordered ? find_distinct(c, items.at, items.count, d)
                           : find_distinct_unordered(c, items.at, items.count, d);
  if (failed.kind != NONE) return failed;
  items.at = d.items;
  items.count = d.count;
  return none();
}
/// The set that Python builds of some elements one by one.
INLINE V built_set(const Ctx &c, Items items) {
  V failed = drop_repeated(c, items);
  if (failed.kind != NONE) return failed;
  return set_of_distinct(c, items.at, items.count, items.ordered ? BUILT : UNKNOWN);
}
/// A container of the kind of `like`, of some of its elements.
INLINE V container_like(const Ctx &c, const V &like, const V *items, u32 n, bool ordered) {
  if (!any_set(like)) return tuple_value(c, items, n);
  return set_of_distinct(c, items, n, ordered ? BUILT : UNKNOWN);
}
/// The elements that `keep` chooses of those of a container as they are stored, in a container of the same
/// kind. The order of a set follows later.
template <class F> INLINE V kept_elements(const Ctx &c, const V &container, const Items &items, F keep) {
  V *to = (V *)take(c, (u64)(items.count + NOTE_ROOM) * sizeof(V));
  u16 *numbers = (u16 *)take(c, (u64)items.count * 2);
  if (!to || !numbers) return stopped(MEMORY);
  u32 n = copy_chosen(items, to, keep, numbers);
  if (items.ordered || !may_walk(container) || n == 0) return container_like(c, container, to, n, items.ordered);
  if (make_patch(to, n)) return made_of(c, set_of(c, to, n, UNKNOWN), container, GATHER);
  return settled(c, set_of_images(to, n, container, numbers));
}
/// The same for the elements that do not equal anything that `find` looks for.
template <class F> INLINE V elements_without(const Ctx &c, const V &container, F find) {
  Items items;
  V failed = read_stored(c, container, items);
  if (failed.kind != NONE) return failed;
  if (items.count > MOST_ELEMENTS) return stopped(SIZE);
  u32 unsure = 0;
  V left = kept_elements(c, container, items, [&](u32 k) {
    Answer answer = find(items.at[k]);
    if (answer == UNSURE) unsure = 1;
    return answer == NO;
  });
  return rows_of(rows([&](u32) { return unsure; })) ? stopped(ODD) : left;
}

// ---- Patches as sets ---------------------------------------------------------------------------

/// A patch on a board whose upper left corner is at (top, left).
struct Placed {
  Rows mask, plane[4]; // no planes for INDICES
};
INLINE Placed place_patch(const V &v, i32 top, i32 left) {
  Placed p;
  i32 down = row_of(v.len) - top, right = column_of(v.len) - left;
  p.mask = size_of_patch(v) ? moved(load_rows(payload_of(v), v.a), down, right) : no_rows();
  for (u32 k = 0; k < 4; k++) p.plane[k] = no_rows();
  if (v.kind != OBJECT) return p;
  for (u32 k = 0; k < 4; k++) {
    if (v.c == PLANES) p.plane[k] = moved(plane_of(v, k), down, right);
    else if (v.c >> k & 1) p.plane[k] = p.mask;
  }
  return p;
}
/// The cells that both have.
INLINE Rows shared_cells(const Placed &x, const Placed &y) {
  Rows both = x.mask & y.mask;
  for (u32 k = 0; k < 4; k++) both = without(both, x.plane[k] ^ y.plane[k]);
  return both;
}
/// The same patch, built anew of its elements.
INLINE V rebuilt(const Ctx &c, const V &v) {
  V made = v;
  if (is_patch(v)) made.bits = (u64)payload_of(v) | (u64)size_of_patch(v) << 48;
  return made_of(c, made, v, SAME_PLACES);
}
/// The part of a patch that another patch has, too, or has not.
INLINE V part_of_patch(const Ctx &c, const V &x, const V &y, bool shared) {
  bool same_kind = x.kind == y.kind && size_of_patch(x);
  // The difference is built anew of what is left.
  if (!same_kind) return shared ? empty_patch() : rebuilt(c, x);
  i32 top = row_of(x.len), left = column_of(x.len);
  Placed a = place_patch(x, top, left);
  Rows both = shared_cells(a, place_patch(y, top, left));
  Rows mask = shared ? both : without(a.mask, both);
  V v = x.kind == INDICES ? indices(c, mask, top, left) : cells_value(c, mask, top, left, a.plane);
  if (!shared) return made_of(c, v, x, GATHER);
  // Python goes through the smaller one, or through the right one. The set itself is copied.
  if (x.bits == y.bits) return v;
  return made_of(c, v, size_of_patch(x) < size_of_patch(y) ? x : y, GATHER);
}
/// A patch of one element, which is a PAIR or a CELL.
INLINE V patch_of_one(const V &element, u32 *to) {
  Kind kind = element.kind == CELL ? OBJECT : INDICES;
  return make(kind, 1, 1, element.kind == CELL ? element.a : 0, element.len, (u64)to | 1ull << 48);
}

/// What n patches have together.
struct Together {
  u8 kind;  // OBJECT or INDICES; STOPPED if they are of several kinds or far apart
  u32 size; // the sum of their sizes
  i32 top, left;
};
template <class F> INLINE Together bounds_together(u32 n, F patch) {
  Together all = {INDICES, 0, 0, 0};
  all.size = sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < n; k += 32) own += size_of_patch(patch(k));
    return own;
  }));
  if (all.size == 0) return all;
  // Numbers are offset, so that all are positive and 0 stands for an empty patch.
  auto most = [&](auto f) {
    return most_of(n, [&](u32 k) { return size_of_patch(patch(k)) ? (u32)(40000 + f(patch(k))) : 0u; });
  };
  u32 bottom = most([](const V &v) { return row_of(v.len) + (i32)v.a; });
  u32 right = most([](const V &v) { return column_of(v.len) + (i32)v.b; });
  u32 above = most([](const V &v) { return -row_of(v.len); });
  u32 beside = most([](const V &v) { return -column_of(v.len); });
  auto has = [&](Kind kind) {
    return any_of(n, [&](u32 k) { return patch(k).kind == kind && size_of_patch(patch(k)); });
  };
  bool cells = has(OBJECT), locations = has(INDICES);
  bool fits = bottom + above <= 80000 + SIDE && right + beside <= 80000 + SIDE;
  all.kind = !fits || (cells && locations) ? STOPPED : cells ? OBJECT : INDICES;
  all.top = 40000 - (i32)above;
  all.left = 40000 - (i32)beside;
  return all;
}
/// Boards for the locations of cells, for each plane with the colour's bit set, and for each with it clear.
const u32 BOARDS = 9;
/// Draws many patches, a lane each.
CALLED void draw_patches(u32 n, const V *list, const Together &all, u32 *boards) {
  (void)rows([&](u32 l) {
    for (u32 b = 0; b < BOARDS; b++) boards[SIDE * b + l] = 0;
    return 0u;
  });
  sync();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) {
      const V &v = list[k];
      i32 down = row_of(v.len) - all.top, right = column_of(v.len) - all.left;
      for (u32 i = 0; i < v.a && size_of_patch(v); i++) {
        u32 mask = patch_row(v, 0, i), *row = boards + down + i;
        atomic_or(row, mask << right);
        for (u32 b = 0; b < 4 && v.kind == OBJECT; b++) {
          u32 set = v.c == PLANES ? patch_row(v, b + 1, i) : v.c >> b & 1 ? mask : 0u;
          atomic_or(row + SIDE * (1 + b), set << right);
          atomic_or(row + SIDE * (5 + b), (mask & ~set) << right);
        }
      }
    }
    return 0u;
  });
  sync();
}
/// The union of the n patches of a list, which is that of `containers`; NONE if it needs a list.
CALLED V union_of(const Ctx &c, u32 n, const V *list, const V &containers, Making making) {
  auto patch = [&](u32 k) { return list[k]; };
  Together all = bounds_together(n, patch);
  if (all.kind == STOPPED) return none();
  if (all.size == 0) return empty_patch();
  Placed whole = {no_rows(), {no_rows(), no_rows(), no_rows(), no_rows()}};
  Rows clash = no_rows();
  if (n > 16) {
    u32 *boards = (u32 *)take(c, BOARDS * SIDE * 4);
    if (!boards) return stopped(MEMORY);
    draw_patches(n, list, all, boards);
    whole.mask = load_rows(boards, SIDE);
    for (u32 b = 0; b < 4 && all.kind == OBJECT; b++) {
      whole.plane[b] = load_rows(boards + SIDE * (1 + b), SIDE);
      clash = clash | (whole.plane[b] & load_rows(boards + SIDE * (5 + b), SIDE));
    }
  }
  for (u32 k = 0; k < n && n <= 16; k++) {
    const V v = patch(k);
    if (size_of_patch(v) == 0) continue;
    Placed p = place_patch(v, all.top, all.left);
    clash = clash | without(whole.mask & p.mask, shared_cells(whole, p));
    whole.mask = whole.mask | p.mask;
    for (u32 b = 0; b < 4; b++) whole.plane[b] = whole.plane[b] | p.plane[b];
  }
  if (!is_empty(clash)) return none();
  V v = all.kind == INDICES ? indices(c, whole.mask, all.top, all.left)
                            : cells_value(c, whole.mask, all.top, all.left, whole.plane);
  return made_of(c, v, containers, making);
}

/// The union of two patches; NONE if it needs a list.
INLINE V union_of_two(const Ctx &c, const V &a, const V &b, Making making) {
  V both = list_of_two(c, a, b);
  if (!both.len) return stopped(MEMORY);
  if (!may_walk(a) || !may_walk(b)) both = make(SET, 0, 0, UNKNOWN, 2, both.bits);
  return union_of(c, 2, (const V *)both.bits, both, making);
}

// ---- Ops ---------------------------------------------------------------------------------------

ROW_OP(totuple)(const Ctx &c, Any container) {
  if (any_tuple(container)) return container;
  Items items;
  V failed = read_items(c, container, items);
  if (failed.kind != NONE) return failed;
  if (!items.ordered) return container.kind == SET && container.c != UNKNOWN ? stopped(ODD) : stopped(ORDER);
  return tuple_value(c, items.at, items.count);
}

/// What closures go through: the elements of a location or a cell as a tuple, and other values as they are.
/// The tuple is no value that Python may see, as its one form is another.
THREAD_OP(members)(const Ctx &c, Any v) {
  if (v.kind != PAIR && v.kind != CELL) return v;
  u32 n = (u32)length_alone(c, v);
  V *to = (V *)room_alone(c, n * sizeof(V));
  if (!to) return stopped(MEMORY);
  for (u32 k = 0; k < n; k++) to[k] = component(c, v, k);
  return make(TUPLE, 0, 0, 0, n, (u64)to);
}

THREAD_OP(initset)(const Ctx &c, Any value) {
  void *to = room_alone(c, sizeof(V));
  if (!to) return stopped(MEMORY);
  if (value.kind == PAIR || value.kind == CELL) {
    *(u32 *)to = 1;
    return patch_of_one(value, (u32 *)to);
  }
  *(V *)to = value;
  return make(SET, 0, 0, IN_ORDER, 1, (u64)to);
}

/// A set with one more value. Python copies its table before.
INLINE V set_with(const Ctx &c, const V &set, const V &value) {
  Answer answer = contained_alone(c, value, set);
  if (answer == UNSURE) return stopped(ODD);
  u32 n = set.len + (answer == NO);
  V *items = (V *)take(c, (u64)n * sizeof(V)), *sorted = (V *)take(c, (u64)n * sizeof(V));
  if (!items || !sorted) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < set.len; k += 32) items[k] = ((const V *)set.bits)[k];
    return 0u;
  });
  if (answer == NO) put(items + set.len, value);
  sync();
  V unordered = make(SET, 0, 0, n == 1 ? IN_ORDER : UNKNOWN, n, (u64)items);
  bool in_sequence = set.c == BUILT || set.c == SEQUENCED || set.len == 1;
  // Up to four elements do not make a table grow, so it is as if all were added one by one.
  if (in_sequence && set.len < 4) return make(SET, 0, 0, n == 1 ? IN_ORDER : BUILT, n, (u64)items);
  V source = set;
  // A single element stands where it would in a table of its own.
  if (source.len == 1) source.c = BUILT;
  if (source.len > MOST_ORDERED) return unordered;
  u64 hash;
  if (!may_walk(source) || !hash_value<2>(c, value, &hash)) return unordered;
  KnownTable found = known_table(c, source);
  u16 *order = (u16 *)take(c, (u64)n * 2);
  if (!found.hashes || !order) return unordered;
  Table t = found.table;
  put(found.hashes + set.len, hash);
  sync();
  freeze<Warp>(t, found.hashes);
  make_room<Warp>(t, found.hashes, 1);
  if (answer == NO) add_all<Warp>(t, found.hashes, 1, [&](u32) { return set.len; });
  write_slots<Warp>(t, order);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) sorted[k] = items[order[k]];
    return 0u;
  });
  return make(SET, 0, 0, IN_ORDER, n, (u64)sorted);
}
ROW_OP(insert)(const Ctx &c, V value, V container) {
  if (!any_set(container)) return container.kind == OP ? stopped(ODD) : fault(ATTRIBUTE_ERROR);
  if (container.kind == SET) return set_with(c, container, value);
  u32 *word = (u32 *)take(c, 4);
  V *room = (V *)take(c, sizeof(V));
  if (!word || !room) return stopped(MEMORY);
  bool flat = value.kind == PAIR || value.kind == CELL;
  put(word, 1u);
  put(room, value);
  sync();
  V single = flat ? patch_of_one(value, word) : make(SET, 0, 0, IN_ORDER, 1, (u64)room);
  if (size_of_patch(container) == 0) return single;
  if (flat) {
    V all = union_of_two(c, container, single, UNITE);
    if (all.kind != NONE) return all;
  }
  Answer answer = contained_alone(c, value, container);
  if (answer == UNSURE) return stopped(ODD);
  // A set of several kinds.
  u32 n = size_of_patch(container);
  V *items = (V *)take(c, (u64)(n + 1) * sizeof(V));
  if (!items || !spread_elements(c, container, items)) return stopped(MEMORY);
  put(items + n, value);
  sync();
  return set_of_distinct(c, items, n + (answer == NO), UNKNOWN);
}

ROW_OP(remove)(const Ctx &c, V value, V container) {
  if (is_patch(container)) {
    Answer answer = contained_alone(c, value, container);
    if (answer == UNSURE || (answer == YES && value.kind == TUPLE)) return stopped(ODD);
    if (answer == NO) return rebuilt(c, container);
    u32 *word = (u32 *)take(c, 4);
    if (!word) return stopped(MEMORY);
    put(word, 1u);
    sync();
    return part_of_patch(c, container, patch_of_one(value, word), false);
  }
  return elements_without(c, container, [&](const V &item) { return equal_alone<3>(c, item, value); });
}

ROW_OP(other)(const Ctx &c, V container, V value) {
  Items items;
  // Mostly there are two elements, and one of them is left, whatever the order.
  V failed = read_stored(c, container, items);
  if (failed.kind != NONE) return failed;
  auto differs = [&](u32 k) { return equal_alone<3>(c, items.at[k], value); };
  if (any_of(items.count, [&](u32 k) { return differs(k) == UNSURE; })) return stopped(ODD);
  u32 left = sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < items.count; k += 32) own += differs(k) == NO;
    return own;
  }));
  if (left == 0) return fault(STOP_ITERATION);
  if (left > 1 && any_set(container)) {
    // The set is built anew without the value.
    V rest = elements_without(c, container, [&](const V &item) { return equal_alone<3>(c, item, value); });
    if (!is_value(rest)) return rest;
    rest = with_order(c, rest);
    sync();
    return is_value(rest) ? ((const V *)rest.bits)[0] : rest;
  }
  u32 at = least(rows([&](u32 l) {
    for (u32 k = l; k < items.count; k += 32)
      if (differs(k) == NO) return k;
    return 0xffffffffu;
  }));
  return items.at[at];
}

/// Writes the elements of a tuple, a set or a patch as they are stored, by a lane alone.
INLINE void spread_alone(const V &v, V *to) {
  if (is_patch(v)) {
    for (u32 i = 0; i < v.a && size_of_patch(v); i++)
      for (u32 todo = patch_row(v, 0, i); todo; todo &= todo - 1) *to++ = element_at(v, i << 5 | lowest(todo));
    return;
  }
  for (u32 k = 0; k < v.len; k++) to[k] = ((const V *)v.bits)[k];
}
/// Are these elements read by their numbers, all by a lane alone?
INLINE bool are_members(u32 n, const V *list) {
  return !any_of(n, [&](u32 k) { return list[k].kind != TUPLE && list[k].kind != SET && !is_patch(list[k]); });
}
/// The elements of such members, one after the other, as they are stored, and where those of each member begin.
/// Returns a failure, or NONE.
CALLED V joined_stored(const Ctx &c, u32 n, const V *list, Items &all, u32 *&starts) {
  starts = (u32 *)take(c, (u64)n * 4);
  if (!starts) return stopped(MEMORY);
  all.count = 0;
  for (u32 from = 0; from < n; from += 32) {
    Rows lengths = rows([&](u32 l) { return from + l < n ? length_of(list[from + l]) : 0u; });
    Rows before = sums_before(lengths);
    (void)rows([&](u32 l) {
      if (from + l < n) starts[from + l] = all.count + before[l];
      return 0u;
    });
    all.count += sum(lengths);
    if (all.count > MOST_ELEMENTS) return stopped(SIZE);
  }
  V *to = (V *)take(c, (u64)all.count * sizeof(V));
  if (!to) return stopped(MEMORY);
  sync();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) spread_alone(list[k], to + starts[k]);
    return 0u;
  });
  sync();
  all.at = to;
  all.ordered = false;
  return none();
}
/// Writes the numbers of a container's elements in iteration order, or as they are stored. Is the order known?
template <class T> INLINE bool write_order_if_known(const Ctx &c, const V &v, u16 *to) {
  if (write_order_of<T>(c, v, to).kind == NONE) return true;
  write_numbers<T>(to, length_of(v));
  return false;
}
/// The same in iteration order, if it is known.
CALLED V joined_in_order(const Ctx &c, u32 n, const V *list, Items &all) {
  u32 *starts;
  V failed = joined_stored(c, n, list, all, starts);
  if (failed.kind != NONE) return failed;
  if (all.count > MOST_JOINED) return stopped(SIZE);
  u16 *order = (u16 *)take(c, (u64)all.count * 2);
  V *to = (V *)take(c, (u64)all.count * sizeof(V));
  if (!order || !to) return stopped(MEMORY);
  const V *from = all.at;
  all.ordered = !rows_of(rows([&](u32 l) {
    u32 unknown = 0;
    for (u32 k = l; k < n; k += 32)
      if (is_short(n, list[k])) unknown |= !write_order_if_known<Lone>(c, list[k], order + starts[k]);
    return unknown;
  }));
  for (u32 k = 0; k < n; k++)
    if (!is_short(n, list[k])) all.ordered &= write_order_if_known<Warp>(c, list[k], order + starts[k]);
  sync();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32)
      for (u32 j = 0; j < length_of(list[k]); j++) to[starts[k] + j] = from[starts[k] + order[starts[k] + j]];
    return 0u;
  });
  sync();
  all.at = to;
  return none();
}
/// The same for containers of any kind.
template <class F> INLINE V joined_items(const Ctx &c, u32 n, F container, Items &all) {
  u64 total = 0;
  for (u32 k = 0; k < n; k++) {
    i32 own = length_alone(c, container(k));
    if (own < 0) return container(k).kind == OP ? stopped(ODD) : fault(TYPE_);
    total += (u32)own;
    if (total > MOST_JOINED) return stopped(SIZE);
  }
  V *to = (V *)take(c, total * sizeof(V));
  if (!to) return stopped(MEMORY);
  all.at = to;
  all.count = 0;
  all.ordered = true;
  for (u32 k = 0; k < n; k++) {
    Items items;
    V failed = read_items(c, container(k), items);
    if (failed.kind != NONE) return failed;
    u32 from = all.count;
    (void)rows([&](u32 l) {
      for (u32 j = l; j < items.count; j += 32) to[from + j] = items.at[j];
      return 0u;
    });
    all.count += items.count;
    all.ordered = all.ordered && items.ordered;
  }
  sync();
  return none();
}
/// The set of the elements of the members of a container, put in order when an op asks for it; NONE if that
/// cannot be.
INLINE V set_of_all_members(const Ctx &c, const V &parent) {
  const V *list = (const V *)parent.bits;
  if ((parent.kind != TUPLE && parent.kind != SET) || !are_members(parent.len, list)) return none();
  u32 nesting = 1 + max_of(nesting_of(parent), most_of(parent.len, [&](u32 k) { return nesting_of(list[k]); }));
  bool known = may_walk(parent) && !any_of(parent.len, [&](u32 k) { return !may_walk(list[k]); });
  bool plain = !is_unordered(parent) && !any_of(parent.len, [&](u32 k) { return is_unordered(list[k]); });
  if (plain || (known && nesting > MOST_NESTING)) return none();
  Items all;
  u32 *starts;
  V failed = joined_stored(c, parent.len, list, all, starts);
  if (failed.kind != NONE) return failed;
  if (!known) return set_of(c, all.at, all.count, UNKNOWN);
  if (all.count == 0) return none();
  if (make_patch(all.at, all.count) && patch_of_items(c, all.at, all.count).kind != NONE) return none();
  Distinct d;
  failed = find_distinct(c, all.at, all.count, d);
  if (failed.kind != NONE) return failed;
  return d.unlike || d.mixed ? none() : set_of_members(d.items, d.count, parent, d.numbers, nesting);
}
/// A tuple or a set of these elements.
INLINE V joined_value(const Ctx &c, const Items &all, bool set) {
  if (set) return built_set(c, all);
  return all.ordered ? tuple_value(c, all.at, all.count) : stopped(ORDER);
}

ROW_OP(combine)(const Ctx &c, V a, V b) {
  if (is_patch(a) && is_patch(b)) {
    V all = union_of_two(c, a, b, GATHER);
    if (all.kind != NONE) return all;
  }
  if (any_set(a)) {
    V both = list_of_two(c, a, b);
    if (!both.len) return stopped(MEMORY);
    V all = set_of_all_members(c, both);
    if (all.kind != NONE) return all;
  }
  Items all;
  V failed = joined_items(c, 2, [&](u32 k) { return k ? b : a; }, all);
  return failed.kind != NONE ? failed : joined_value(c, all, any_set(a));
}

ROW_OP(merge)(const Ctx &c, V containers) {
  if (containers.kind == GRID || containers.kind == RAGGED) {
    Items cells;
    u32 count = 0;
    for (u32 k = 0; k < containers.a; k++) count += row_width(containers, k);
    V *to = (V *)take(c, (u64)count * sizeof(V));
    if (!to) return stopped(MEMORY);
    u32 from = 0;
    for (u32 k = 0; k < containers.a; k++) {
      u32 width = row_width(containers, k);
      (void)rows([&](u32 l) {
        if (l < width) to[from + l] = integer(color_at(containers, k, l));
        return 0u;
      });
      from += width;
    }
    sync();
    cells = {to, count, true};
    return tuple_value(c, cells.at, cells.count);
  }
  bool set = any_set(containers);
  const V *list = (const V *)containers.bits;
  if (containers.kind == SET && !any_of(containers.len, [&](u32 k) { return !is_patch(list[k]); })) {
    V all = union_of(c, containers.len, list, containers, GATHER);
    if (all.kind != NONE) return all;
  }
  if (set && containers.kind == SET) {
    V all = set_of_all_members(c, containers);
    if (all.kind != NONE) return all;
  }
  Items members, all;
  V failed = read_items(c, containers, members);
  if (failed.kind != NONE) return failed;
  failed = are_members(members.count, members.at)
               ? joined_in_order(c, members.count, members.at, all)
               : joined_items(c, members.count, [&](u32 k) { return members.at[k]; }, all);
  if (failed.kind != NONE) return failed;
  all.ordered = all.ordered && members.ordered;
  return joined_value(c, all, set);
}

ROW_OP(intersection)(const Ctx &c, V a, V b) {
  if (a.kind == BOOL && b.kind == BOOL) return boolean(a.bits & b.bits);
  if (is_int(a) && is_int(b)) return integer((i64)(a.bits & b.bits));
  if (a.kind == OP || b.kind == OP) return stopped(ODD);
  if (!any_set(a) || !any_set(b)) return fault(TYPE_);
  if (is_patch(a) && is_patch(b)) return part_of_patch(c, a, b, true);
  // Python walks over the smaller one, or over the right one.
  bool left = length_alone(c, a) < length_alone(c, b);
  V walked = left ? a : b, other = left ? b : a;
  // A set and itself are copied, but equal calls are one here.
  if (a.bits == b.bits && walked.len > 1) walked.c = UNKNOWN;
  return elements_without(c, walked, [&](const V &item) {
    Answer answer = contained_alone(c, item, other);
    return answer == UNSURE ? UNSURE : answer == YES ? NO : YES;
  });
}

/// The rows of a grid that another grid has not.
CALLED V rows_without(const Ctx &c, const V &a, const V &b) {
  if (a.b != b.b) return a;
  Grid g = grid_of(a), other = grid_of(b);
  Rows known = no_rows();
  for (u32 r = 0; r < other.height; r++) {
    u32 row[4];
    for (u32 k = 0; k < 4; k++) row[k] = row_at(other.plane[k], r);
    known = rows([&](u32 l) {
      bool same = true;
      for (u32 k = 0; k < 4; k++) same = same && g.plane[k][l] == row[k];
      return known[l] | (u32)same;
    });
  }
  u32 kept = rows_of(rows([&](u32 l) { return (u32)(l < g.height && !known[l]); })), height = popcount(kept);
  if (height == 0) return make(TUPLE, 0, 0, 0, 0, 0);
  if (height == g.height) return a;
  Rows from = rows([&](u32 l) {
    u32 left = kept;
    for (u32 k = 0; k < l; k++) left &= left - 1;
    return lowest(left) & 31;
  });
  Rows area = rectangle(height, g.width);
  return value_of(c, changed(g, height, g.width, [&](const Rows &x) { return gather(x, from) & area; }));
}

ROW_OP(difference)(const Ctx &c, V a, V b) {
  if (a.kind == GRID && b.kind == GRID) return rows_without(c, a, b);
  // The CPU compares each element with each row.
  if (b.kind == GRID && length_of(a) * b.a > 128) return stopped(LIMIT);
  // The lanes compare each element with each one, which takes a warp milliseconds for large sets.
  if (a.kind == SET && b.kind == SET && a.len * b.len > 1 << 17) return stopped(LIMIT);
  if (length_alone(c, a) == 0) return a;
  if (is_patch(a) && is_patch(b)) return part_of_patch(c, a, b, false);
  if (a.kind == OP || b.kind == OP) return stopped(ODD);
  if (length_alone(c, a) < 0 || length_alone(c, b) < 0) return fault(TYPE_);
  return elements_without(c, a, [&](const V &item) { return contained_alone(c, item, b); });
}

ROW_OP(dedupe)(const Ctx &c, V tuple) {
  if (tuple.kind == OP) return stopped(ODD);
  if (any_set(tuple) && length_alone(c, tuple)) return fault(ATTRIBUTE_ERROR);
  Items items;
  V failed = read_items(c, tuple, items);
  if (failed.kind == NONE) failed = drop_repeated(c, items);
  return failed.kind != NONE ? failed : tuple_value(c, items.at, items.count);
}

/// The tuple of f(0), f(1), ..., f(n - 1).
template <class F> INLINE V tuple_by_number(const Ctx &c, u64 n, F f) {
  if (n > MOST_ELEMENTS) return stopped(SIZE);
  V *to = (V *)take(c, n * sizeof(V));
  if (!to) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) to[k] = f(k);
    return 0u;
  });
  sync();
  return tuple_value(c, to, (u32)n);
}
ROW_OP(repeat)(const Ctx &c, Any item, V number) {
  if (!is_int(number)) return fault(TYPE_);
  i64 n = int_of(number);
  return tuple_by_number(c, n < 0 ? 0 : (u64)n, [&](u32) { return item; });
}
ROW_OP(interval)(const Ctx &c, V start, V stop, V step) {
  if (!is_int(start) || !is_int(stop) || !is_int(step)) return fault(TYPE_);
  i64 from = int_of(start), to = int_of(stop), by = int_of(step);
  if (by == 0) return fault(VALUE_);
  bool up = by > 0;
  u64 span = up ? stop.bits - start.bits : start.bits - stop.bits, stride = up ? (u64)by : 0 - (u64)by;
  u64 n = (up ? from < to : from > to) ? (span - 1) / stride + 1 : 0;
  return tuple_by_number(c, n, [&](u32 k) { return integer((i64)(start.bits + k * step.bits)); });
}

// ---- Pairs -------------------------------------------------------------------------------------

/// Memory for tuples of two: 32 bytes each. The two rows of sixteen grids lie between each other.
INLINE u32 *memory_of_two(void *memory, u32 k) { return (u32 *)memory + k / 16 * 128 + k % 16 * 2; }
INLINE u64 bytes_of_twos(u32 n) { return (u64)(n + 15) / 16 * 512; }
/// Writes n tuples of two, of f(k) and g(k), to a list. Null if there is no memory.
template <class F, class G> INLINE V *list_of_twos(const Ctx &c, u32 n, F f, G g) {
  V *to = (V *)take(c, (u64)n * sizeof(V));
  // Most are flat.
  bool flat = !any_of(n, [&](u32 k) { return flat_pair(c, f(k), g(k)).kind == NONE; });
  char *memory = flat ? nullptr : (char *)take(c, (u64)n * 32 + bytes_of_twos(n));
  if (!to || (!flat && !memory)) return nullptr;
  char *rows_memory = memory + (u64)n * 32;
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) {
      V x = f(k), y = g(k);
      to[k] = flat_pair(c, x, y);
      if (to[k].kind != NONE) continue;
      if (are_two_rows(c, x, y)) {
        to[k] = two_rows(x, y, memory_of_two(rows_memory, k));
        continue;
      }
      V *own = (V *)(memory + (u64)k * 32);
      own[0] = x;
      own[1] = y;
      to[k] = make(TUPLE, 0, 0, 0, 2, (u64)own);
    }
    return 0u;
  });
  sync();
  return to;
}

ROW_OP(pair)(const Ctx &c, V a, V b) {
  Items xs, ys;
  V failed = read_items(c, a, xs);
  if (failed.kind != NONE) return failed;
  failed = read_items(c, b, ys);
  if (failed.kind != NONE) return failed;
  u32 n = min_of(xs.count, ys.count);
  if (n > MOST_ELEMENTS) return stopped(SIZE);
  if (n && !(xs.ordered && ys.ordered)) return stopped(ORDER);
  V *to = list_of_twos(c, n, [&](u32 k) { return xs.at[k]; }, [&](u32 k) { return ys.at[k]; });
  return to ? tuple_value(c, to, n) : stopped(MEMORY);
}

ROW_OP(product)(const Ctx &c, V a, V b) {
  if (length_alone(c, b) == 0) return empty_patch();
  Items xs, ys;
  V failed = read_items(c, b, ys);
  if (failed.kind != NONE) return failed;
  failed = read_items(c, a, xs);
  if (failed.kind != NONE) return failed;
  // Tuples of two are equal if their elements are.
  if (!any_set(a)) failed = drop_repeated(c, xs);
  if (failed.kind == NONE && !any_set(b)) failed = drop_repeated(c, ys);
  if (failed.kind != NONE) return failed;
  u64 n = (u64)xs.count * ys.count;
  if (n == 0) return empty_patch();
  if (n > MOST_ELEMENTS) return stopped(SIZE);
  u32 width = xs.count;
  auto x = [&](u32 k) { return xs.at[k % width]; };
  auto y = [&](u32 k) { return ys.at[k / width]; };
  V *to = list_of_twos(c, (u32)n, x, y);
  if (!to) return stopped(MEMORY);
  return set_of_distinct(c, to, (u32)n, xs.ordered && ys.ordered ? BUILT : UNKNOWN);
}

// ---- Choosing ----------------------------------------------------------------------------------

ROW_OP(sizefilter)(const Ctx &c, V container, Any n) {
  Items items;
  V failed = read_stored(c, container, items);
  if (failed.kind != NONE) return failed;
  if (n.kind == OP) return stopped(ODD);
  if (any_of(items.count, [&](u32 k) { return length_alone(c, items.at[k]) < 0; })) return fault(TYPE_);
  auto keep = [&](u32 k) { return is_int(n) && length_alone(c, items.at[k]) == int_of(n); };
  if (any_set(container)) return kept_elements(c, container, items, keep);
  V *to = (V *)take(c, (u64)items.count * sizeof(V));
  if (!to) return stopped(MEMORY);
  Items kept = {to, 0, true};
  kept.count = copy_chosen(items, to, keep);
  return built_set(c, kept);
}

/// The objects of a colour.
ROW_OP(colorfilter)(const Ctx &c, V objs, V value) {
  if (is_nothing(objs)) return empty_patch();
  if (objs.kind != SET && objs.kind != TUPLE) return stopped(ODD);
  if (!is_int(value)) return stopped(ODD);
  i64 color = int_of(value);
  u32 *answers = (u32 *)take(c, (u64)objs.len * 4);
  if (!answers) return stopped(MEMORY);
  V answered = answer_first_colors(c, objs, color, answers);
  if (!is_value(answered)) return answered;
  u32 n = (u32)int_of(answered);
  if (n == 0) return empty_patch();
  Items items = {(const V *)objs.bits, objs.len, !is_unordered(objs)};
  auto keep = [&](u32 k) { return answers[k] == YES; };
  if (objs.kind == SET) return kept_elements(c, objs, items, keep);
  // A tuple may hold an object several times, or it may be one of grids.
  V *to = (V *)take(c, n * sizeof(V));
  if (!to) return stopped(MEMORY);
  copy_chosen(items, to, keep);
  return set_of(c, to, n, BUILT);
}

/// The largest or the smallest of the cells of an object of several colours.
INLINE V extreme_cell(const V &v, bool most) {
  for (u32 n = 0; n < 16; n++) {
    u32 color = most ? 15 - n : n;
    for (u32 l = 0; l < v.a; l++) {
      u32 row = most ? v.a - 1 - l : l, mask = patch_row(v, 0, row);
      for (u32 k = 0; k < 4; k++) {
        u32 bits = patch_row(v, k + 1, row);
        mask &= color >> k & 1 ? bits : ~bits;
      }
      if (!mask) continue;
      u32 column = most ? highest(mask) : lowest(mask);
      return make(CELL, (u8)color, 0, 0, place(row_of(v.len) + (i32)row, column_of(v.len) + (i32)column), 0);
    }
  }
  return stopped(ODD);
}
/// The largest or the smallest element of a container, or 0.
INLINE V extreme_element(const Ctx &c, const V &v, bool most) {
  i32 n = length_alone(c, v);
  if (n < 0) return v.kind == OP ? stopped(ODD) : fault(TYPE_);
  if (n == 0) return integer(0);
  if (is_patch(v)) {
    if (v.kind == OBJECT && has_triples(c)) return stopped(ODD);
    if (v.kind == OBJECT && v.c == PLANES) return extreme_cell(v, most);
    u32 row = most ? v.a - 1u : 0, mask = patch_row(v, 0, row);
    V best = only_element(v);
    best.len = place(row_of(v.len) + (i32)row, column_of(v.len) + (i32)(most ? highest(mask) : lowest(mask)));
    return best;
  }
  if (v.kind == GRID || v.kind == RAGGED) {
    u32 best = 0;
    for (u32 k = 1; k < v.a; k++) {
      i32 order = compare_rows(v, k, v, best);
      if (most ? order > 0 : order < 0) best = k;
    }
    return row_value(c, v, best);
  }
  V best = component(c, v, 0);
  for (u32 k = 1; k < (u32)n; k++) {
    V item = component(c, v, k);
    // Sets compare by inclusion, so that the order matters.
    if (any_set(item) || any_set(best)) return stopped(ODD);
    Answer answer = most ? less_alone<3>(c, best, item) : less_alone<3>(c, item, best);
    if (answer == UNSURE) return stopped(ODD);
    if (answer == INCOMPARABLE) return fault(TYPE_);
    if (answer == YES) best = item;
  }
  return best;
}
/// The class of values that Python compares with each other without failing, or 0 if that is not known.
INLINE u32 comparable_class(const V &v) {
  if (is_int(v)) return 1;
  if (v.kind != TUPLE) return v.kind == PAIR ? 2 : v.kind == CELL ? 3 : v.kind == GRID ? 4 : 0;
  for (u32 k = 0; k < v.len; k++)
    if (!is_int(((const V *)v.bits)[k])) return 0;
  return 2;
}
/// The same for any container. The order of a set matters if only some of its elements can be compared.
INLINE V extreme_of(const Ctx &c, const V &v, bool most) {
  bool unordered = v.kind == SET && v.c != IN_ORDER && v.len > 1;
  for (u32 k = 1; unordered && k < v.len; k++) {
    u32 first = comparable_class(((const V *)v.bits)[0]), own = comparable_class(((const V *)v.bits)[k]);
    // A number and something else meet in any order.
    if (first != own && (first == 1 || own == 1)) return fault(TYPE_);
    if (first != own || own == 0) return stopped(ODD);
  }
  return extreme_element(c, v, most);
}
THREAD_OP(maximum)(const Ctx &c, V container) { return extreme_of(c, container, true); }
THREAD_OP(minimum)(const Ctx &c, V container) { return extreme_of(c, container, false); }

/// The element that is there most or least often.
INLINE V most_frequent(const Ctx &c, const V &tuple, bool most) {
  if (tuple.kind == OP) return stopped(ODD);
  if (any_set(tuple)) return fault(ATTRIBUTE_ERROR);
  Items items;
  V failed = read_items(c, tuple, items);
  if (failed.kind != NONE) return failed;
  if (items.count == 0) return fault(VALUE_);
  Items all = items;
  failed = drop_repeated(c, items);
  if (failed.kind != NONE) return failed;
  // A larger score is better, and none is 0.
  auto score = [&](u32 k) {
    u32 times = 0;
    for (u32 j = 0; j < all.count; j++) times += equal_alone<3>(c, all.at[j], items.at[k]) == YES;
    return most ? times : MOST_ELEMENTS - times;
  };
  u32 *scores = (u32 *)take(c, (u64)items.count * 4);
  if (!scores) return stopped(MEMORY);
  auto write_scores = [&]() {
    (void)rows([&](u32 l) {
      for (u32 k = l; k < items.count; k += 32) scores[k] = score(k);
      return 0u;
    });
    sync();
  };
  write_scores();
  u32 best = most_of(items.count, [&](u32 k) { return scores[k]; });
  u32 tied = sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < items.count; k += 32) own += scores[k] == best;
    return own;
  }));
  if (tied > 1) {
    V set = with_order(c, make(SET, 0, 0, BUILT, items.count, (u64)items.at));
    if (!is_value(set)) return set;
    items.at = (const V *)set.bits;
    sync();
    write_scores();
  }
  return items.at[least(rows([&](u32 l) {
    for (u32 k = l; k < items.count; k += 32)
      if (scores[k] == best) return k;
    return 0xffffffffu;
  }))];
}
ROW_OP(mostcommon)(const Ctx &c, V container) { return most_frequent(c, container, true); }
ROW_OP(leastcommon)(const Ctx &c, V container) { return most_frequent(c, container, false); }

// ---- By a key ----------------------------------------------------------------------------------

/// A property of a patch, a grid or another container. False for others.
INLINE bool property_alone(const Ctx &c, const V &v, u32 property, i64 *value) {
  i32 size = length_alone(c, v);
  if (property == 0 && size >= 0) {
    *value = size;
    return true;
  }
  // Height and width.
  if (is_any_grid(v) && (property == 1 || property == 2)) {
    *value = property == 1 ? v.a : v.b;
    return true;
  }
  return property_of(v, property, value);
}
/// The key by which elements are compared: a property, or without a function the element itself if it
/// is a number or a pair. False for others.
INLINE bool sort_key(const Ctx &c, const V &item, const V &function, i64 *key) {
  if (function.kind == OP) return property_alone(c, item, function.len, key);
  *key = item.kind == PAIR ? (i64)row_of(item.len) * 65536 + column_of(item.len) : int_of(item);
  return item.kind == PAIR || is_int(item);
}

/// The most tuples that are sorted: each is compared with each other one.
const u32 MOST_SORTED = 64;
/// The tuple of some elements, sorted by tuples.
CALLED V sorted_by_tuples(const Ctx &c, const Items &items, const V *keys, V *to) {
  u32 kind = comparable_class(keys[0]), n = items.count;
  if (n > MOST_SORTED || kind < 2) return stopped(ODD);
  if (any_of(n, [&](u32 k) { return comparable_class(keys[k]) != kind; })) return stopped(ODD);
  u32 unsure = 0, ties = 0;
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) {
      u32 before = 0;
      for (u32 j = 0; j < n; j++) {
        if (j == k) continue;
        Answer less = less_alone<3>(c, keys[j], keys[k]);
        if (less != YES && less != NO) unsure = 1;
        bool equal = less == NO && less_alone<3>(c, keys[k], keys[j]) == NO;
        ties |= equal;
        before += less == YES || (equal && j < k);
      }
      to[before] = items.at[k];
    }
    return 0u;
  });
  if (rows_of(rows([&](u32) { return unsure; }))) return stopped(ODD);
  if (!items.ordered && rows_of(rows([&](u32) { return ties; }))) return stopped(ORDER);
  sync();
  return tuple_value(c, to, n);
}

ROW_OP(order)(const Ctx &c, V container, V function) {
  if (function.kind != NONE && function.kind != OP) return stopped(ODD);
  Items items;
  V failed = read_items(c, container, items);
  if (failed.kind != NONE) return failed;
  u32 n = items.count;
  if (n > MOST_DISTINCT) return stopped(SIZE);
  i64 *keys = (i64 *)take(c, (u64)n * 8);
  V *to = (V *)take(c, (u64)n * sizeof(V));
  if (!keys || !to) return stopped(MEMORY);
  auto is_odd = [&](u32 k) {
    // Numbers and pairs cannot be compared with each other.
    bool mixed = function.kind == NONE && (items.at[k].kind == PAIR) != (items.at[0].kind == PAIR);
    return !sort_key(c, items.at[k], function, keys + k) || mixed;
  };
  if (any_of(n, is_odd)) return function.kind == NONE ? sorted_by_tuples(c, items, items.at, to) : stopped(ODD);
  sync();
  u32 ties = 0;
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) {
      u32 before = 0;
      for (u32 j = 0; j < n; j++) {
        bool equal = keys[j] == keys[k] && j != k;
        ties |= equal;
        before += keys[j] < keys[k] || (equal && j < k);
      }
      to[before] = items.at[k];
    }
    return 0u;
  });
  if (!items.ordered && rows_of(rows([&](u32) { return ties; }))) return stopped(ORDER);
  sync();
  return tuple_value(c, to, n);
}

/// The largest or the smallest property of any element.
INLINE V extreme_property(const Ctx &c, const V &container, const V &function, bool most) {
  if (function.kind == NONE && length_alone(c, container) >= 0) return fault(TYPE_);
  if ((container.kind != SET && container.kind != TUPLE) || function.kind != OP) return stopped(ODD);
  const V *items = (const V *)container.bits;
  if (container.len == 0) return stopped(ODD);
  i64 key;
  auto is_odd = [&](u32 k) { return !sort_key(c, items[k], function, &key); };
  if (any_of(container.len, is_odd)) return stopped(ODD);
  // Properties are small.
  const i32 offset = 1 << 30;
  u32 best = most_of(container.len, [&](u32 k) {
    i64 value = 0;
    sort_key(c, items[k], function, &value);
    return (u32)(offset + (most ? value : -value));
  });
  i32 value = (i32)best - offset;
  return integer(most ? value : -value);
}
ROW_OP(valmax)(const Ctx &c, V items, V function) { return extreme_property(c, items, function, true); }
ROW_OP(valmin)(const Ctx &c, V items, V function) { return extreme_property(c, items, function, false); }
