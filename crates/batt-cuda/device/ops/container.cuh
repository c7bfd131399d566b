// Generic containers: tuples and frozensets of anything.

// In higher_order.cuh.
OUTLINE V merge_tuple(Ctx &c, const V *members, u32 count);
OUTLINE V merge_set(Ctx &c, const V *members, u32 count);

// ---- Parts of containers -------------------------------------------------------------------------------------

/// Are rows of this width tuples of integers and nothing else? Others might be locations, or cells.
INLINE bool rows_stay_rows(const Ctx &c, u32 width) { return width != 2 && !(width == 3 && triples(c)); }

/// The elements with these numbers, in this sequence, as a tuple.
OUTLINE V tuple_of_numbers(Ctx &c, V container, const u32 *numbers, u32 n) {
  if (n == 0) return empty_tuple();
  spend(c, n);
  if (container.kind == ROW) {
    ROOM(u8, bytes, c, n);
    for (u32 k = lane(); k < n; k += LANES) bytes[k] = bytes_of(c, container)[numbers[k]];
    sync();
    return row_at(c, bytes, n);
  }
  if (container.kind == GRID && rows_stay_rows(c, width_of(container))) {
    u32 width = width_of(container);
    ROOM(u8, cells, c, (u64)n * width);
    for (u32 k = lane(); k < n * width; k += LANES)
      cells[k] = bytes_of(c, container)[numbers[k / width] * width + k % width];
    sync();
    return grid_at(c, cells, n, width);
  }
  ROOM(V, items, c, n);
  for (u32 k = lane(); k < n; k += LANES) items[k] = item(c, container, numbers[k]);
  sync();
  return tuple_at(c, items, n);
}

/// The marked elements as a tuple. Several of a set need its order.
OUTLINE V tuple_keep(Ctx &c, V container, const u8 *keep) {
  u32 n = length(c, container), kept = 0;
  ROOM(u32, numbers, c, n + 1);
  for (u32 from = 0; from < n; from += LANES) {
    u32 k = from + lane();
    bool mine = k < n && keep[k];
    u32 bits = ballot(mine);
    if (mine) numbers[kept + popcount(bits & lanes_before())] = k;
    kept += popcount(bits);
  }
  sync();
  if (kept > 1) NEED_ORDER(c, container);
  return tuple_of_numbers(c, container, numbers, kept);
}

/// The marked elements, in a container of the same kind.
INLINE V keep_marked(Ctx &c, V container, const u8 *keep) {
  return is_set(container) ? set_keep(c, container, keep) : tuple_keep(c, container, keep);
}

/// The marked elements, in a set: built in iteration order.
OUTLINE V keep_in_set(Ctx &c, V container, const u8 *keep) {
  if (is_set(container)) return set_keep(c, container, keep);
  V kept = tuple_keep(c, container, keep);
  TRY(kept);
  const V *items = elements(c, kept);
  CHECK(c);
  return build_values(c, items, length(c, kept));
}

/// A container's elements as a list in the packed form they allow.
OUTLINE V as_list(Ctx &c, V container) {
  if (is_set(container)) return container;
  const V *items = elements(c, container);
  CHECK(c);
  return list_of(c, items, length(c, container));
}

/// The number of the element of a set that equals a value (or is the same nan); EMPTY for none.
OUTLINE u32 find_in(Ctx &c, V set, V value) {
  if (set.kind != SET_V) {
    u64 key;
    if (!numeric_key(c, set.kind, value, &key)) return EMPTY;
    u32 mine = EMPTY;
    for (u32 k = lane(); k < set.len; k += LANES)
      if (key_of(c, set, k) == key) mine = k;
    return least(mine);
  }
  spend(c, set.len / 4 + 1);
  for (u32 k = 0; k < set.len && !c.stop; k++)
    if (equal_member(c, values_of(c, set)[k], value, 1)) return k;
  return EMPTY;
}

// ---- Keys ----------------------------------------------------------------------------------------------------

/// A number that sorts like a number, a location or a cell among its like.
INLINE u64 sort_number(const Ctx &c, V v) {
  u64 at = v.lo ^ 0x80008000u, color = v.hi ^ 0x80000000u;
  switch (v.kind) {
  case PAIR: return at;
  case CELL: return triples(c) ? at << 32 | color : color << 32 | at;
  default: return (u64)number_of(v) ^ 1ull << 63;
  }
}

enum Numbers : u32 { NO_NUMBERS, MIXED_NUMBERS, ALIKE };

/// Keys as numbers that sort like them. MIXED_NUMBERS: there are bools among integers, so equals may differ.
OUTLINE u32 sort_numbers(Ctx &c, const V *keys, u32 n, u64 *numbers) {
  u8 kind = keys[0].kind;
  bool plain = kind == INT || kind == BOOL;
  if (!plain && kind != PAIR && kind != CELL) return NO_NUMBERS;
  bool other = false, mixed = false;
  for (u32 k = lane(); k < n; k += LANES) {
    V key = keys[k];
    mixed |= key.kind != kind;
    other |= key.kind != kind && !(plain && is_number(key));
    numbers[k] = sort_number(c, key);
  }
  sync();
  return any(other) ? NO_NUMBERS : any(mixed) ? MIXED_NUMBERS : ALIKE;
}

/// The keys of all elements; a function of `None` means the elements themselves. none() or a fault.
OUTLINE V keys_of(Ctx &c, V container, V function, const V **keys) {
  if (function.kind == NONE) {
    *keys = elements(c, container);
    CHECK(c);
    return none();
  }
  ROOM(V, images, c, length(c, container));
  *keys = images;
  return map_all(c, function, container, images);
}

