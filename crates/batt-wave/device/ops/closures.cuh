// Closures: elements become items of an inner domain, the waves of the body run over them, and the
// results are collected.

/// How an inner domain comes about: `extra` of the nodes of `count` and `spread`.
enum Spread : u32 {
  EACH,    // an item for each element
  ZIP,     // an item for each pair of elements at the same place
  PRODUCT, // an item for each pair of elements, the second changing faster
};

/// The numbers of items in outer domains.
struct Ancestor {
  u64 from, to;
};

INLINE u32 spread_count(u32 spread, const V &x, const V &y) {
  u32 n = length_of(x), m = length_of(y);
  return spread == EACH ? n : spread == ZIP ? min_of(n, m) : n * m;
}

/// In the place of the first item of an item that has none, because its sample has too many.
const u32 TOO_MANY = 0xffffffffu;

/// Counts the new items of each item. args[0], args[1]: the containers; args[2].map: the number of
/// elements of each sample, of which args[2].unused are allowed; args[3].map: the sample of each item;
/// out: where the items of each begin; payload: how many there are of all.
INLINE void run_count(const Wave &w) {
  each_thread_item(w, [&](const Node &node, u32 item) {
    V x = arg_of(node.args[0], item), y = arg_of(node.args[1], item);
    u32 n = is_value(x) && is_value(y) ? spread_count(node.extra, x, y) : 0, start = 0;
    if (n) {
      u32 sample = node.args[3].map ? ((const u32 *)node.args[3].map)[item] : item, most = node.args[2].unused;
      u32 before = atomic_add((u32 *)node.args[2].map + sample, min_of(n, most + 1));
      start = n > most || before > most - n ? TOO_MANY : (u32)atomic_take((u64 *)node.payload, n);
    }
    ((u32 *)node.out)[item] = start;
  });
}

/// Writes the elements. args[0], args[1]: the containers; args[2].values: where the items begin;
/// args[2].unused: how many ancestors there are; args[3].values: the ancestors; out, payload: the
/// elements of both containers.
INLINE void run_spread(const Wave &w) {
  each_row_item(w, [&](const Node &node, u32 item) {
    Ctx c = context(w, node, item, 0);
    V x = arg_of(node.args[0], item), y = arg_of(node.args[1], item);
    u32 n = is_value(x) && is_value(y) ? spread_count(node.extra, x, y) : 0;
    if (n == 0) return;
    u32 start = ((const u32 *)node.args[2].values)[item];
    if (start == TOO_MANY) return;
    V *first = (V *)node.out + start, *second = (V *)node.payload + start;
    const Ancestor *ancestors = (const Ancestor *)node.args[3].values;
    for (u32 k = 0; k < node.args[2].unused; k++) {
      u32 outer = ancestors[k].from ? ((const u32 *)ancestors[k].from)[item] : item;
      u32 *to = (u32 *)ancestors[k].to + start;
      (void)rows([&](u32 l) {
        for (u32 i = l; i < n; i += 32) to[i] = outer;
        return 0u;
      });
    }
    V failed = stopped(MEMORY);
    bool done;
    if (node.extra == EACH) {
      done = spread_elements(c, x, first);
    } else {
      // `zip` sees the order.
      if (node.extra == ZIP) x = with_order(c, x), y = with_order(c, y);
      done = is_value(x) && is_value(y);
      if (!done) {
        failed = is_value(x) ? y : x;
      } else if (node.extra == ZIP && (is_unordered(x) || is_unordered(y))) {
        done = false;
        failed = stopped(ORDER);
      } else {
        u32 count = length_of(x), other = length_of(y);
        V *xs = (V *)take(c, (u64)count * sizeof(V)), *ys = (V *)take(c, (u64)other * sizeof(V));
        done = xs && ys;
        sync();
        done = done && spread_elements(c, x, xs) && spread_elements(c, y, ys);
        sync();
        if (done) {
          bool zip = node.extra == ZIP;
          (void)rows([&](u32 l) {
            for (u32 i = l; i < n; i += 32) {
              first[i] = xs[zip ? i : i / other];
              second[i] = ys[zip ? i : i % other];
            }
            return 0u;
          });
        }
      }
    }
    if (!done)
      (void)rows([&](u32 l) {
        for (u32 i = l; i < n; i += 32) {
          first[i] = failed;
          if (node.extra != EACH) second[i] = failed;
        }
        return 0u;
      });
  });
}

