// Containers in tokpidjin.

// ---- Elements by their place ----------------------------------------------------------------------------

/// Where an element of this rank stands among n: negative ranks count from the end. n if there is none.
INLINE u32 position_of(const V &rank, u32 n) {
  i64 at = int_of(rank);
  if (at < 0) at += n;
  return at >= 0 && at < (i64)n ? (u32)at : n;
}
/// Element k of a container in iteration order; there are more than k.
CALLED V nth_element(const Ctx &c, V v, u32 k) {
  if (is_patch(v)) return size_of_patch(v) == 1 ? only_element(v) : stopped(ORDER);
  if (v.kind == SET) {
    v = with_order(c, v);
    sync();
    return is_value(v) ? ((const V *)v.bits)[k] : v;
  }
  u32 width = has_rows(v) ? row_width(v, k) : 0;
  if (width < 4 && width != 1) return element_alone(c, v, k);
  V *to = (V *)room_for(c, width * sizeof(V));
  if (!to) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    if (l < width) to[l] = integer(color_at(v, k, l));
    return 0u;
  });
  return make(TUPLE, 0, 0, 0, width, (u64)to);
}
INLINE V last_element(const Ctx &c, const V &v) { return nth_element(c, v, (u32)length_alone(c, v) - 1); }

THREAD_OP(tok_get_nth_t)(const Ctx &c, V container, V rank) {
  // A nan has no form.
  if (!any_tuple(container)) return stopped(ODD);
  if (!is_int(rank)) return empty_tuple();
  u32 n = (u32)length_alone(c, container), at = position_of(rank, n);
  return at < n ? element_alone(c, container, at) : stopped(ODD);
}
ROW_OP(tok_get_nth_f)(const Ctx &c, V container, V rank) {
  i32 n = length_alone(c, container);
  if (n < 0 || !is_int(rank)) return empty_tuple();
  u32 at = position_of(rank, (u32)n);
  return at < (u32)n ? nth_element(c, container, at) : empty_patch();
}

ROW_OP(tok_first)(const Ctx &c, V container) {
  i32 n = length_alone(c, container);
  return n < 0 ? empty_tuple() : n == 0 ? none() : nth_element(c, container, 0);
}
ROW_OP(tok_second)(const Ctx &c, V container) {
  i32 n = length_alone(c, container);
  return n <= 0 ? empty_tuple() : n == 1 ? none() : nth_element(c, container, 1);
}
ROW_OP(tok_last)(const Ctx &c, V container) {
  return length_alone(c, container) <= 0 ? empty_tuple() : last_element(c, container);
}
/// Does a tuple have elements?
INLINE bool has_first(const Ctx &c, const V &v) { return any_tuple(v) && length_alone(c, v) > 0; }
THREAD_OP(tok_first_t)(const Ctx &c, V container) {
  return has_first(c, container) ? element_alone(c, container, 0) : empty_tuple();
}
THREAD_OP(tok_last_t)(const Ctx &c, V container) {
  if (!has_first(c, container)) return empty_tuple();
  return element_alone(c, container, (u32)length_alone(c, container) - 1);
}
ROW_OP(tok_first_f)(const Ctx &c, V container) {
  if (is_false(container)) return empty_patch();
  return length_alone(c, container) <= 0 ? empty_tuple() : nth_element(c, container, 0);
}
ROW_OP(tok_last_f)(const Ctx &c, V container) {
  if (is_false(container)) return empty_patch();
  return length_alone(c, container) <= 0 ? empty_tuple() : last_element(c, container);
}

THREAD_OP(tok_size)(const Ctx &c, Any container) { return integer(max_of(length_alone(c, container), 0)); }
THREAD_OP(tok_size_t)(const Ctx &c, Any container) { return op_tok_size(c, container); }
THREAD_OP(tok_size_f)(const Ctx &c, Any container) { return op_tok_size(c, container); }

// ---- Bodies of arc-dsl ----------------------------------------------------------------------------------

// Several names share a body. It is called, so that it is there once.
#define SHARED_1(name) \
  CALLED V shared_##name(const Ctx &c, V x) { return op_##name(c, x); }
#define SHARED_2(name) \
  CALLED V shared_##name(const Ctx &c, V x, V y) { return op_##name(c, x, y); }
SHARED_1(merge)
SHARED_2(combine)
SHARED_2(difference)
SHARED_2(other)
SHARED_2(remove)
CALLED V shared_frequency(const Ctx &c, V tuple, bool most) { return most_frequent(c, tuple, most); }
#undef SHARED_1
#undef SHARED_2

