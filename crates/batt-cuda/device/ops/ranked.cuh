// tokpidjin: elements by rank. 0 is the first, -1 the last.

const i64 RANK_OUTSIDE = -1, RANK_UNUSABLE = -2;

/// The position that a rank stands for among n; negative ranks count from the end. A float can be outside, but is no
/// position.
INLINE i64 position_of_rank(V rank, u32 n) {
  if (is_number(rank)) {
    i64 k = number_of(rank);
    if (k >= 0) return k < n ? k : RANK_OUTSIDE;
    return k >= -(i64)n ? k + n : RANK_OUTSIDE;
  }
  if (rank.kind != FLOAT) return RANK_UNUSABLE;
  double x = float_of(rank);
  return x >= -(double)n && x < (double)n ? RANK_UNUSABLE : RANK_OUTSIDE;
}

TOK(get_nth_t)(Ctx &c, V container, V rank) {
  V nothing = floating_bits(NAN_BITS);
  if (!is_tuple(container)) return nothing;
  i64 at = position_of_rank(rank, length(c, container));
  if (at == RANK_UNUSABLE) return failed(TYPE_);
  return at == RANK_OUTSIDE ? nothing : item(c, container, (u32)at);
}

TOK(get_nth_f)(Ctx &c, V container, V rank) {
  if (!is_container(container) || !is_number(rank)) return failed(TYPE_);
  i64 at = position_of_rank(rank, length(c, container));
  if (at == RANK_OUTSIDE) return empty_set();
  NEED_ORDER(c, container);
  return item(c, container, (u32)at);
}

// ---- The member at a rank when members are sorted by keys ------------------------------------------------------

/// The key of every member, in the same sequence; no function means the members themselves.
OUTLINE V keys_of_members(Ctx &c, V container, V function, V **keys) {
  if (!is_container(container)) return failed(TYPE_);
  if (function.kind == NONE) {
    *keys = elements(c, container);
    CHECK(c);
    return none();
  }
  u32 n = length(c, container);
  *keys = room_for<V>(c, n ? n : 1);
  CHECK(c);
  return map_all(c, function, container, *keys);
}

/// What keys are, as far as it matters for sorting.
struct KeyKinds {
  bool total;   // all numbers, or all tuples of integers: any stable sort gives the same
  bool uniform; // and equal keys cannot be told apart
};

OUTLINE KeyKinds kinds_of_keys(const V *keys, u32 n) {
  bool ints = true, bools = true, numbers = true, rows = true;
  for (u32 k = lane(); k < n; k += LANES) {
    u8 kind = keys[k].kind;
    ints &= kind == INT;
    bools &= kind == BOOL;
    numbers &= kind == INT || kind == BOOL;
    rows &= kind == PAIR || kind == CELL || kind == ROW;
  }
  KeyKinds kinds;
  ints = all(ints);
  bools = all(bools);
  rows = all(rows);
  kinds.total = all(numbers) || rows;
  kinds.uniform = ints || bools || rows;
  return kinds;
}

/// Two keys of a total order: negative, zero or positive. By one lane. (Tuples of integers; cells are triples here.)
INLINE i32 compare_keys(Ctx &c, V a, V b) {
  if (is_number(a)) {
    i64 x = number_of(a), y = number_of(b);
    return x < y ? -1 : x > y;
  }
  u32 n = length(c, a), m = length(c, b);
  for (u32 k = 0; k < n && k < m; k++) {
    i64 x = int_of(item(c, a, k)), y = int_of(item(c, b, k));
    if (x != y) return x < y ? -1 : 1;
  }
  return n < m ? -1 : n > m;
}

/// As `ranked`, for keys that are not totally ordered.
OUTLINE V ranked_by_sorting(Ctx &c, V members, const V *keys, u32 n, V rank, bool descending, u32 *found) {
  NEED_ORDER(c, members);
  ROOM(V, turned, c, n);
  ROOM(u32, numbers, c, n);
  // As in Python: turned around, sorted and turned around again.
  for (u32 k = lane(); k < n; k += LANES) turned[k] = keys[descending ? n - 1 - k : k];
  sync();
  V fault = sort_by_insertion(c, turned, n, numbers);
  TRY(fault);
  i64 at = position_of_rank(rank, n);
  if (at == RANK_UNUSABLE) return failed(TYPE_);
  if (at == RANK_OUTSIDE) return none();
  u32 number = numbers[descending ? n - 1 - (u32)at : (u32)at];
  *found = descending ? n - 1 - number : number;
  return none();
}