/// The choice between args[1] and args[2] by the truth of args[0]. Functions are chosen before they are
/// called, so the other value may be none.
INLINE void run_select(const Wave &w) {
  each_thread_item(w, [&](const Node &node, u32 item) {
    V condition = arg_of(node.args[0], item), v = condition;
    // A grid has rows, and other tuples that have a form have elements.
    if (is_value(condition)) v = arg_of(node.args[is_false(condition) ? 2 : 1], item);
    ((V *)node.out)[item] = v;
  });
}

// ---- Collecting ---------------------------------------------------------------------------------

/// The results for the elements of a container.
struct Results {
  const V *at;
  u32 count;
};

/// The first result without a value: that of the lowest number, if the elements stand in order.
INLINE u32 first_failure(const Results &r) {
  return least(rows([&](u32 l) {
    for (u32 k = l; k < r.count; k += 32)
      if (!is_value(r.at[k])) return k;
    return 0xffffffffu;
  }));
}
/// The failure of a map over all elements, or a value.
INLINE V failure_in(bool ordered, const Results &r) {
  u32 at = first_failure(r);
  if (at == 0xffffffffu) return none();
  V v = r.at[at];
  if (v.kind == STOPPED || ordered) return v;
  // The first in iteration order counts.
  u32 others = sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < r.count; k += 32)
      own += !is_value(r.at[k]) && (r.at[k].kind != v.kind || r.at[k].a != v.a);
    return own;
  }));
  return others ? stopped(ORDER) : v;
}

/// Puts the elements of a set and their results in iteration order. False if it is not known.
INLINE bool put_in_order(const Ctx &c, V &set, Results &r) {
  if (!is_unordered(set)) return true;
  V failed;
  const u16 *order = order_of(c, set, failed);
  V *items = (V *)take(c, (u64)r.count * sizeof(V)), *to = (V *)take(c, (u64)r.count * sizeof(V));
  V *all = (V *)take(c, (u64)r.count * sizeof(V));
  if (!order || !items || !to || !all || !spread_elements(c, set, all)) return false;
  sync();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < r.count; k += 32) {
      items[k] = all[order[k]];
      to[k] = r.at[order[k]];
    }
    return 0u;
  });
  sync();
  set = make(SET, 0, 0, IN_ORDER, r.count, (u64)items);
  r.at = to;
  return true;
}

/// The failure of a call inside a generator, where Python turns a StopIteration into a RuntimeError.
INLINE V through_generator(const V &failed) {
  const FaultCode runtime_error = (FaultCode)6;
  return failed.kind == FAULT && failed.a == STOP_ITERATION ? fault(runtime_error) : failed;
}

/// A tuple of the results.
INLINE V tuple_of_results(const Ctx &c, const Results &r) {
  V *to = (V *)take(c, (u64)r.count * sizeof(V));
  if (!to && r.count) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < r.count; k += 32) to[k] = r.at[k];
    return 0u;
  });
  sync();
  return tuple_value(c, to, r.count);
}

/// `apply`, and the same for all containers as a tuple or as a set.
enum Collected : u32 { LIKE, AS_TUPLE, AS_SET };

