// Numbers, truth and comparison in tokpidjin.

/// A missing value, which is `()`, counts as the neutral number.
INLINE V or_neutral(const V &v, i64 neutral) { return is_empty_tuple(v) ? integer(neutral) : v; }

#define WITH_NEUTRAL(name, neutral)                                                                 \
  THREAD_OP(tok_##name)(const Ctx &c, V a, V b) {                                                   \
    return safely(op_##name(c, or_neutral(a, neutral), or_neutral(b, neutral)), empty_tuple()); \
  }
WITH_NEUTRAL(add, 0)
WITH_NEUTRAL(subtract, 0)
WITH_NEUTRAL(multiply, 1)
WITH_NEUTRAL(divide, 1)
#undef WITH_NEUTRAL

#define OR_EMPTY(name) \
  THREAD_OP(tok_##name)(const Ctx &c, V n) { return safely(op_##name(c, n), empty_tuple()); }
OR_EMPTY(invert)
OR_EMPTY(double)
OR_EMPTY(halve)
OR_EMPTY(increment)
OR_EMPTY(decrement)
OR_EMPTY(crement)
OR_EMPTY(sign)
OR_EMPTY(toivec)
OR_EMPTY(tojvec)
#undef OR_EMPTY
THREAD_OP(tok_even)(const Ctx &c, V n) { return safely(op_even(c, n), boolean(false)); }
THREAD_OP(tok_positive)(const Ctx &c, V n) { return safely(op_positive(c, n), boolean(false)); }

THREAD_OP(tok_identity)(const Ctx &, V x) { return x; }
THREAD_OP(tok_astuple)(const Ctx &c, V a, V b) { return tuple_of_two(c, a, b); }
THREAD_OP(tok_flip)(const Ctx &c, V b) { return op_flip(c, b); }
THREAD_OP(tok_equality)(const Ctx &c, V a, V b) { return op_equality(c, a, b); }
THREAD_OP(tok_contained)(const Ctx &c, V value, V container) {
  return safely(op_contained(c, value, container), boolean(false));
}
THREAD_OP(tok_greater)(const Ctx &c, V a, V b) { return safely(op_greater(c, a, b), boolean(false)); }
THREAD_OP(tok_both)(const Ctx &c, V a, V b) { return op_both(c, a, b); }
THREAD_OP(tok_either)(const Ctx &c, V a, V b) { return op_either(c, a, b); }
THREAD_OP(tok_branch)(const Ctx &c, V condition, V a, V b) { return op_branch(c, condition, a, b); }
THREAD_OP(tok_c_branch)(const Ctx &c, V condition, V a, V b) { return op_branch(c, condition, a, b); }