/// The number of the first extreme key of a container that is not empty. Where only the key is wanted, equal keys of
/// one kind are as good as each other. none() or a fault.
OUTLINE V first_extreme(Ctx &c, V container, const V *keys, bool up, bool key_wanted, u32 *at) {
  u32 n = length(c, container), mark = c.top;
  ROOM(u64, numbers, c, n);
  u32 sortable = sort_numbers(c, keys, n, numbers);
  if (sortable != NO_NUMBERS) {
    if (keys[0].kind == CELL) spend(c, n); // the CPU takes each apart
    u64 flip = up ? 0 : ~0ull, best = 0;
    for (u32 k = lane(); k < n; k += LANES) best = max_of(best, numbers[k] ^ flip);
    best = largest(best);
    u32 first = EMPTY, count = 0;
    for (u32 k = lane(); k < n; k += LANES) {
      if ((numbers[k] ^ flip) != best) continue;
      first = min_of(first, k);
      count++;
    }
    *at = least(first);
    if (sum(count) > 1 && !(key_wanted && sortable == ALIKE)) NEED_ORDER(c, container);
    sync();
    c.top = mark;
    return none();
  }
  c.top = mark;
  NEED_ORDER(c, container);
  spend(c, n);
  u32 best = 0;
  for (u32 k = 1; k < n; k++) {
    i32 better = up ? less(c, keys[best], keys[k]) : less(c, keys[k], keys[best]);
    CHECK(c);
    if (better < 0) return failed(TYPE_);
    if (better) best = k;
  }
  *at = best;
  return none();
}

OUTLINE V extreme_element(Ctx &c, V container, bool up) {
  if (!is_container(container)) return failed(TYPE_);
  if (length(c, container) == 0) return integer(0);
  spend(c, length(c, container) / 8);
  if (container.kind == ROW) {
    u32 mine = bytes_of(c, container)[0];
    for (u32 k = lane(); k < container.len; k += LANES) {
      u32 cell = bytes_of(c, container)[k];
      mine = up ? max_of(mine, cell) : min_of(mine, cell);
    }
    return integer(up ? largest(mine) : least(mine));
  }
  const V *keys;
  u32 at;
  V fault = keys_of(c, container, none(), &keys);
  TRY(fault);
  fault = first_extreme(c, container, keys, up, false, &at);
  TRY(fault);
  return keys[at];
}

/// The keys of all elements, to find an extreme one. Python compares each key with the best so far before it asks for the next one:
/// where some fail and others may not be comparable, the CPU finds out what it meets first.
OUTLINE V keys_to_compare(Ctx &c, V container, V function, V *keys) {
  u32 n = length(c, container);
  for (u32 k = lane(); k < n; k += LANES) keys[k] = failed(TYPE_);
  sync();
  V fault = map_all(c, function, container, keys);
  if (fault.kind != FAILED || fault.flags == TYPE_) return fault;
  sync(); // all see the keys there are
  bool other = false;
  for (u32 k = lane(); k < n; k += LANES) other |= keys[k].kind != FAILED && !is_number(keys[k]);
  return any(other) ? stop(c, FAULTS) : fault;
}

OUTLINE V extreme_value(Ctx &c, V container, V function, bool up) {
  if (!is_container(container)) return failed(TYPE_);
  u32 n = length(c, container), at, mark = c.top;
  i64 fuel = c.fuel, work = c.work;
  if (n == 0) return call1(c, function, integer(0));
  ROOM(V, keys, c, n);
  V fault = keys_to_compare(c, container, function, keys);
  TRY(fault);
  fault = first_extreme(c, container, keys, up, true, &at);
  TRY(fault);
  // Python calls the function once more on the winner, and so does the CPU. It says the same again, but may make a new nan.
  V key = keys[at];
  sync();
  if (key.kind != INT && key.kind != BOOL && key.kind != PAIR && key.kind != CELL)
    return call1(c, function, item(c, container, at));
  spend(c, (u64)(fuel - c.fuel + work - c.work) / n);
  c.top = mark;
  return key;
}

OUTLINE V extreme_argument(Ctx &c, V container, V function, bool up) {
  if (!is_container(container)) return failed(TYPE_);
  if (length(c, container) == 0) return re_arc(c) ? none() : failed(VALUE_);
  u32 at, mark = c.top;
  const V *keys;
  V fault;
  if (function.kind == NONE) {
    fault = keys_of(c, container, function, &keys);
  } else {
    ROOM(V, images, c, length(c, container));
    fault = keys_to_compare(c, container, function, images);
    keys = images;
  }
  TRY(fault);
  fault = first_extreme(c, container, keys, up, false, &at);
  TRY(fault);
  sync();
  c.top = mark;
  return item(c, container, at);
}

// ---- Repetitions ---------------------------------------------------------------------------------------------