/// Puts the results of a product in the sequence of Python's loops: the second changes slower. False if the
/// order of a container is not known.
INLINE bool put_product_in_order(const Ctx &c, V x, V y, Results &r) {
  u32 n = length_of(x), m = length_of(y);
  V *to = (V *)take(c, (u64)r.count * sizeof(V)), *numbers = (V *)take(c, (u64)(n + m) * sizeof(V));
  if (!to || !numbers) return false;
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n + m; k += 32) numbers[k] = integer(k < n ? k : k - n);
    return 0u;
  });
  sync();
  Results xs = {numbers, n}, ys = {numbers + n, m};
  if (!put_in_order(c, x, xs) || !put_in_order(c, y, ys)) return false;
  (void)rows([&](u32 l) {
    for (u32 k = l; k < r.count; k += 32) to[k] = r.at[xs.at[k % n].bits * m + ys.at[k / n].bits];
    return 0u;
  });
  sync();
  r.at = to;
  return true;
}
/// The set of the results for the elements of a set, put in order when an op asks for it; NONE if the order
/// counts now, or is not known.
INLINE V images_of(const Ctx &c, const V &items, const Results &r) {
  if (!may_walk(items) || first_failure(r) != 0xffffffffu) return none();
  V v = set_of(c, r.at, r.count, UNKNOWN, &items);
  return is_patch(v) ? made_of_list(c, v, r.at, r.count, IMAGES, items) : v;
}
INLINE V collected(const Ctx &c, V items, const V &others, Results r, u32 as) {
  if (as == LIKE && is_unordered(items)) {
    V v = images_of(c, items, r);
    if (v.kind != NONE) return v;
    put_in_order(c, items, r);
  }
  // Those of two containers at a time have been put in order before.
  bool ordered = as == AS_TUPLE || (as == LIKE && !is_unordered(items));
  if (as == AS_SET) ordered = put_product_in_order(c, items, others, r);
  V failed = failure_in(ordered, r);
  if (failed.kind != NONE) return through_generator(failed);
  bool set = as == AS_SET || (as == LIKE && (items.kind == SET || is_patch(items)));
  if (set) return set_of(c, r.at, r.count, ordered ? BUILT : UNKNOWN);
  return ordered ? tuple_of_results(c, r) : stopped(ORDER);
}

/// The elements whose results are true.
INLINE V filtered(const Ctx &c, V items, Results r) {
  // The order of a part of a set follows later.
  if (first_failure(r) != 0xffffffffu) put_in_order(c, items, r);
  V failed = failure_in(!is_unordered(items), r);
  if (failed.kind != NONE) return through_generator(failed);
  Items all;
  V failed_to_read = read_stored(c, items, all);
  if (failed_to_read.kind != NONE) return failed_to_read;
  return kept_elements(c, items, all, [&](u32 k) { return !is_false(r.at[k]); });
}

/// The first element whose result is true. Python stops there, so later failures do not count.
INLINE V first_chosen(const Ctx &c, V items, Results r) {
  auto counts = [&](u32 k) { return !is_value(r.at[k]) || !is_false(r.at[k]); };
  u32 counted = sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < r.count; k += 32) own += counts(k);
    return own;
  }));
  if (counted == 0) return c.dialect == 2 ? stopped(ODD) : fault(STOP_ITERATION);
  // Python stops at the first of several.
  if (counted > 1 && !put_in_order(c, items, r)) return stopped(ORDER);
  u32 at = least(rows([&](u32 l) {
    for (u32 k = l; k < r.count; k += 32)
      if (counts(k)) return k;
    return 0xffffffffu;
  }));
  if (!is_value(r.at[at])) return through_generator(r.at[at]);
  if (items.kind == TUPLE || items.kind == SET) return ((const V *)items.bits)[at];
  V *all = (V *)take(c, (u64)r.count * sizeof(V));
  if (!all) return stopped(MEMORY);
  sync();
  if (!spread_elements(c, items, all)) return stopped(MEMORY);
  sync();
  return all[at];
}

