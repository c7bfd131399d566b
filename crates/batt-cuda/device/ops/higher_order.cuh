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
OP(power)(Ctx &c, V function, V n) {
  if (equal(c, n, integer(1))) return function;
  if (!is_number(n)) return failed(TYPE_);
  i64 count = number_of(n);
  if (count < 1 || count >= 990) return failed(RECURSION_);
  return closure_of(c, POWER, 1, function, integer(count), none());
}

/// The container of a function's values: of the same kind.
OUTLINE V image_of(Ctx &c, V function, V container) {
  if (!is_container(container)) return failed(TYPE_);
  u32 n = length(c, container);
  ROOM(V, images, c, n ? n : 1);
  V fault = through_generator(map_all(c, function, container, images));
  TRY(fault);
  return is_set(container) ? build_values(c, images, n) : tuple_at(c, images, n);
}

OP(apply)(Ctx &c, V function, V container) { return image_of(c, function, container); }

OP(rapply)(Ctx &c, V functions, V value) {
  if (!is_container(functions)) return failed(TYPE_);
  if (is_set(functions) && functions.len > 1) return odd(c);
  u32 n = length(c, functions);
  ROOM(V, images, c, n ? n : 1);
  for (u32 k = 0; k < n; k++) {
    V y = through_generator(call1(c, item(c, functions, k), value));
    TRY(y);
    CHECK(c);
    put(images + k, y);
  }
  sync();
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
  spend(c, total + count);
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

OP(mapply)(Ctx &c, V function, V container) {
  if (!is_container(container)) return failed(TYPE_);
  u32 n = length(c, container);
  ROOM(V, images, c, n ? n : 1);
  V fault = through_generator(map_all(c, function, container, images));
  TRY(fault);
  if (!is_set(container)) return merge_tuple(c, images, n);
  if (!c.exact) return merge_set(c, images, n);
  // The values are collected into a set of their own first, and walked in its order.
  V values = build_values(c, images, n);
  TRY(values);
  V *members = elements(c, values);
  if (!members) return make(STOPPED, 0, 0, 0, 0);
  return merge_set(c, members, values.len);
}

/// The values of a function on elements side by side, as an array; `*count` of them.
OUTLINE V side_by_side(Ctx &c, V function, V a, V b, V **images, u32 *count) {
  if (!is_container(a) || !is_container(b)) return failed(TYPE_);
  NEED_ORDER(c, a);
  NEED_ORDER(c, b);
  u32 n = min_of(length(c, a), length(c, b));
  *images = room_for<V>(c, n ? n : 1);
  CHECK(c);
  *count = n;
  for (u32 k = 0; k < n; k++) {
    V y = through_generator(call2(c, function, item(c, a, k), item(c, b, k)));
    TRY(y);
    CHECK(c);
    put(*images + k, y);
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
  if (!is_container(a)) return failed(TYPE_);
  u32 n = length(c, a);
  ROOM(V, images, c, (u64)n * m + 1);
  V fault = none();
  for (u32 y = 0; y < m; y++)
    for (u32 x = 0; x < n; x++) {
      V v = through_generator(call2(c, function, item(c, a, x), item(c, b, y)));
      CHECK(c);
      if (v.kind == FAILED) {
        if (in_order(a) && in_order(b)) return v;
        if (fault.kind == FAILED && fault.flags != v.flags) return stop(c, FAULTS);
        fault = v;
        continue;
      }
      put(images + y * n + x, v);
    }
  sync();
  TRY(fault);
  return build_values(c, images, n * m);
}