/// For every element of a tuple the number of the first one that equals it.
OUTLINE V number_equals(Ctx &c, V tuple, u32 *firsts) {
  u32 n = length(c, tuple);
  const V *items = elements(c, tuple);
  CHECK(c);
  spend(c, (u64)n * n / LANES + n);
  ROOM(u64, hashes, c, n);
  if (sort_numbers(c, items, n, hashes) != NO_NUMBERS) {
    for (u32 k = lane(); k < n; k += LANES) {
      u32 j = 0;
      while (j < k && hashes[j] != hashes[k]) j++;
      firsts[k] = j;
    }
    sync();
    return none();
  }
  for (u32 k = 0; k < n; k++) {
    V v = items[k];
    u64 hash = hash_of(c, v);
    u32 found = k;
    for (u32 from = 0; from < k && found == k; from += LANES) {
      u32 j = from + lane();
      u32 candidates = ballot(j < k && hashes[j] == hash && firsts[j] == j);
      while (candidates && found == k) {
        u32 other = from + lowest(candidates);
        candidates &= candidates - 1;
        if (equal_member(c, items[other], v, 0)) found = other;
      }
    }
    CHECK(c);
    put(hashes + k, hash);
    put(firsts + k, found);
    sync();
  }
  return none();
}

/// The same for a tuple of bytes: how often each occurs, and where first, in scratch memory.
OUTLINE void number_equal_bytes(Ctx &c, V row, u32 *firsts) {
  const u8 *bytes = bytes_of(c, row);
  u32 *met = (u32 *)c.scratch;
  sync();
  fill_with(met, EMPTY, 256);
  sync();
  for (u32 k = lane(); k < row.len; k += LANES) atomic_min(met + bytes[k], k);
  sync();
  for (u32 k = lane(); k < row.len; k += LANES) firsts[k] = met[bytes[k]];
  sync();
}

/// How many elements of a tuple equal the k-th, where that is the first of them; 0 elsewhere.
OUTLINE V count_equals(Ctx &c, V tuple, u32 *counts) {
  u32 n = length(c, tuple), mark = c.top;
  ROOM(u32, firsts, c, n);
  fill_with(counts, 0u, n);
  sync();
  if (tuple.kind == ROW) {
    number_equal_bytes(c, tuple, firsts);
  } else {
    V fault = number_equals(c, tuple, firsts);
    TRY(fault);
  }
  for (u32 k = lane(); k < n; k += LANES) atomic_add32(counts + firsts[k], 1);
  sync();
  c.top = mark;
  return none();
}

/// The first of the elements that occur `best` times, in the iteration order of the set of all elements.
OUTLINE V first_in_table(Ctx &c, V tuple, const u32 *counts, u32 best) {
  u32 n = length(c, tuple), distinct = 0;
  ROOM(u64, hashes, c, n);
  c.by_address = false;
  for (u32 k = 0; k < n; k++) {
    if (!counts[k]) continue;
    u64 hash = hash_of(c, item(c, tuple, k));
    put(hashes + k, hash);
    distinct++;
  }
  refuse_addresses(c, distinct);
  CHECK(c);
  sync();
  spend(c, distinct);
  Table t;
  t.slots = room_for<u32>(c, table_room(distinct));
  t.other = room_for<u32>(c, table_room(distinct));
  CHECK(c);
  u32 winner = 0;
  if (lane() == 0) {
    table_clear(t);
    for (u32 k = 0; k < n; k++)
      if (counts[k]) table_add(t, hashes, k);
    u32 at = 0;
    while (at < t.mask && (t.slots[at] >= DUMMY || counts[t.slots[at]] != best)) at++;
    winner = t.slots[at];
  }
  winner = from_lane(winner, 0);
  sync();
  return item(c, tuple, winner);
}

/// The most frequent element of a tuple, or the rarest.
OUTLINE V by_frequency(Ctx &c, V container, bool most) {
  if (is_set(container)) return failed(ATTRIBUTE_);
  if (!is_tuple(container)) return failed(TYPE_);
  u32 n = length(c, container), mark = c.top;
  if (n == 0) return failed(VALUE_);
  ROOM(u32, counts, c, n);
  V fault = count_equals(c, container, counts);
  TRY(fault);
  u32 best = most ? 0 : EMPTY;
  for (u32 k = lane(); k < n; k += LANES)
    if (counts[k]) best = most ? max_of(best, counts[k]) : min_of(best, counts[k]);
  best = most ? largest(best) : least(best);
  u32 first = EMPTY, ties = 0;
  for (u32 k = lane(); k < n; k += LANES) {
    if (counts[k] != best) continue;
    first = min_of(first, k);
    ties++;
  }
  first = least(first);
  V winner = sum(ties) == 1 ? item(c, container, first) : first_in_table(c, container, counts, best);
  TRY(winner);
  sync();
  c.top = mark;
  return winner;
}

OP(dedupe)(Ctx &c, V tuple) {
  if (is_set(tuple)) return tuple.len == 0 ? empty_tuple() : failed(ATTRIBUTE_);
  if (!is_tuple(tuple)) return failed(TYPE_);
  u32 n = length(c, tuple);
  if (n == 0) return tuple;
  if (tuple.kind == GRID) spend(c, (u64)n * n * width_of(tuple) / 128); // the CPU compares rows each with each
  ROOM(u32, counts, c, n);
  ROOM(u8, keep, c, n);
  V fault = count_equals(c, tuple, counts);
  TRY(fault);
  for (u32 k = lane(); k < n; k += LANES) keep[k] = counts[k] != 0;
  sync();
  return tuple_keep(c, tuple, keep);
}
SAME1(dedupe, dedupe)

OP(mostcommon)(Ctx &c, V container) { return by_frequency(c, container, true); }
OP(leastcommon)(Ctx &c, V container) { return by_frequency(c, container, false); }
SAME1(mostcommon, mostcommon)
SAME1(mostcommon_t, mostcommon)
SAME1(leastcommon, leastcommon)
SAME1(leastcommon_t, leastcommon)