#define SAFE_1(name, fallback, ...) \
  ROW_OP(tok_##name)(const Ctx &c, V x) { return safely(__VA_ARGS__, fallback); }
#define SAFE_2(name, fallback, ...) \
  ROW_OP(tok_##name)(const Ctx &c, V x, V y) { return safely(__VA_ARGS__, fallback); }
SAFE_1(totuple, empty_tuple(), op_totuple(c, x))
SAFE_1(dedupe, empty_tuple(), op_dedupe(c, x))
SAFE_1(merge, empty_tuple(), shared_merge(c, x))
SAFE_1(merge_f, empty_tuple(), shared_merge(c, x))
SAFE_1(merge_t, empty_tuple(), shared_merge(c, x))
SAFE_1(mostcommon, empty_tuple(), shared_frequency(c, x, true))
SAFE_1(mostcommon_t, empty_tuple(), shared_frequency(c, x, true))
SAFE_1(leastcommon, empty_tuple(), shared_frequency(c, x, false))
SAFE_1(leastcommon_t, empty_tuple(), shared_frequency(c, x, false))
SAFE_2(insert, empty_patch(), op_insert(c, x, y))
SAFE_2(remove, empty_tuple(), shared_remove(c, x, y))
SAFE_2(remove_f, empty_patch(), shared_remove(c, x, y))
SAFE_2(other, none(), shared_other(c, x, y))
SAFE_2(other_f, empty_patch(), shared_other(c, x, y))
SAFE_2(combine, empty_tuple(), shared_combine(c, x, y))
SAFE_2(intersection, empty_patch(), op_intersection(c, x, y))
SAFE_2(difference, empty_patch(), shared_difference(c, x, y))
SAFE_2(difference_tuple, empty_tuple(), shared_difference(c, x, y))
SAFE_2(difference_t, empty_tuple(), shared_difference(c, x, y))
SAFE_2(repeat, empty_tuple(), op_repeat(c, x, y))
SAFE_2(product, empty_patch(), op_product(c, x, y))
SAFE_2(pair, empty_tuple(), op_pair(c, x, y))
SAFE_2(order, empty_tuple(), op_order(c, x, y))
#undef SAFE_1
#undef SAFE_2
ROW_OP(tok_interval)(const Ctx &c, V start, V stop, V step) {
  return safely(op_interval(c, start, stop, step), empty_tuple());
}
THREAD_OP(tok_initset)(const Ctx &c, V value) { return op_initset(c, value); }

/// The largest or the smallest cell of an object: cells compare by their locations.
INLINE V extreme_triple(const V &v, bool most) {
  u32 row = most ? v.a - 1u : 0, mask = patch_row(v, 0, row), column = most ? highest(mask) : lowest(mask);
  u32 at = place(row_of(v.len) + (i32)row, column_of(v.len) + (i32)column);
  return make(CELL, (u8)patch_color(v, row, column), 0, 0, at, 0);
}
THREAD_OP(tok_maximum)(const Ctx &c, V container) {
  if (container.kind == OBJECT) return extreme_triple(container, true);
  return safely(op_maximum(c, container), integer(0));
}
THREAD_OP(tok_minimum)(const Ctx &c, V container) {
  if (container.kind == OBJECT) return extreme_triple(container, false);
  return safely(op_minimum(c, container), integer(0));
}

// ---- Some elements --------------------------------------------------------------------------------------

/// The elements that `keep` chooses, as a tuple.
template <class F> INLINE V tuple_of_kept(const Ctx &c, const Items &items, F keep) {
  V *to = (V *)take(c, (u64)items.count * sizeof(V));
  if (!to) return stopped(MEMORY);
  u32 n = copy_chosen(items, to, keep);
  return n > 1 && !items.ordered ? stopped(ORDER) : tuple_value(c, to, n);
}
/// The answer for any element, as a failure; or NONE.
template <class F> INLINE V unsure_about(const Items &items, F find) {
  return any_of(items.count, [&](u32 k) { return find(k) == UNSURE; }) ? stopped(ODD) : none();
}
ROW_OP(tok_remove_t)(const Ctx &c, V value, V container) {
  if (any_tuple(container)) return op_tok_remove(c, value, container);
  Items items;
  V failed = read_items(c, container, items);
  if (failed.kind != NONE) return safely(failed, empty_tuple());
  auto equals = [&](u32 k) { return equal_alone<3>(c, items.at[k], value); };
  failed = unsure_about(items, equals);
  return failed.kind != NONE ? failed : tuple_of_kept(c, items, [&](u32 k) { return equals(k) == NO; });
}
ROW_OP(tok_other_t)(const Ctx &c, V container, V value) {
  Items items;
  V failed = read_items(c, container, items);
  if (failed.kind != NONE) return safely(failed, empty_tuple());
  auto equals = [&](u32 k) { return equal_alone<3>(c, items.at[k], value); };
  failed = unsure_about(items, equals);
  if (failed.kind != NONE) return failed;
  u32 found = 0, first = items.count;
  for (u32 from = 0; from < items.count; from += 32) {
    u32 here = rows_of(rows([&](u32 l) { return (u32)(from + l < items.count && equals(from + l) == NO); }));
    if (here && first == items.count) first = from + lowest(here);
    found += popcount(here);
  }
  if (found == 0) return empty_tuple();
  return found > 1 && !items.ordered ? stopped(ORDER) : items.at[first];
}

/// The members with a number of elements.
ROW_OP(tok_sizefilter_t)(const Ctx &c, V container, V n) {
  Items items;
  V failed = read_items(c, container, items);
  if (failed.kind != NONE) return safely(failed, empty_tuple());
  if (any_of(items.count, [&](u32 k) { return length_alone(c, items.at[k]) < 0; })) return empty_tuple();
  i64 size = is_int(n) ? int_of(n) : -1;
  return tuple_of_kept(c, items, [&](u32 k) { return length_alone(c, items.at[k]) == size; });
}

/// The elements of two containers of one kind.
ROW_OP(tok_combine_t)(const Ctx &c, V a, V b) {
  if (is_int(a) && is_int(b)) return calculated(SUM, int_of(a), int_of(b));
  return any_tuple(a) && any_tuple(b) ? op_tok_combine(c, a, b) : empty_tuple();
}
ROW_OP(tok_combine_f)(const Ctx &c, V a, V b) {
  if (a.kind == BOOL && b.kind == BOOL) return boolean(a.bits | b.bits);
  if (is_int(a) && is_int(b)) return integer((i64)(a.bits | b.bits));
  if (!any_set(a) || !any_set(b)) return empty_patch();
  V all = shared_combine(c, a, b);
  // The elements are added to a copy of the first set, which `combine` does not make.
  if (all.kind == SET && all.len > 1) all.c = UNKNOWN;
  return all;
}

/// The pairs whose halves differ.
ROW_OP(tok_dedupe_pair_tuple)(const Ctx &c, V samples) {
  Items items;
  V failed = read_items(c, samples, items);
  if (failed.kind != NONE) return safely(failed, empty_tuple());
  if (any_of(items.count, [&](u32 k) { return length_alone(c, items.at[k]) != 2; })) return empty_tuple();
  // Two elements of a set become a tuple.
  if (any_of(items.count, [&](u32 k) { return any_set(items.at[k]); })) return stopped(ODD);
  auto equals = [&](u32 k) {
    const V &pair = items.at[k];
    if (pair.kind == RAGGED) return NO;
    if (pair.kind == WIDE) return UNSURE;
    if (pair.kind == GRID) {
      for (u32 plane = 0; plane < 4; plane++)
        if (((const u32 *)pair.bits)[32 * plane] != ((const u32 *)pair.bits)[32 * plane + 1]) return NO;
      return YES;
    }
    return equal_alone<3>(c, component(c, pair, 0), component(c, pair, 1));
  };
  failed = unsure_about(items, equals);
  return failed.kind != NONE ? failed : tuple_of_kept(c, items, [&](u32 k) { return equals(k) == NO; });
}

/// Cells of locations and colours at the same place.
ROW_OP(tok_celltuple)(const Ctx &c, V a, V b) {
  Items places, colors;
  V failed = read_items(c, a, places);
  if (failed.kind == NONE) failed = read_items(c, b, colors);
  if (failed.kind != NONE) return safely(failed, empty_tuple());
  u32 n = min_of(places.count, colors.count);
  if (n == 0) return empty_tuple();
  if (any_set(a) && !places.ordered) return stopped(ORDER);
  if (any_of(n, [&](u32 k) { return length_alone(c, places.at[k]) != 2; })) return empty_tuple();
  if (any_set(b) && !colors.ordered) return stopped(ORDER);
  auto is_cell = [&](u32 k) {
    return places.at[k].kind == PAIR && colors.at[k].kind == INT && colors.at[k].bits < 16;
  };
  if (any_of(n, [&](u32 k) { return !is_cell(k); })) return stopped(ODD);
  return tuple_by_number(c, n, [&](u32 k) {
    return make(CELL, (u8)colors.at[k].bits, 0, 0, places.at[k].len, 0);
  });
}

// ---- Elements by rank -----------------------------------------------------------------------------------

/// The key by which Python sorts numbers, pairs and cells. False for others.
INLINE bool own_key(const V &v, i64 *key) {
  i64 at = (i64)row_of(v.len) * 65536 + column_of(v.len) + 32768;
  *key = is_int(v) ? int_of(v) : v.kind == CELL ? at * 16 + v.a : at;
  return is_int(v) || v.kind == PAIR || v.kind == CELL;
}
/// The element at a rank, the largest first.
ROW_OP(tok_get_rank)(const Ctx &c, V container, V rank) {
  V unordered = container;
  // No two elements of a set are equal, so its order does not matter.
  if (container.kind == SET) unordered.c = UNKNOWN;
  Items items;
  V failed = read_items(c, unordered, items);
  if (failed.kind != NONE) return safely(failed, integer(0));
  u32 n = items.count;
  if (!is_int(rank)) return integer(0);
  u32 wanted = position_of(rank, n);
  if (n > MOST_DISTINCT) return stopped(SIZE);
  auto differs = [&](u32 k) {
    i64 key;
    bool other = is_int(items.at[k]) ? !is_int(items.at[0]) : items.at[k].kind != items.at[0].kind;
    return other || !own_key(items.at[k], &key);
  };
  if (n > 1 && any_of(n, differs)) return stopped(ODD);
  if (wanted == n) return integer(0);
  if (n == 1) return items.at[0];
  u32 at = least(rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) {
      i64 key, other;
      own_key(items.at[k], &key);
      u32 before = 0;
      for (u32 j = 0; j < n; j++) {
        own_key(items.at[j], &other);
        before += other > key || (other == key && j < k);
      }
      if (before == wanted) return k;
    }
    return 0xffffffffu;
  }));
  return items.at[at];
}