/// `*found` is the number of the member at a rank when members are sorted by their keys, n when there are not that many.
/// Members with equal keys stay in their order in both directions; that order must be known, unless any of them will do.
OUTLINE V ranked(Ctx &c, V members, const V *keys, u32 n, V rank, bool descending, bool any_of_equals, u32 *found) {
  *found = n;
  KeyKinds kinds = kinds_of_keys(keys, n);
  if (!kinds.total) return ranked_by_sorting(c, members, keys, n, rank, descending, found);
  i64 at = position_of_rank(rank, n);
  if (at == RANK_UNUSABLE) return failed(TYPE_);
  if (at == RANK_OUTSIDE) return none();
  spend(c, (u64)n * (n / LANES + 1));
  u32 mine = n, ties = 0;
  for (u32 k = lane(); k < n; k += LANES) {
    u32 before = 0, equals = 0;
    for (u32 j = 0; j < n; j++) {
      i32 compared = compare_keys(c, keys[j], keys[k]);
      before += compared == 0 ? j < k : (compared < 0) != descending;
      equals += compared == 0;
    }
    if (before == (u32)at) {
      mine = k;
      ties = equals;
    }
  }
  *found = least(mine);
  ties = largest(ties);
  if (ties > 1 && !(any_of_equals && kinds.uniform)) NEED_ORDER(c, members);
  return none();
}

/// The element at a rank when sorted by a key function; another value when there are not that many.
OUTLINE V element_at_rank(Ctx &c, V container, V function, V rank, bool descending, V otherwise) {
  V *keys;
  V fault = keys_of_members(c, container, function, &keys);
  TRY(fault);
  u32 n = length(c, container), found;
  fault = ranked(c, container, keys, n, rank, descending, false, &found);
  TRY(fault);
  return found < n ? item(c, container, found) : otherwise;
}

TOK(get_nth_by_key_t)(Ctx &c, V container, V rank, V key) {
  if (is_container(container) && length(c, container) == 0) return none();
  return element_at_rank(c, container, key, rank, false, failed(INDEX_));
}

TOK(get_nth_by_key_f)(Ctx &c, V container, V rank, V key) {
  V from_first = !is_number(rank) ? none() : number_of(rank) < 0 ? integer(0) : rank;
  return element_at_rank(c, container, key, from_first, false, none());
}

TOK(get_rank)(Ctx &c, V container, V rank) { return element_at_rank(c, container, none(), rank, true, integer(0)); }

TOK(get_arg_rank)(Ctx &c, V container, V function, V rank) {
  return element_at_rank(c, container, function, rank, true, is_set(container) ? empty_set() : empty_tuple());
}
TOK(get_arg_rank_t)(Ctx &c, V container, V function, V rank) {
  return element_at_rank(c, container, function, rank, true, empty_tuple());
}
TOK(get_arg_rank_f)(Ctx &c, V container, V function, V rank) {
  return element_at_rank(c, container, function, rank, true, empty_set());
}

/// A function's value at a rank when sorted by it, smallest first; its value on 0 when there are not that many.
OUTLINE V value_at_rank(Ctx &c, V container, V function, V rank) {
  V *keys;
  V fault = keys_of_members(c, container, function, &keys);
  TRY(fault);
  u32 n = length(c, container), found;
  // The function says the same of all that tie.
  fault = ranked(c, container, keys, n, rank, false, true, &found);
  TRY(fault);
  return call1(c, function, found < n ? item(c, container, found) : integer(0));
}
TOK(get_val_rank)(Ctx &c, V container, V function, V rank) { return value_at_rank(c, container, function, rank); }
ALIAS3(get_val_rank_t, get_val_rank)
ALIAS3(get_val_rank_f, get_val_rank)

// ---- How often values occur ------------------------------------------------------------------------------------

/// Values, each once and as they are first met, and how often they occur (as integers).
struct Tally {
  V *values, *counts;
  u32 n;
};