/// The first element of a set that is built once more from a set's elements.
OUTLINE V first_anew(Ctx &c, V set) {
  if (set.len == 0) return failed(VALUE_);
  NEED_ORDER(c, set);
  if (set.len == 1) return item(c, set, 0);
  V anew = c.exact ? build_distinct(c, set, BUILD) : stop(c, ORDER);
  TRY(anew);
  return item(c, anew, 0);
}
TOK(mostcommon_f)(Ctx &c, V container) {
  return is_set(container) ? first_anew(c, container) : by_frequency(c, container, true);
}
TOK(leastcommon_f)(Ctx &c, V container) {
  return is_set(container) ? first_anew(c, container) : by_frequency(c, container, false);
}

// ---- Size, first and last ------------------------------------------------------------------------------------

OP(size)(Ctx &c, V container) { return is_container(container) ? integer(length(c, container)) : failed(TYPE_); }
SAME1(size, size)
SAME1(size_t, size)
SAME1(size_f, size)

/// Element k of a container in iteration order; k is in range.
INLINE V nth(Ctx &c, V container, u32 k) {
  NEED_ORDER(c, container);
  return item(c, container, k);
}

OP(first)(Ctx &c, V container) {
  if (!is_container(container)) return failed(TYPE_);
  return length(c, container) ? nth(c, container, 0) : failed(STOP_ITERATION);
}
OP(last)(Ctx &c, V container) {
  if (!is_container(container)) return failed(TYPE_);
  u32 n = length(c, container);
  return n ? nth(c, container, n - 1) : failed(VALUE_);
}

TOK(first)(Ctx &c, V container) {
  if (!is_container(container)) return failed(TYPE_);
  return length(c, container) ? nth(c, container, 0) : none();
}
TOK(second)(Ctx &c, V container) {
  if (!is_container(container)) return failed(TYPE_);
  u32 n = length(c, container);
  return n == 0 ? failed(STOP_ITERATION) : n == 1 ? none() : nth(c, container, 1);
}
/// The first element of what counts as true.
INLINE V first_of(Ctx &c, V v) { return is_set(v) ? nth(c, v, 0) : at(c, v, 0); }
INLINE V last_of(Ctx &c, V v) { return is_set(v) ? nth(c, v, v.len - 1) : at(c, v, -1); }
TOK(first_t)(Ctx &c, V container) { return truth(c, container) ? at(c, container, 0) : empty_tuple(); }
TOK(first_f)(Ctx &c, V container) { return truth(c, container) ? first_of(c, container) : empty_set(); }
TOK(last)(Ctx &c, V container) { return truth(c, container) ? last_of(c, container) : empty_tuple(); }
TOK(last_t)(Ctx &c, V container) { return truth(c, container) ? at(c, container, -1) : empty_tuple(); }
TOK(last_f)(Ctx &c, V container) { return truth(c, container) ? last_of(c, container) : empty_set(); }

OP(totuple)(Ctx &c, V container) {
  if (is_tuple(container)) return container;
  if (!is_set(container)) return failed(TYPE_);
  NEED_ORDER(c, container);
  const V *items = elements(c, container);
  CHECK(c);
  return tuple_at(c, items, container.len);
}
SAME1(totuple, totuple)

// ---- One value in or out -------------------------------------------------------------------------------------

OP(initset)(Ctx &c, V value) {
  ROOM(V, items, c, 1);
  put(items, value);
  sync();
  return build_values(c, items, 1, FROZEN);
}
SAME1(initset, initset)

OP(insert)(Ctx &c, V value, V container) {
  if (!is_set(container)) return failed(ATTRIBUTE_);
  V single = op_initset(c, value);
  TRY(single);
  return set_union(c, container, single);
}
SAME2(insert, insert)

/// Marks the elements of a container that do not equal a value. nan, equal to nothing, is never equal.
OUTLINE V mark_others(Ctx &c, V container, V value, u8 *keep) {
  u32 n = length(c, container);
  if (is_set(container)) {
    u32 gone = is_nan(value) ? EMPTY : find_in(c, container, value);
    CHECK(c);
    for (u32 k = lane(); k < n; k += LANES) keep[k] = k != gone;
  } else if (container.kind == ROW) {
    i64 wanted;
    bool number = integral(value, &wanted);
    for (u32 k = lane(); k < n; k += LANES) keep[k] = !number || bytes_of(c, container)[k] != wanted;
  } else {
    spend(c, n);
    for (u32 k = 0; k < n; k++) {
      bool same = equal(c, item(c, container, k), value);
      CHECK(c);
      put(keep + k, (u8)!same);
    }
  }
  sync();
  return none();
}

OP(remove)(Ctx &c, V value, V container) {
  if (!is_container(container)) return failed(TYPE_);
  ROOM(u8, keep, c, length(c, container) + 1);
  V bad = mark_others(c, container, value, keep);
  TRY(bad);
  return keep_marked(c, container, keep);
}
SAME2(remove, remove)
SAME2(remove_f, remove)
TOK(remove_t)(Ctx &c, V value, V container) {
  if (!is_container(container)) return failed(TYPE_);
  // The CPU compares with each element, also in sets.
  owe(c, (u64)length(c, container) * (is_scalar(value) ? 1 : 3));
  ROOM(u8, keep, c, length(c, container) + 1);
  V bad = mark_others(c, container, value, keep);
  TRY(bad);
  return tuple_keep(c, container, keep);
}

/// The other element of a set of two, for which no order is needed. False: it is not that simple.
OUTLINE bool other_of_two(Ctx &c, V container, V value, V *other) {
  if (!is_set(container) || container.len != 2) return false;
  u32 gone = find_in(c, container, value);
  if (gone == EMPTY) return false;
  *other = item(c, container, 1 - gone);
  return true;
}