/// A key that orders ints and pairs as Python does; false for others.
INLINE bool key_of(const V &v, i64 *key) {
  if (is_int(v)) {
    *key = int_of(v);
    return true;
  }
  if (v.kind != PAIR) return false;
  *key = (i64)row_of(v.len) << 32 | (u32)(column_of(v.len) + 32768);
  return true;
}

/// The least of a number of 64 bits for all numbers below n, which is not 0.
template <class F> INLINE u64 least_of(u32 n, F f) {
  u32 high = least(rows([&](u32 l) {
    u32 own = 0xffffffffu;
    for (u32 k = l; k < n; k += 32) own = min_of(own, (u32)(f(k) >> 32));
    return own;
  }));
  u32 low = least(rows([&](u32 l) {
    u32 own = 0xffffffffu;
    for (u32 k = l; k < n; k += 32)
      if ((u32)(f(k) >> 32) == high) own = min_of(own, (u32)f(k));
    return own;
  }));
  return (u64)high << 32 | low;
}
/// The element with the largest or the smallest result, or that result.
INLINE V extreme_by(const Ctx &c, V items, Results r, bool most, bool value) {
  if (r.count == 0) {
    // Others have a default, and `valmax` calls the function for it.
    return value || c.dialect != 0 ? stopped(ODD) : fault(VALUE_);
  }
  V failed = failure_in(!is_unordered(items), r);
  if (failed.kind != NONE) return failed;
  // All keys of one kind.
  bool pairs = r.at[0].kind == PAIR;
  u32 odd = rows_of(rows([&](u32 l) {
    i64 key;
    for (u32 k = l; k < r.count; k += 32)
      if (!key_of(r.at[k], &key) || (r.at[k].kind == PAIR) != pairs) return 1u;
    return 0u;
  }));
  if (odd) return stopped(ODD);
  // A number that is the lower the better a result is.
  auto distance = [&](u32 k) {
    i64 key = 0;
    key_of(r.at[k], &key);
    u64 above = (u64)key ^ 1ull << 63;
    return most ? ~above : above;
  };
  u64 nearest = least_of(r.count, distance);
  u32 ties = sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < r.count; k += 32) own += distance(k) == nearest;
    return own;
  }));
  auto first_best = [&]() {
    return least(rows([&](u32 l) {
      for (u32 k = l; k < r.count; k += 32)
        if (distance(k) == nearest) return k;
      return 0xffffffffu;
    }));
  };
  u32 best = first_best();
  if (value) {
    // True is not 1.
    u32 bools = rows_of(rows([&](u32 l) {
      for (u32 k = l; k < r.count; k += 32)
        if (r.at[k].kind == BOOL) return 1u;
      return 0u;
    }));
    if (ties > 1 && bools && is_unordered(items)) return stopped(ORDER);
    return r.at[best];
  }
  if (ties > 1 && is_unordered(items)) {
    if (!put_in_order(c, items, r)) return stopped(ORDER);
    best = first_best();
  }
  if (items.kind == TUPLE || items.kind == SET) return ((const V *)items.bits)[best];
  V *all = (V *)take(c, (u64)r.count * sizeof(V));
  if (!all) return stopped(MEMORY);
  sync();
  if (!spread_elements(c, items, all)) return stopped(MEMORY);
  sync();
  return all[best];
}