/// How often each byte occurs.
OUTLINE V tally_bytes(Ctx &c, const u8 *bytes, u32 n, Tally *tally) {
  u32 *counts = scratch_for<u32>(c, 256 + 256 + 64);
  CHECK(c);
  u32 *firsts = counts + 256;
  u8 *present = (u8 *)(firsts + 256);
  sync();
  fill_with(counts, 0u, 256);
  fill_with(firsts, n, 256);
  sync();
  spend(c, n / LANES * 4 + 16);
  for (u32 k = lane(); k < n; k += LANES) {
    atomic_add32(counts + bytes[k], 1);
    atomic_min(firsts + bytes[k], k);
  }
  sync();
  u32 found = 0;
  for (u32 from = 0; from < 256; from += LANES) {
    bool mine = counts[from + lane()] != 0;
    u32 bits = ballot(mine);
    if (mine) present[found + popcount(bits & lanes_before())] = (u8)(from + lane());
    found += popcount(bits);
  }
  sync();
  tally->n = found;
  tally->values = room_for<V>(c, found + 1);
  tally->counts = room_for<V>(c, found + 1);
  CHECK(c);
  for (u32 k = lane(); k < found; k += LANES) {
    u32 byte = present[k], to = 0;
    for (u32 j = 0; j < found; j++) to += firsts[present[j]] < firsts[byte];
    tally->values[to] = integer(byte);
    tally->counts[to] = integer(counts[byte]);
  }
  sync();
  return none();
}

/// How often each of n values occurs.
OUTLINE V tally_values(Ctx &c, const V *items, u32 n, Tally *tally) {
  tally->n = 0;
  tally->values = room_for<V>(c, n + 1);
  tally->counts = room_for<V>(c, n + 1);
  u64 *hashes = room_for<u64>(c, n + 1);
  CHECK(c);
  for (u32 k = 0; k < n; k++) {
    V v = items[k];
    u64 hash = hash_of(c, v);
    u32 known = tally->n, at = known;
    spend(c, known / LANES + 2);
    for (u32 from = 0; from < known && at == known; from += LANES) {
      u32 candidates = ballot(from + lane() < known && hashes[from + lane()] == hash);
      for (; candidates && at == known; candidates &= candidates - 1)
        if (equal_member(c, tally->values[from + lowest(candidates)], v, 0)) at = from + lowest(candidates);
    }
    CHECK(c);
    sync();
    if (lane() == 0) {
      if (at == known) {
        tally->values[at] = v;
        hashes[at] = hash;
      }
      tally->counts[at] = integer(at == known ? 1 : int_of(tally->counts[at]) + 1);
    }
    sync();
    tally->n = max_of(known, at + 1);
  }
  return none();
}

/// How often each element of a container occurs.
OUTLINE V tally_of(Ctx &c, V container, Tally *tally) {
  if (container.kind == ROW) return tally_bytes(c, bytes_of(c, container), container.len, tally);
  if (!is_container(container)) return failed(TYPE_);
  const V *items = elements(c, container);
  CHECK(c);
  return tally_values(c, items, length(c, container), tally);
}

/// The order in which a set stands that is *built* of n distinct values, as their numbers. Null: the run is stopped.
OUTLINE u32 *order_when_built(Ctx &c, const V *values, u32 n) {
  u32 *order = room_for<u32>(c, n + 1), size = table_room(n), mark = c.top;
  u64 *hashes = room_for<u64>(c, n + 1);
  Table table;
  table.slots = room_for<u32>(c, size);
  table.other = room_for<u32>(c, size);
  if (c.stop) return nullptr;
  spend(c, n);
  c.by_address = false;
  for (u32 k = 0; k < n; k++) put(hashes + k, hash_of(c, values[k]));
  refuse_addresses(c, n);
  if (c.stop) return nullptr;
  sync();
  if (lane() == 0) {
    table_clear(table);
    for (u32 k = 0; k < n; k++) table_add(table, hashes, k);
    u32 to = 0;
    for (u32 at = 0; at <= table.mask; at++)
      if (table.slots[at] < DUMMY) order[to++] = table.slots[at];
  }
  sync();
  c.top = mark;
  return order;
}