/// The first element of a tuple that does not equal a value; false if there is none.
OUTLINE bool first_other(Ctx &c, V tuple, V value, V *other) {
  u32 n = length(c, tuple);
  spend(c, n);
  i64 fuel = c.fuel;
  for (u32 k = 0; k < n && !c.stop; k++) {
    *other = item(c, tuple, k);
    if (equal(c, *other, value)) continue;
    // The CPU compares all of them.
    spend(c, (u64)(fuel - c.fuel) * (n - k - 1) / (k + 1));
    return true;
  }
  return false;
}

OP(other)(Ctx &c, V container, V value) {
  V other;
  if (is_tuple(container)) {
    bool found = first_other(c, container, value, &other);
    CHECK(c);
    return found ? other : failed(STOP_ITERATION);
  }
  if (other_of_two(c, container, value, &other)) return other;
  CHECK(c);
  V rest = op_remove(c, value, container);
  TRY(rest);
  return op_first(c, rest);
}
TOK(other)(Ctx &c, V container, V value) {
  V other;
  if (is_tuple(container)) {
    bool found = first_other(c, container, value, &other);
    CHECK(c);
    return found ? other : none();
  }
  if (!is_nan(value) && other_of_two(c, container, value, &other)) return other;
  CHECK(c);
  V rest = safely(c, op_remove(c, value, container), TO_EMPTY_TUPLE);
  TRY(rest);
  return tok_first(c, rest);
}
TOK(other_t)(Ctx &c, V container, V value) {
  V other;
  if (!is_nan(value) && other_of_two(c, container, value, &other)) return other;
  CHECK(c);
  V rest = tok_remove_t(c, value, container);
  TRY(rest);
  return length(c, rest) ? item(c, rest, 0) : empty_tuple();
}
TOK(other_f)(Ctx &c, V container, V value) {
  V other;
  if (!is_nan(value) && other_of_two(c, container, value, &other)) return other;
  CHECK(c);
  V rest = safely(c, op_remove(c, value, container), TO_EMPTY_SET);
  TRY(rest);
  return truth(c, rest) ? first_of(c, rest) : empty_set();
}

// ---- Two containers ------------------------------------------------------------------------------------------

/// The members joined, if all are rows or all are grids of one width; `None` for others.
OUTLINE V join_rows(Ctx &c, const V *members, u32 count) {
  if (count == 0) return none();
  u8 kind = members[0].kind;
  if (kind != ROW && !(kind == GRID && rows_stay_rows(c, width_of(members[0])))) return none();
  u32 width = kind == ROW ? 1 : width_of(members[0]);
  u64 total = 0;
  for (u32 m = 0; m < count; m++) {
    V member = members[m];
    if (member.kind != kind || (kind == GRID && width_of(member) != width)) return none();
    total += length(c, member);
  }
  if (total > MOST_ELEMENTS) return stop(c, SIZE);
  spend(c, count);
  spend_shared(c, total);
  ROOM(u8, bytes, c, total * width);
  u32 to = 0;
  for (u32 m = 0; m < count; m++) {
    u32 n = length(c, members[m]) * width;
    copy(bytes + to, bytes_of(c, members[m]), n);
    to += n;
  }
  sync();
  return kind == ROW ? row_at(c, bytes, to) : grid_at(c, bytes, (u32)total, width);
}

/// The elements of all members as a tuple.
OUTLINE V join(Ctx &c, const V *members, u32 count) {
  V joined = join_rows(c, members, count);
  return joined.kind == NONE ? merge_tuple(c, members, count) : joined;
}

OUTLINE V join_two(Ctx &c, V a, V b) {
  ROOM(V, both, c, 2);
  put(both, a);
  put(both + 1, b);
  sync();
  return is_set(a) ? merge_set(c, both, 2) : join(c, both, 2);
}

OP(combine)(Ctx &c, V a, V b) { return join_two(c, a, b); }
SAME2(combine, combine)
TOK(combine_t)(Ctx &c, V a, V b) {
  if (is_numeric(a) && is_numeric(b)) return on_values(c, ADD, a, b);
  return is_tuple(a) && is_tuple(b) ? join_two(c, a, b) : failed(TYPE_);
}

/// `a & b` or `a | b` of what is not two sets.
OUTLINE V bitwise(V a, V b, bool both) {
  if (a.kind == BOOL && b.kind == BOOL) return boolean(both ? a.flags && b.flags : a.flags || b.flags);
  if (!is_number(a) || !is_number(b)) return failed(TYPE_);
  return integer(both ? number_of(a) & number_of(b) : number_of(a) | number_of(b));
}
TOK(combine_f)(Ctx &c, V a, V b) { return is_set(a) && is_set(b) ? set_union(c, a, b) : bitwise(a, b, false); }
OP(intersection)(Ctx &c, V a, V b) { return is_set(a) && is_set(b) ? set_inter(c, a, b) : bitwise(a, b, true); }
SAME2(intersection, intersection)

