// Functions that take or make functions.

OP(compose)(Ctx &c, V outer, V inner) { return closure_of(c, COMPOSE, 1, outer, inner, none()); }
OP(chain)(Ctx &c, V h, V g, V f) { return closure_of(c, CHAIN, 1, h, g, f); }
OP(matcher)(Ctx &c, V function, V target) { return closure_of(c, MATCHER, 1, function, target, none()); }
OP(fork)(Ctx &c, V outer, V a, V b) { return closure_of(c, FORK, 1, outer, a, b); }

/// The arity of a function with one argument bound: Python's definition tells only two and three parameters apart.
INLINE u8 bound_arity(V function) {
  u32 n = arity_of(function);
  return n == 2 ? 1 : n == 3 ? 2 : 3;
}
OP(rbind)(Ctx &c, V function, V fixed) {
  if (!is_function(function)) return failed(ATTRIBUTE_);
  return closure_of(c, RBIND, bound_arity(function), function, fixed, none());
}
OP(lbind)(Ctx &c, V function, V fixed) {
  if (!is_function(function)) return failed(ATTRIBUTE_);
  return closure_of(c, LBIND, bound_arity(function), function, fixed, none());
}

/// The CPU counts the frames of Python's stack, of which there are 1,000. Calls nest at most MOST_CALLS (28) deep here, and with
/// powers of at most this many times each of them takes less than a 28th of those.
const i64 MOST_TIMES_HERE = 24;

OP(power)(Ctx &c, V function, V n) {
  if (equal(c, n, integer(1))) return function;
  if (!is_number(n)) return failed(TYPE_);
  i64 count = number_of(n);
  if (count < 1) return failed(RECURSION_);
  if (count > MOST_TIMES_HERE) return odd(c);
  return closure_of(c, POWER, 1, function, integer(count), none());
}

/// The container of a function's values: of the same kind.
OUTLINE V image_of(Ctx &c, V function, V container) {
  if (!is_container(container)) return failed(TYPE_);
  if (c.exact) NEED_ORDER(c, container);
  u32 n = length(c, container);
  ROOM(V, images, c, n ? n : 1);
  V fault = through_generator(map_all(c, function, container, images));
  TRY(fault);
  return is_set(container) ? build_values(c, images, n, BUILD | sequence_of(container)) : tuple_at(c, images, n);
}

OP(apply)(Ctx &c, V function, V container) { return image_of(c, function, container); }

/// Are there closures in a set of several? Where they stand in it depends on how many were made before them, and the
/// CPU may have made more.
OUTLINE bool holds_closures(Ctx &c, V set) {
  bool found = false;
  if (set.kind == SET_V && set.len > 1)
    for (u32 k = lane(); k < set.len; k += LANES) found |= values_of(c, set)[k].kind == CLOSURE;
  return any(found);
}

OP(rapply)(Ctx &c, V functions, V value) {
  if (!is_container(functions)) return failed(TYPE_);
  if (c.exact) {
    NEED_ORDER(c, functions);
    if (holds_closures(c, functions)) return odd(c);
  }
  bool listed = faults_in_sequence(functions);
  u32 n = length(c, functions);
  ROOM(V, images, c, n ? n : 1);
  V fault = none();
  for (u32 k = 0; k < n; k++) {
    V y = through_generator(call1(c, item(c, functions, k), value));
    CHECK(c);
    if (y.kind == FAILED) {
      if (listed) return y;
      if (fault.kind == FAILED && fault.flags != y.flags) return stop(c, FAULTS);
      fault = y;
      continue;
    }
    put(images + k, y);
  }
  sync();
  TRY(fault);
  return is_set(functions) ? build_values(c, images, n) : tuple_at(c, images, n);
}

/// `tuple(e for member in members for e in member)`. Sets among the members need their order.
OUTLINE V merge_tuple(Ctx &c, const V *members, u32 count) {
  u64 total = 0;
  for (u32 m = 0; m < count; m++) {
    if (!is_container(members[m])) return failed(TYPE_);
    total += length(c, members[m]);
  }
  for (u32 m = 0; m < count; m++) NEED_ORDER(c, members[m]);
  if (total == 0) return empty_tuple();
  spend(c, count);
  spend_shared(c, total);
  ROOM(V, items, c, total);
  u32 to = 0;
  for (u32 m = 0; m < count; m++) {
    V member = members[m];
    u32 n = length(c, member);
    for (u32 k = lane(); k < n; k += LANES) items[to + k] = item(c, member, k);
    to += n;
  }
  sync();
  return tuple_at(c, items, to);
}

