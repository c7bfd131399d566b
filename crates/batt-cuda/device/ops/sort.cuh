// Sorting: order and what is built on it.

/// Lists of at least this many elements are merged by CPython, not sorted by insertion alone.
const u32 MIN_MERGE = 64;

/// CPython's `list.sort` of fewer than MIN_MERGE keys that are in order, comparison by comparison: where keys are sets or
/// nan it shows which of them met. `list` gets their numbers. Longer lists are left to the CPU unless they are sorted
/// already.
OUTLINE V sort_by_insertion(Ctx &c, const V *keys, u32 n, u32 *list) {
  for (u32 k = lane(); k < n; k += LANES) list[k] = k;
  sync();
  if (n < 2) return none();
  // The run that is there already; one that descends is turned around.
  i32 down = less(c, keys[1], keys[0]);
  u32 run = 2;
  for (; down >= 0 && run < n; run++) {
    i32 next = less(c, keys[run], keys[run - 1]);
    if (next < 0) down = next;
    if (next != down) break;
  }
  CHECK(c);
  if (down < 0) return failed(TYPE_);
  if (n >= MIN_MERGE && run < n) return odd(c);
  if (down) {
    for (u32 k = lane(); k < run; k += LANES) list[k] = run - 1 - k;
    sync();
  }
  spend(c, n * 2);
  for (u32 at = run; at < n; at++) {
    u32 low = 0, high = at;
    while (low < high) {
      u32 middle = low + (high - low) / 2;
      i32 before = less(c, keys[at], keys[list[middle]]);
      CHECK(c);
      if (before < 0) return failed(TYPE_);
      if (before) high = middle;
      else low = middle + 1;
    }
    sync();
    if (lane() == 0) {
      for (u32 k = at; k > low; k--) list[k] = list[k - 1];
      list[low] = at;
    }
    sync();
  }
  return none();
}

/// The numbers of a container's elements in the order of their keys, equal keys as they stand. none() or a fault.
OUTLINE V sort_by_keys(Ctx &c, V container, const V *keys, u32 n, u32 *sorted) {
  ROOM(u64, numbers, c, n);
  if (sort_numbers(c, keys, n, numbers) == NO_NUMBERS) {
    NEED_ORDER(c, container);
    return sort_by_insertion(c, keys, n, sorted);
  }
  spend(c, (u64)n * n / LANES + n);
  bool tie = false;
  for (u32 k = lane(); k < n; k += LANES) {
    u32 rank = 0;
    for (u32 j = 0; j < n; j++) {
      bool same = numbers[j] == numbers[k];
      tie |= same && j != k;
      rank += numbers[j] < numbers[k] || (same && j < k);
    }
    sorted[rank] = k;
  }
  sync();
  if (any(tie)) NEED_ORDER(c, container);
  return none();
}

OP(order)(Ctx &c, V container, V function) {
  if (!is_container(container)) return failed(TYPE_);
  u32 n = length(c, container);
  if (n == 0) return empty_tuple();
  ROOM(u32, sorted, c, n);
  const V *keys;
  V fault = keys_of(c, container, function, &keys);
  TRY(fault);
  fault = sort_by_keys(c, container, keys, n, sorted);
  TRY(fault);
  return tuple_of_numbers(c, container, sorted, n);
}
SAME2(order, order)
