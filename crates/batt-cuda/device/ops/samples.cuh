// tokpidjin: what demonstrations have in common: colours that come and go, and how outputs follow from inputs.

/// The values of a tally in the order of the set *built* of them, as a tuple.
OUTLINE V tuple_as_built(Ctx &c, const Tally &tally) {
  const u32 *order = order_when_built(c, tally.values, tally.n);
  if (!order) return make(STOPPED, 0, 0, 0, 0);
  ROOM(V, items, c, tally.n + 1);
  for (u32 k = lane(); k < tally.n; k += LANES) items[k] = tally.values[order[k]];
  sync();
  return tuple_at(c, items, tally.n);
}

TOK(p_g)(Ctx &c, V grid) {
  Tally tally;
  V fault = tally_grid(c, grid, &tally);
  TRY(fault);
  return tuple_as_built(c, tally);
}

TOK(p_f)(Ctx &c, V element) {
  if (c.exact && is_set(element)) NEED_ORDER(c, element);
  Tally tally;
  V fault = tally_thirds(c, element, &tally);
  TRY(fault);
  V list = list_of(c, tally.values, tally.n);
  TRY(list);
  return build_distinct(c, list, BUILD);
}

/// Does the set of the colours come out the same whatever is met first? Up to four live in eight slots, where 0 and 8
/// meet, and 1 and 9; five and more have a slot each.
OUTLINE bool is_fixed_order(const Tally &tally) {
  u32 few = 0;
  for (u32 k = 0; k < tally.n; k++) {
    V v = tally.values[k];
    if (v.kind != INT || (u64)int_of(v) > 9) return tally.n <= 1;
    few |= 1u << v.lo;
  }
  return tally.n > 4 || !((few & few >> 8) & 3);
}

TOK(p_o)(Ctx &c, V object) {
  Tally tally;
  V fault = tally_thirds(c, object, &tally);
  TRY(fault);
  if (!is_fixed_order(tally)) NEED_ORDER(c, object);
  return tuple_as_built(c, tally);
}

/// The inputs of all samples, or the outputs, in a container of the samples' kind.
OUTLINE V halves_of(Ctx &c, V samples, bool outputs) {
  if (!is_container(samples)) return failed(TYPE_);
  if (c.exact) NEED_ORDER(c, samples);
  u32 n = length(c, samples);
  ROOM(V, images, c, n + 1);
  for (u32 k = 0; k < n; k++) {
    V sample = item(c, samples, k);
    V half = safely(c, outputs ? tok_second(c, sample) : tok_first(c, sample), TO_EMPTY_TUPLE);
    TRY(half);
    put(images + k, half);
  }
  sync();
  return is_set(samples) ? build_values(c, images, n) : tuple_at(c, images, n);
}

/// What a function finds in the inputs, or in the outputs, each thing once.
OUTLINE V found_in(Ctx &c, V samples, V function, bool outputs) {
  V halves = safely(c, halves_of(c, samples, outputs), TO_EMPTY_TUPLE);
  TRY(halves);
  V found = safely(c, tok_mapply_t(c, function, halves), TO_EMPTY_TUPLE);
  TRY(found);
  return safely(c, tok_dedupe(c, found), TO_EMPTY_TUPLE);
}

/// What a function finds on one side and nowhere on the other, in the order in which it turns up.
OUTLINE V found_only(Ctx &c, V samples, V function, bool outputs) {
  V inside = found_in(c, samples, function, outputs);
  TRY(inside);
  V elsewhere = found_in(c, samples, function, !outputs);
  TRY(elsewhere);
  return safely(c, tok_difference_tuple(c, inside, elsewhere), TO_EMPTY_TUPLE);
}

TOK(c_iz)(Ctx &c, V samples, V function) { return found_only(c, samples, function, false); }
TOK(c_zo)(Ctx &c, V samples, V function) { return found_only(c, samples, function, true); }
TOK(c_iz_n)(Ctx &c, V samples, V function, V pick) {
  V found = found_only(c, samples, function, false);
  TRY(found);
  return call1(c, pick, found);
}
TOK(c_zo_n)(Ctx &c, V samples, V function, V pick) {
  V found = found_only(c, samples, function, true);
  TRY(found);
  return call1(c, pick, found);
}

/// Does a mirroring or rotation make every input the output? A bool, or the fault of what is no sample.
OUTLINE V turns_all(Ctx &c, V samples, i64 code) {
  u32 n = length(c, samples), mark = c.top;
  bool same = true;
  for (u32 k = 0; k < n && same; k++) {
    V sample = item(c, samples, k);
    if (!is_container(sample)) return failed(TYPE_);
    if (length(c, sample) != 2) return failed(VALUE_);
    NEED_ORDER(c, sample);
    V image = safely(c, tok_mir_rot_t(c, item(c, sample, 0), integer(code)), TO_EMPTY_TUPLE);
    TRY(image);
    same = equal(c, item(c, sample, 1), image);
    CHECK(c);
    c.top = mark;
  }
  return boolean(same);
}

TOK(a_mr)(Ctx &c, V samples) {
  if (!is_container(samples)) return failed(TYPE_);
  NEED_ORDER(c, samples);
  for (i64 code = 0; code < 8; code++) {
    V all_same = turns_all(c, samples, code);
    TRY(all_same);
    if (all_same.flags) return integer(code);
  }
  return none();
}