/// The element at a rank when sorted by how often it occurs, rarest first and equally frequent ones in the order of the
/// set of them.
OUTLINE V common_at_rank(Ctx &c, V container, V rank, V otherwise) {
  NEED_ORDER(c, container);
  Tally tally;
  V fault = tally_of(c, container, &tally);
  TRY(fault);
  u32 n = tally.n, found;
  const u32 *order = order_when_built(c, tally.values, n);
  if (!order) return make(STOPPED, 0, 0, 0, 0);
  ROOM(V, keys, c, n + 1);
  for (u32 k = lane(); k < n; k += LANES) keys[k] = tally.counts[order[k]];
  sync();
  fault = ranked(c, empty_tuple(), keys, n, rank, false, false, &found);
  TRY(fault);
  return found < n ? tally.values[order[found]] : otherwise;
}

TOK(get_common_rank)(Ctx &c, V container, V rank) {
  return is_tuple(container) ? common_at_rank(c, container, rank, empty_tuple()) : failed(ATTRIBUTE_);
}
ALIAS2(get_common_rank_t, get_common_rank)

TOK(get_common_rank_f)(Ctx &c, V container, V rank) {
  if (!is_set(container)) return common_at_rank(c, container, rank, empty_set());
  // All are equally frequent: the elements in the order of a set made anew.
  i64 at = position_of_rank(rank, container.len);
  if (at == RANK_UNUSABLE) return failed(TYPE_);
  owe_for(c, container);
  if (at == RANK_OUTSIDE) return empty_set();
  NEED_ORDER(c, container);
  const V *items = elements(c, container);
  CHECK(c);
  const u32 *order = order_when_built(c, items, container.len);
  if (!order) return make(STOPPED, 0, 0, 0, 0);
  return items[order[at]];
}

/// The value at a rank, most frequent first and equally frequent ones as they are met among `source`.
OUTLINE V frequent_at_rank(Ctx &c, V source, const Tally &tally, V rank, V otherwise) {
  u32 found;
  V fault = ranked(c, source, tally.counts, tally.n, rank, true, false, &found);
  TRY(fault);
  return found < tally.n ? tally.values[found] : otherwise;
}

/// How often each value of a grid occurs, row by row; of anything taken for one, as long as its order is known.
OUTLINE V tally_grid(Ctx &c, V grid, Tally *tally) {
  Grid cells;
  if (as_grid(c, grid, &cells)) return tally_bytes(c, cells.cells, cells.height * cells.width, tally);
  CHECK(c);
  if (!is_container(grid)) return failed(TYPE_);
  NEED_ORDER(c, grid);
  const V *rows = elements(c, grid);
  CHECK(c);
  V all_values = merge_tuple(c, rows, length(c, grid));
  TRY(all_values);
  return tally_of(c, all_values, tally);
}

/// How often each third component of triples occurs. A set of cells is taken as it stands, in order or not.
OUTLINE V tally_thirds(Ctx &c, V container, Tally *tally) {
  if (!is_container(container)) return failed(TYPE_);
  u32 n = length(c, container);
  if (container.kind == SET_C) {
    ROOM(u8, bytes, c, n);
    bool fits = true;
    for (u32 k = lane(); k < n; k += LANES) {
      i32 color = dots_of(c, container)[k].color;
      fits &= color >= 0 && color <= 255;
      bytes[k] = (u8)color;
    }
    sync();
    if (all(fits)) return tally_bytes(c, bytes, n, tally);
  } else {
    NEED_ORDER(c, container);
  }
  ROOM(V, thirds, c, n + 1);
  bool wrong = false, unordered = false;
  for (u32 k = lane(); k < n; k += LANES) {
    V cell = item(c, container, k);
    bool three = is_container(cell) && length(c, cell) == 3;
    wrong |= !three;
    unordered |= !in_order(cell);
    if (three) thirds[k] = item(c, cell, 2);
  }
  sync();
  if (any(wrong)) return failed(VALUE_);
  if (any(unordered)) return stop(c, ORDER);
  return tally_values(c, thirds, n, tally);
}

TOK(get_color_rank_t)(Ctx &c, V grid, V rank) {
  Tally tally;
  V fault = tally_grid(c, grid, &tally);
  TRY(fault);
  return frequent_at_rank(c, empty_tuple(), tally, rank, empty_tuple());
}

TOK(get_color_rank_f)(Ctx &c, V object, V rank) {
  Tally tally;
  V fault = tally_thirds(c, object, &tally);
  TRY(fault);
  return frequent_at_rank(c, object, tally, rank, empty_set());
}