OP(difference)(Ctx &c, V a, V b) {
  if (!is_container(a)) return failed(TYPE_);
  u32 n = length(c, a);
  // What is not looked at cannot fail.
  if (n && !is_container(b)) return failed(TYPE_);
  ROOM(u8, keep, c, n + 1);
  // The CPU looks through a tuple for each element.
  spend(c, is_tuple(b) ? (u64)n * length(c, b) / 4 : n / 8);
  CHECK(c);
  if (b.kind == ROW) {
    for (u32 k = 0; k < n; k++) {
      bool in = contains(c, b, item(c, a, k));
      put(keep + k, (u8)in);
    }
    sync();
  } else if (n) {
    V list = as_list(c, a);
    TRY(list);
    V others = as_list(c, b);
    TRY(others);
    mark_members(c, list, others, keep, !is_set(b));
  }
  CHECK(c);
  for (u32 k = lane(); k < n; k += LANES) keep[k] = !keep[k];
  sync();
  return keep_marked(c, a, keep);
}
SAME2(difference, difference)
SAME2(difference_tuple, difference)
SAME2(difference_t, difference)

/// `(a, b)`, made by one lane alone; `parts` is where the two go if they are not packed.
INLINE V pair_in(const Ctx &c, V a, V b, V *parts) {
  if (a.kind == INT && b.kind == INT && fits16(int_of(a)) && fits16(int_of(b)))
    return pair_of_word(pair_word((i32)int_of(a), (i32)int_of(b)));
  if (a.kind == INT && b.kind == PAIR && !triples(c) && fits32(int_of(a))) return cell_of(b.lo, (i32)int_of(a));
  parts[0] = a;
  parts[1] = b;
  return make(TUPLE, 0, 2, offset_of(c, parts), 0);
}

/// Are these all integers that a location can hold?
OUTLINE bool are_narrow(const V *items, u32 n) {
  bool wide = false;
  for (u32 k = lane(); k < n; k += LANES) wide |= items[k].kind != INT || !fits16(int_of(items[k]));
  return !any(wide);
}

/// All pairs of two lists' elements as a list, the second one's in the outer loop.
OUTLINE V all_pairs(Ctx &c, const V *a, u32 n, const V *b, u32 m) {
  u32 total = n * m;
  if (are_narrow(a, n) && are_narrow(b, m)) {
    ROOM(u32, pairs, c, total);
    for (u32 k = lane(); k < total; k += LANES) pairs[k] = pair_word((i32)a[k % n].lo, (i32)b[k / n].lo);
    sync();
    return list_at(c, SET_P, pairs, total);
  }
  ROOM(V, pairs, c, total);
  ROOM(V, parts, c, 2 * (u64)total);
  for (u32 k = lane(); k < total; k += LANES) pairs[k] = pair_in(c, a[k % n], b[k / n], parts + 2 * k);
  sync();
  return list_of(c, pairs, total);
}

OP(product)(Ctx &c, V a, V b) {
  if (!is_container(b)) return failed(TYPE_);
  u32 m = length(c, b);
  if (m == 0) return empty_set();
  if (!is_container(a)) return failed(TYPE_);
  u32 n = length(c, a);
  if ((u64)n * m > MOST_ELEMENTS) return stop(c, SIZE);
  if (n == 0) return empty_set();
  spend_shared(c, (u64)n * m);
  const V *x = elements(c, a), *y = elements(c, b);
  CHECK(c);
  V list = all_pairs(c, x, n, y, m);
  TRY(list);
  return is_set(a) && is_set(b) ? build_distinct(c, list, BUILD) : build(c, list, BUILD);
}
SAME2(product, product)

OP(pair)(Ctx &c, V a, V b) {
  if (!is_container(a) || !is_container(b)) return failed(TYPE_);
  u32 n = min_of(length(c, a), length(c, b));
  if (n == 0) return empty_tuple();
  NEED_ORDER(c, a);
  NEED_ORDER(c, b);
  spend_shared(c, n + (length(c, a) + length(c, b)) / 8);
  ROOM(V, pairs, c, n);
  ROOM(V, parts, c, 2 * (u64)n);
  for (u32 k = lane(); k < n; k += LANES) pairs[k] = pair_in(c, item(c, a, k), item(c, b, k), parts + 2 * k);
  sync();
  return tuple_at(c, pairs, n);
}
SAME2(pair, pair)

TOK(celltuple)(Ctx &c, V a, V b) {
  if (!is_container(a) || !is_container(b)) return failed(TYPE_);
  u32 n = min_of(length(c, a), length(c, b));
  if (n == 0) return empty_tuple();
  NEED_ORDER(c, a);
  NEED_ORDER(c, b);
  owe_for(c, a);
  owe_for(c, b);
  spend(c, n);
  ROOM(V, cells, c, n);
  for (u32 k = 0; k < n; k++) {
    V i, j;
    V fault = unpack_pair(c, item(c, a, k), &i, &j);
    TRY(fault);
    V cell = triple_of(c, i, j, item(c, b, k));
    TRY(cell);
    put(cells + k, cell);
  }
  sync();
  return tuple_at(c, cells, n);
}

TOK(dedupe_pair_tuple)(Ctx &c, V samples) {
  if (!is_container(samples)) return failed(TYPE_);
  u32 n = length(c, samples), kept = 0;
  NEED_ORDER(c, samples);
  ROOM(V, pairs, c, n + 1);
  for (u32 k = 0; k < n; k++) {
    V a, b;
    V fault = unpack_pair(c, item(c, samples, k), &a, &b);
    TRY(fault);
    bool same = equal(c, a, b);
    CHECK(c);
    if (same) continue;
    V pair = pair_of(c, a, b);
    TRY(pair);
    put(pairs + kept++, pair);
  }
  sync();
  return tuple_at(c, pairs, kept);
}

// ---- Members of members --------------------------------------------------------------------------------------