/// `frozenset(e for member in members for e in member)`, the members in the order of the set they come from.
OUTLINE V merge_set(Ctx &c, const V *members, u32 count) {
  for (u32 m = 0; m < count; m++)
    if (!is_container(members[m])) return failed(TYPE_);
  return set_merge(c, members, count);
}

/// The values of a function on a set's elements, merged. They are collected into a set of their own first, and walked
/// in its order.
OUTLINE V merge_images(Ctx &c, const V *images, u32 n) {
  if (!c.exact) return merge_set(c, images, n);
  V values = build_values(c, images, n);
  TRY(values);
  V *members = elements(c, values);
  if (!members) return make(STOPPED, 0, 0, 0, 0);
  return merge_set(c, members, values.len);
}

/// A function's values on all elements, merged; `*mapped` says whether the function had a value everywhere.
OUTLINE V map_and_merge(Ctx &c, V function, V container, bool *mapped) {
  *mapped = false;
  if (!is_container(container)) return failed(TYPE_);
  if (c.exact) NEED_ORDER(c, container);
  u32 n = length(c, container);
  ROOM(V, images, c, n ? n : 1);
  V fault = through_generator(map_all(c, function, container, images));
  TRY(fault);
  *mapped = true;
  return is_set(container) ? merge_images(c, images, n) : merge_tuple(c, images, n);
}

OP(mapply)(Ctx &c, V function, V container) {
  bool mapped;
  return map_and_merge(c, function, container, &mapped);
}

/// The values of a function on elements side by side, as an array; `*count` of them.
OUTLINE V side_by_side(Ctx &c, V function, V a, V b, V **images, u32 *count) {
  if (!is_container(a) || !is_container(b)) {
    // The CPU puts the first one in order before it looks at the other.
    if (is_set(a)) spend(c, a.len / 4);
    return failed(TYPE_);
  }
  u32 n = min_of(length(c, a), length(c, b));
  if (n) {
    NEED_ORDER(c, a);
    NEED_ORDER(c, b);
  }
  // The CPU has all elements at hand, however few the other one has.
  owe(c, max_of(length(c, a), length(c, b)) / 8);
  LEAVE_TO_ALL(c, n);
  *images = room_for<V>(c, n ? n : 1);
  CHECK(c);
  *count = n;
  bool one_each = true;
  for (u32 from = 0; from < n; from += LANES) {
    u32 mine = from + lane(), to = min_of(from + LANES, n);
    if (one_each && n - from >= ALONE_FROM) {
      bool there = mine < n;
      V y, x = there ? lane_item(c, a, mine) : none();
      one_each = call_alone(c, function, 2, x, there ? lane_item(c, b, mine) : none(), there, true, &y);
      CHECK(c);
      if (one_each) {
        V fault = through_generator(lane_fault(c, empty_tuple(), y));
        TRY(fault);
        if (there) (*images)[mine] = y;
        continue;
      }
    }
    for (u32 k = from; k < to; k++) {
      V y = through_generator(call2(c, function, item(c, a, k), item(c, b, k)));
      TRY(y);
      CHECK(c);
      put(*images + k, y);
    }
  }
  sync();
  return none();
}