/// The set that Python builds of distinct elements that stand in order, in its order. Or STOPPED.
INLINE V rebuilt(const Ctx &c, const V *items, u32 n) {
  V set = with_order(c, make(SET, 0, 0, n > 1 ? BUILT : IN_ORDER, n, (u64)items));
  sync();
  return set;
}
/// The element of a tuple at a rank by how often it is there, the rarest first.
CALLED V common_at_rank(const Ctx &c, const V &tuple, const V &rank, const V &missing) {
  Items items;
  V failed = read_items(c, tuple, items);
  if (failed.kind != NONE) return failed;
  Items all = items;
  failed = drop_repeated(c, items);
  if (failed.kind != NONE) return failed;
  if (!is_int(rank)) return fault(TYPE_);
  u32 n = items.count, wanted = position_of(rank, n);
  if (wanted == n) return missing;
  V set = rebuilt(c, items.at, n);
  if (!is_value(set)) return set;
  const V *list = (const V *)set.bits;
  u32 *times = (u32 *)take(c, (u64)n * 4);
  if (!times) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) {
      times[k] = 0;
      for (u32 j = 0; j < all.count; j++) times[k] += equal_alone<3>(c, all.at[j], list[k]) == YES;
    }
    return 0u;
  });
  sync();
  return list[least(rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) {
      u32 before = 0;
      for (u32 j = 0; j < n; j++) before += times[j] < times[k] || (times[j] == times[k] && j < k);
      if (before == wanted) return k;
    }
    return 0xffffffffu;
  }))];
}
/// Element k of the set that Python builds of the elements of a set.
CALLED V rebuilt_element(const Ctx &c, V set, u32 k) {
  if (is_patch(set)) return size_of_patch(set) == 1 ? only_element(set) : stopped(ORDER);
  set = with_order(c, set);
  sync();
  if (is_value(set)) set = rebuilt(c, (const V *)set.bits, set.len);
  return is_value(set) ? ((const V *)set.bits)[k] : set;
}