OP(merge)(Ctx &c, V containers) {
  if (!is_container(containers)) return failed(TYPE_);
  // The cells of a grid lie row by row already.
  if (containers.kind == GRID) {
    u32 cells = height_of(containers) * width_of(containers);
    spend(c, cells / 4 + height_of(containers));
    return row_at(c, bytes_of(c, containers), cells);
  }
  const V *members = elements(c, containers);
  CHECK(c);
  u32 n = length(c, containers);
  return is_set(containers) ? merge_set(c, members, n) : join(c, members, n);
}
SAME1(merge, merge)
SAME1(merge_f, merge)
SAME1(merge_t, merge)

/// Marks the members that have so many elements, in memory of its own. none() or a fault.
OUTLINE V mark_of_size(Ctx &c, V container, V size, u8 **keep) {
  if (!is_container(container)) return failed(TYPE_);
  u32 n = length(c, container);
  i64 wanted;
  bool number = integral(size, &wanted), without = false;
  spend(c, n / 8 + 1);
  u8 *marks = room(c, n + 1);
  CHECK(c);
  for (u32 k = lane(); k < n; k += LANES) {
    V member = item(c, container, k);
    without |= !is_container(member);
    marks[k] = number && length(c, member) == wanted;
  }
  sync();
  *keep = marks;
  return any(without) ? failed(TYPE_) : none();
}

OP(sizefilter)(Ctx &c, V container, V size) {
  u8 *keep;
  V fault = mark_of_size(c, container, size, &keep);
  TRY(fault);
  return keep_in_set(c, container, keep);
}
SAME2(sizefilter, sizefilter)
TOK(sizefilter_t)(Ctx &c, V container, V size) {
  u8 *keep;
  V fault = mark_of_size(c, container, size, &keep);
  TRY(fault);
  return tuple_keep(c, container, keep);
}

// ---- Conditions ----------------------------------------------------------------------------------------------

/// Marks what satisfies a condition, in memory of its own. none() or a fault.
OUTLINE V mark_accepted(Ctx &c, V container, V condition, u8 **keep) {
  if (!is_container(container)) return failed(TYPE_);
  *keep = room(c, length(c, container) + 1);
  CHECK(c);
  u32 mark = c.top;
  V fault = mark_all(c, condition, container, *keep);
  TRY(fault);
  c.top = mark;
  return none();
}

OP(sfilter)(Ctx &c, V container, V condition) {
  u8 *keep;
  V fault = mark_accepted(c, container, condition, &keep);
  TRY(fault);
  return keep_marked(c, container, keep);
}
OP(mfilter)(Ctx &c, V container, V condition) {
  V kept = op_sfilter(c, container, condition);
  TRY(kept);
  return op_merge(c, kept);
}
SAME2(sfilter, sfilter)
TOK(sfilter_t)(Ctx &c, V container, V condition) {
  u8 *keep;
  V fault = mark_accepted(c, container, condition, &keep);
  TRY(fault);
  return tuple_keep(c, container, keep);
}
TOK(sfilter_f)(Ctx &c, V container, V condition) {
  u8 *keep;
  V fault = mark_accepted(c, container, condition, &keep);
  TRY(fault);
  return keep_in_set(c, container, keep);
}
ALIAS2(mfilter_t, sfilter_f)
TOK(mfilter)(Ctx &c, V container, V condition) {
  V kept = safely(c, op_sfilter(c, container, condition), TO_EMPTY_TUPLE);
  TRY(kept);
  return safely(c, op_merge(c, kept), TO_EMPTY_TUPLE);
}
ALIAS2(mfilter_f, mfilter)

/// Accounts for the elements of a set that are not looked at once one has been found: the CPU may look at all of them,
/// and what is finished here must be within its limits there.
OUTLINE void spend_on_others(Ctx &c, V container, u32 seen, i64 fuel, i64 work) {
  i64 spent = fuel - c.fuel + work - c.work;
  if (is_set(container)) spend(c, (u64)spent / seen * (container.len - seen));
}

OP(extract)(Ctx &c, V container, V condition) {
  if (!is_container(container)) return failed(TYPE_);
  i64 fuel = c.fuel, work = c.work, budget = c.budget;
  u32 n = length(c, container), mark = c.top, found = EMPTY;
  LEAVE_TO_ALL(c, n);
  u8 manner = manner_of(c, condition, n);
  bool ordered = in_order(container), faults_differ = false;
  V fault = none();
  for (u32 from = 0; from < n; from += LANES) {
    if (manner != IN_TURN) {
      V mine;
      u32 fallbacks = c.fallbacks, closures = c.closures;
      // Later elements are not looked at, so they must not leave a trace either.
      if (map_some(c, &manner, condition, container, from, n, false, &mine) && c.fallbacks == fallbacks &&
          c.closures == closures && !any(mine.kind == FAILED)) {
        u32 accepted = ballot(from + lane() < n && truth(c, mine));
        if (!accepted) continue;
        if (!ordered && (found != EMPTY || popcount(accepted) > 1)) return stop(c, ORDER);
        found = from + lowest(accepted);
        if (ordered) {
          spend_on_others(c, container, min_of(from + LANES, n), fuel, work);
          CHECK(c);
          return item(c, container, found);
        }
        continue;
      }
      CHECK(c);
      c.fallbacks = fallbacks;
      c.closures = closures;
      manner = IN_TURN;
    }
    u32 to = min_of(from + LANES, n);
    for (u32 k = from; k < to; k++) {
      V y = through_generator(call1(c, condition, item(c, container, k)));
      if (y.kind == STOPPED || c.stop) return make(STOPPED, 0, 0, 0, 0);
      bool accepted = y.kind != FAILED && truth(c, y);
      sync();
      c.top = mark;
      c.budget = budget;
      if (y.kind == FAILED) {
        if (ordered) {
          spend_on_others(c, container, k + 1, fuel, work);
          CHECK(c);
          return y;
        }
        faults_differ |= fault.kind == FAILED && fault.flags != y.flags;
        fault = y;
      } else if (accepted) {
        if (ordered) {
          spend_on_others(c, container, k + 1, fuel, work);
          CHECK(c);
          return item(c, container, k);
        }
        if (found != EMPTY) return stop(c, ORDER);
        found = k;
      }
    }
  }
  // Without order: one that fails may come before the one that satisfies the condition, or after it.
  if (fault.kind == FAILED) return found != EMPTY || faults_differ ? stop(c, ORDER) : fault;
  return found == EMPTY ? failed(STOP_ITERATION) : item(c, container, found);
}
TOK(extract)(Ctx &c, V container, V condition) {
  V found = op_extract(c, container, condition);
  return found.kind == FAILED && found.flags == STOP_ITERATION ? empty_set() : found;
}

