// Truth, equality and comparison.

/// `v in container`: 1, 0, or -1 for what is no container.
OUTLINE i32 contains(Ctx &c, V container, V v) {
  if (is_set(container)) return set_contains(c, container, v);
  if (!is_tuple(container)) return -1;
  u32 n = length(c, container);
  if (container.kind == ROW) {
    i64 wanted;
    if (!integral(v, &wanted)) return 0;
    bool found = false;
    for (u32 k = lane(); k < n; k += LANES) found |= bytes_of(c, container)[k] == wanted;
    return any(found);
  }
  spend(c, n / 4 + 1);
  for (u32 k = 0; k < n && !c.stop; k++)
    if (equal_member(c, item(c, container, k), v, 1)) return 1;
  return 0;
}

OP(identity)(Ctx &c, V x) { return x; }
OP(flip)(Ctx &c, V b) { return boolean(!truth(c, b)); }
OP(equality)(Ctx &c, V a, V b) { return boolean(equal(c, a, b)); }
OP(contained)(Ctx &c, V value, V container) {
  i32 found = contains(c, container, value);
  return found < 0 ? failed(TYPE_) : boolean(found);
}
OP(greater)(Ctx &c, V a, V b) {
  i32 is_less = less(c, b, a);
  return is_less < 0 ? failed(TYPE_) : boolean(is_less);
}
OP(both)(Ctx &c, V a, V b) { return truth(c, a) ? b : a; }
OP(either)(Ctx &c, V a, V b) { return truth(c, a) ? a : b; }
OP(branch)(Ctx &c, V condition, V a, V b) { return truth(c, condition) ? a : b; }

SAME1(identity, identity)
SAME1(flip, flip)
SAME2(equality, equality)
SAME2(contained, contained)
SAME2(greater, greater)
SAME2(both, both)
SAME2(either, either)
SAME3(branch, branch)
SAME3(c_branch, branch)