INLINE V common_in_tuple(const Ctx &c, const V &container, const V &rank) {
  if (!any_tuple(container)) return empty_tuple();
  return safely(common_at_rank(c, container, rank, empty_tuple()), empty_tuple());
}
ROW_OP(tok_get_common_rank)(const Ctx &c, V container, V rank) { return common_in_tuple(c, container, rank); }
ROW_OP(tok_get_common_rank_t)(const Ctx &c, V container, V rank) {
  return common_in_tuple(c, container, rank);
}
ROW_OP(tok_get_common_rank_f)(const Ctx &c, V container, V rank) {
  i32 n = length_alone(c, container);
  if (n < 0 || !is_int(rank)) return empty_tuple();
  if (!any_set(container)) return safely(common_at_rank(c, container, rank, empty_patch()), empty_tuple());
  u32 wanted = position_of(rank, (u32)n);
  return wanted == (u32)n ? empty_patch() : rebuilt_element(c, container, wanted);
}
ROW_OP(tok_mostcommon_f)(const Ctx &c, V container) {
  if (!any_set(container)) return op_tok_mostcommon(c, container);
  return length_alone(c, container) ? rebuilt_element(c, container, 0) : empty_tuple();
}
ROW_OP(tok_leastcommon_f)(const Ctx &c, V container) {
  if (!any_set(container)) return op_tok_leastcommon(c, container);
  return length_alone(c, container) ? rebuilt_element(c, container, 0) : empty_tuple();
}