// ---- Extremes ------------------------------------------------------------------------------------------------

OP(maximum)(Ctx &c, V container) { return extreme_element(c, container, true); }
OP(minimum)(Ctx &c, V container) { return extreme_element(c, container, false); }
OP(valmax)(Ctx &c, V container, V function) { return extreme_value(c, container, function, true); }
OP(valmin)(Ctx &c, V container, V function) { return extreme_value(c, container, function, false); }
OP(argmax)(Ctx &c, V container, V function) { return extreme_argument(c, container, function, true); }
OP(argmin)(Ctx &c, V container, V function) { return extreme_argument(c, container, function, false); }
SAME1(maximum, maximum)
SAME1(minimum, minimum)
SAME2(valmax, valmax)
SAME2(valmax_t, valmax)
SAME2(valmax_f, valmax)
SAME2(valmin, valmin)
SAME2(valmin_t, valmin)
SAME2(valmin_f, valmin)
SAME2(argmax, argmax)
SAME2(argmax_t, argmax)
SAME2(argmax_f, argmax)
SAME2(argmin, argmin)
SAME2(argmin_t, argmin)
SAME2(argmin_f, argmin)

// ---- Making tuples -------------------------------------------------------------------------------------------

OP(repeat)(Ctx &c, V value, V count) {
  if (!is_number(count)) return failed(TYPE_);
  i64 n = number_of(count);
  if (n <= 0) return empty_tuple();
  if (n > (i64)MOST_ELEMENTS) return stop(c, SIZE);
  u32 times = (u32)n;
  spend(c, times);
  if (is_byte(value)) {
    ROOM(u8, bytes, c, times);
    fill_with(bytes, (u8)value.lo, times);
    sync();
    return row_at(c, bytes, times);
  }
  if (value.kind == ROW && value.len > 0) {
    u64 total = (u64)times * value.len;
    if (total > MOST_ELEMENTS) return stop(c, SIZE);
    ROOM(u8, cells, c, total);
    for (u32 k = lane(); k < total; k += LANES) cells[k] = bytes_of(c, value)[k % value.len];
    sync();
    return grid_at(c, cells, times, value.len);
  }
  ROOM(V, items, c, times);
  fill_with(items, value, times);
  sync();
  return tuple_at(c, items, times);
}
SAME2(repeat, repeat)

OP(interval)(Ctx &c, V start, V stop_at, V step) {
  if (!is_number(start) || !is_number(stop_at) || !is_number(step)) return failed(TYPE_);
  i64 from = number_of(start), to = number_of(stop_at), by = number_of(step);
  if (by == 0) return failed(VALUE_);
  if (by > 0 ? to <= from : to >= from) return empty_tuple();
  u64 span = by > 0 ? (u64)to - (u64)from : (u64)from - (u64)to;
  u64 stride = by > 0 ? (u64)by : 0 - (u64)by;
  u64 count = (span - 1) / stride + 1;
  if (count > MOST_ELEMENTS) return stop(c, SIZE);
  u32 n = (u32)count;
  i64 last = (i64)((u64)from + (count - 1) * (u64)by);
  spend(c, n);
  if (is_byte(integer(from)) && is_byte(integer(last))) {
    ROOM(u8, bytes, c, n);
    for (u32 k = lane(); k < n; k += LANES) bytes[k] = (u8)(from + (i64)k * by);
    sync();
    return row_at(c, bytes, n);
  }
  ROOM(V, items, c, n);
  for (u32 k = lane(); k < n; k += LANES) items[k] = integer((i64)((u64)from + (u64)k * (u64)by));
  sync();
  return tuple_at(c, items, n);
}
SAME3(interval, interval)

SAME2(astuple, astuple)
TOK(astriple)(Ctx &c, V i, V j, V color) { return triple_of(c, i, j, color); }
TOK(ascell)(Ctx &c, V ij, V color) {
  if (ij.kind == PAIR && color.kind == INT && fits32(int_of(color))) return cell_of(ij.lo, (i32)int_of(color));
  V i = at(c, ij, 0);
  TRY(i);
  V j = at(c, ij, 1);
  TRY(j);
  return triple_of(c, i, j, color);
}
TOK(toij)(Ctx &c, V cell) {
  if (cell.kind == CELL) return pair_of_word(cell.lo);
  V i = at(c, cell, 0);
  TRY(i);
  V j = at(c, cell, 1);
  TRY(j);
  return pair_of(c, i, j);
}