/// The same for results that are tuples.
CALLED V sorted_by_any(const Ctx &c, V items, Results r) {
  bool ordered = put_in_order(c, items, r);
  V *all = (V *)take(c, (u64)r.count * sizeof(V)), *to = (V *)take(c, (u64)r.count * sizeof(V));
  if (!all || !to || !spread_elements(c, items, all)) return stopped(MEMORY);
  sync();
  Items elements = {all, r.count, ordered};
  return sorted_by_tuples(c, elements, r.at, to);
}
/// A tuple of the elements, sorted by their results. Equal ones keep their order.
INLINE V sorted_by(const Ctx &c, V items, Results r) {
  V failed = failure_in(!is_unordered(items), r);
  if (failed.kind != NONE) return failed;
  if (r.count > MOST_DISTINCT) return stopped(SIZE);
  bool pairs = r.count && r.at[0].kind == PAIR;
  u32 odd = rows_of(rows([&](u32 l) {
    i64 key;
    for (u32 k = l; k < r.count; k += 32)
      if (!key_of(r.at[k], &key) || (r.at[k].kind == PAIR) != pairs) return 1u;
    return 0u;
  }));
  if (odd) return sorted_by_any(c, items, r);
  bool ordered = put_in_order(c, items, r);
  V *all = (V *)take(c, (u64)r.count * sizeof(V)), *sorted = (V *)take(c, (u64)r.count * sizeof(V));
  i64 *keys = (i64 *)take(c, (u64)r.count * 8);
  if (!all || !sorted || !keys || !spread_elements(c, items, all)) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < r.count; k += 32) key_of(r.at[k], keys + k);
    return 0u;
  });
  sync();
  Rows ties = rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < r.count; k += 32) {
      u32 before = 0;
      for (u32 j = 0; j < r.count; j++) {
        own |= keys[j] == keys[k] && j != k;
        before += keys[j] < keys[k] || (keys[j] == keys[k] && j < k);
      }
      sorted[before] = all[k];
    }
    return own;
  });
  if (!ordered && !is_empty(ties)) return stopped(ORDER);
  sync();
  return tuple_value(c, sorted, r.count);
}

/// What going through two values gives of which one has no elements, or is a location or a cell.
INLINE V not_iterable(const Ctx &c, const V &items, const V &others, u32 spread) {
  // A product goes through the second one first.
  bool product = spread == PRODUCT, reached = is_container(product ? others : items);
  const V &first = product ? others : items, &second = product ? items : others;
  bool fails = first.kind <= INT || (second.kind <= INT && reached && (!product || length_of(first)));
  return fails && c.dialect != 2 ? fault(TYPE_) : stopped(ODD);
}

/// args[0], args[3]: the containers; args[1].values: the results; args[2].values: where those of
/// each item begin; extra: how the domain came about, and above 8 bits how to collect.
#define COLLECT(name, ...)                                                                         \
  INLINE void run_##name(const Wave &w) {                                                        \
    each_row_item(w, [&](const Node &node, u32 item) {                                            \
      Ctx c = context(w, node, item, 0);                                                           \
      V items = arg_of(node.args[0], item), others = arg_of(node.args[3], item);                   \
      V *out = (V *)node.out + item;                                                               \
      if (!is_value(items) || !is_value(others)) return put(out, failure_of(items, others));       \
      if (!is_container(items) || !is_container(others)) return put(out, not_iterable(c, items, others, node.extra & 255)); \
      const u32 spread = node.extra & 255;                                                         \
      [[maybe_unused]] const u32 as = node.extra >> 8;                                             \
      u32 count = spread_count(spread, items, others);                                             \
      u32 start = count ? ((const u32 *)node.args[2].values)[item] : 0;                            \
      if (start == TOO_MANY) return put(out, stopped(LIMIT));                                      \
      Results r = {(const V *)node.args[1].values + start, count};                                 \
      u32 cost = node.costs ? 24 * (mass_by_all(items) + mass_by_all(others)) : 0;                   \
      store_by_all(node, item, __VA_ARGS__, 24, cost);                                             \
    });                                                                                            \
  }
COLLECT(collect_each, collected(c, items, others, r, as))
COLLECT(collect_filter, filtered(c, items, r))
COLLECT(collect_first, first_chosen(c, items, r))
COLLECT(collect_argmax, extreme_by(c, items, r, true, false))
COLLECT(collect_argmin, extreme_by(c, items, r, false, false))
COLLECT(collect_valmax, extreme_by(c, items, r, true, true))
COLLECT(collect_valmin, extreme_by(c, items, r, false, true))
COLLECT(collect_order, sorted_by(c, items, r))
#undef COLLECT