OP(papply)(Ctx &c, V function, V a, V b) {
  V *images;
  u32 n;
  V fault = side_by_side(c, function, a, b, &images, &n);
  TRY(fault);
  return tuple_at(c, images, n);
}
OP(mpapply)(Ctx &c, V function, V a, V b) {
  V *images;
  u32 n;
  V fault = side_by_side(c, function, a, b, &images, &n);
  TRY(fault);
  return merge_tuple(c, images, n);
}
OP(prapply)(Ctx &c, V function, V a, V b) {
  if (!is_container(b)) return failed(TYPE_);
  u32 m = length(c, b);
  if (m == 0) return empty_set();
  if (!is_container(a)) {
    spend(c, m / 4); // as above
    return failed(TYPE_);
  }
  if (c.exact) {
    NEED_ORDER(c, a);
    NEED_ORDER(c, b);
  }
  u32 n = length(c, a);
  LEAVE_TO_ALL(c, n * m);
  ROOM(V, images, c, (u64)n * m + 1);
  bool ordered = in_order(a) && in_order(b), one_each = true;
  u32 count = n * m;
  V fault = none();
  for (u32 from = 0; from < count; from += LANES) {
    u32 mine = from + lane(), to = min_of(from + LANES, count);
    if (one_each && count - from >= ALONE_FROM) {
      bool there = mine < count;
      V v, x = there ? lane_item(c, a, mine % n) : none();
      one_each = call_alone(c, function, 2, x, there ? lane_item(c, b, mine / n) : none(), there, true, &v);
      CHECK(c);
      if (one_each) {
        V met = through_generator(lane_fault(c, in_order(a) ? b : a, v));
        CHECK(c);
        if (met.kind == FAILED) {
          if (ordered) return met;
          if (fault.kind == FAILED && fault.flags != met.flags) return stop(c, FAULTS);
          fault = met;
        }
        if (there) images[mine] = v;
        continue;
      }
    }
    for (u32 k = from; k < to; k++) {
      V v = through_generator(call2(c, function, item(c, a, k % n), item(c, b, k / n)));
      CHECK(c);
      if (v.kind == FAILED) {
        if (ordered) return v;
        if (fault.kind == FAILED && fault.flags != v.flags) return stop(c, FAULTS);
        fault = v;
        continue;
      }
      put(images + k, v);
    }
  }
  sync();
  TRY(fault);
  return build_values(c, images, n * m);
}

// ---- tokpidjin: a closure fails as in arc-dsl, the function that calls it falls back --------------------------

SAME2(compose, compose)
SAME3(chain, chain)
SAME2(matcher, matcher)
SAME2(rbind, rbind)
SAME2(lbind, lbind)
SAME3(fork, fork)

/// Counting down from here fills Python's stack.
const i64 MOST_TIMES = 495;

TOK(power)(Ctx &c, V function, V n) {
  i64 count;
  bool whole = integral(n, &count);
  if (!whole && n.kind != FLOAT) return failed(TYPE_);
  if (whole && count == 1) return function;
  if (whole && count > MOST_TIMES_HERE && count < MOST_TIMES) return odd(c);
  if (whole && count >= 2 && count < MOST_TIMES) return closure_of(c, POWER, 1, function, integer(count), none());
  // The original counts down until its stack is full. What the innermost call gives then is (), not a function, and it
  // becomes the innermost of those to be composed.
  return closure_of(c, COMPOSE, 1, function, empty_tuple(), none());
}

SAME2(apply, apply)
SAME2(apply_f, apply)

/// A function's values on all elements in iteration order, as an array.
OUTLINE V images_in_order(Ctx &c, V function, V container, V **images) {
  if (!is_container(container)) return failed(TYPE_);
  NEED_ORDER(c, container);
  u32 n = length(c, container);
  *images = room_for<V>(c, n ? n : 1);
  CHECK(c);
  return map_all(c, function, container, *images);
}

TOK(apply_t)(Ctx &c, V function, V container) {
  V *images;
  V fault = images_in_order(c, function, container, &images);
  TRY(fault);
  return tuple_at(c, images, length(c, container));
}

SAME2(rapply, rapply)
SAME2(rapply_f, rapply)

TOK(rapply_t)(Ctx &c, V functions, V value) {
  if (!is_set(functions)) return op_rapply(c, functions, value);
  NEED_ORDER(c, functions);
  if (holds_closures(c, functions)) return odd(c);
  V *items = elements(c, functions);
  if (!items) return make(STOPPED, 0, 0, 0, 0);
  return op_rapply(c, tuple_at(c, items, functions.len), value);
}

// Both `apply` and `merge` fall back to (), and nothing merged is () again.
TOK(mapply)(Ctx &c, V function, V container) { return safely(c, op_mapply(c, function, container), TO_EMPTY_TUPLE); }

TOK(mapply_t)(Ctx &c, V function, V container) {
  V *images;
  V fault = images_in_order(c, function, container, &images);
  TRY(fault);
  return merge_tuple(c, images, length(c, container));
}

// A value that is missing makes the whole fall back to the empty set, one that is no container to ().
TOK(mapply_f)(Ctx &c, V function, V container) {
  bool mapped;
  V merged = map_and_merge(c, function, container, &mapped);
  return mapped ? safely(c, merged, TO_EMPTY_TUPLE) : merged;
}

SAME3(papply, papply)
SAME3(mpapply, mpapply)
SAME3(prapply, prapply)
