// How primitives are declared. `OP(name)` is arc-dsl's, `TOK(name)` tokpidjin's; the table of primitives finds them by
// these lines (cargo xtask gen), so each stands at the beginning of a line of its own.
//
// A body gives a value or failed(...), or leaves the run to the CPU: `odd(c)` for arguments it does not treat,
// `NEED_ORDER(c, set)` where the order of a set matters. It never guesses.

#define OP(name) OUTLINE V op_##name
#define TOK(name) OUTLINE V tok_##name
// tokpidjin's function is arc-dsl's.
#define SAME1(tok, op) INLINE V tok_##tok(Ctx &c, V a) { return op_##op(c, a); }
#define SAME2(tok, op) INLINE V tok_##tok(Ctx &c, V a, V b) { return op_##op(c, a, b); }
#define SAME3(tok, op) INLINE V tok_##tok(Ctx &c, V a, V b, V d) { return op_##op(c, a, b, d); }
#define SAME4(tok, op) INLINE V tok_##tok(Ctx &c, V a, V b, V d, V e) { return op_##op(c, a, b, d, e); }
// tokpidjin's function is another one of tokpidjin's. (Faults: each has the fallback of its own hints. A body that calls another
// function of the dialect does so `safely`.)
#define ALIAS1(tok, other) INLINE V tok_##tok(Ctx &c, V a) { return tok_##other(c, a); }
#define ALIAS2(tok, other) INLINE V tok_##tok(Ctx &c, V a, V b) { return tok_##other(c, a, b); }
#define ALIAS3(tok, other) INLINE V tok_##tok(Ctx &c, V a, V b, V d) { return tok_##other(c, a, b, d); }
#define ALIAS4(tok, other) INLINE V tok_##tok(Ctx &c, V a, V b, V d, V e) { return tok_##other(c, a, b, d, e); }

/// The CPU goes through all that is in a value, as Python does, where there are better ways here.
INLINE void owe_for(Ctx &c, V v) { owe(c, weight(c, v) + 1); }

/// Most elements of a container, most cells of a grid: the CPU's limit.
const u64 MOST_ELEMENTS = 4000000;

/// A plain integer that fits a cell of a grid?
INLINE bool is_byte(V v) { return v.kind == INT && v.hi == 0 && v.lo <= 255; }

/// The fault of taking something apart into fewer or more than it has. The CPU puts a set in order before it notices.
INLINE V wrong_number(Ctx &c, V v) {
  spend(c, (u64)length(c, v) * 5 / 8);
  return failed(VALUE_);
}

/// `a, b = v`: a fault, or none().
OUTLINE V unpack_pair(Ctx &c, V v, V *a, V *b) {
  if (!is_container(v)) return failed(TYPE_);
  if (length(c, v) != 2) return wrong_number(c, v);
  NEED_ORDER(c, v);
  *a = item(c, v, 0);
  *b = item(c, v, 1);
  return none();
}
