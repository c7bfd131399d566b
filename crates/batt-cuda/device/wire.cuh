// Values between host and device: the words of docs/device.md.

/// Reads the value at `*at` and moves on.
OUTLINE V read_wire(Ctx &c, const u32 *words, u32 *at, u32 depth = 0) {
  if (depth > MOST_NESTED) return stop(c, DEPTH);
  u32 head = words[(*at)++];
  u8 kind = head & 0xff, flags = head >> 8 & 0xff, lg = head >> 16 & 0xff;
  switch (kind) {
  case NONE: return none();
  case BOOL: return boolean(flags);
  case INT:
  case FLOAT: {
    V v = make(kind, 0, 0, words[*at], words[*at + 1]);
    *at += 2;
    return v;
  }
  case PAIR: return pair_of_word(words[(*at)++]);
  case CELL: {
    V v = cell_of(words[*at], (i32)words[*at + 1]);
    *at += 2;
    return v;
  }
  case OP_: {
    u32 index = words[(*at)++];
    return index == 0xffffffffu ? stop(c, ODD) : primitive(index);
  }
  case ROW: {
    u32 n = words[(*at)++];
    if (n == 0) return empty_tuple();
    u32 count = (n + 3) / 4;
    ROOM(u32, bytes, c, count);
    copy(bytes, words + *at, count);
    sync();
    *at += count;
    return row_at(c, (u8 *)bytes, n);
  }
  case GRID: {
    u32 height = words[*at], width = words[*at + 1];
    *at += 2;
    u32 count = (height * width + 3) / 4;
    ROOM(u32, bytes, c, count);
    copy(bytes, words + *at, count);
    sync();
    *at += count;
    return grid_at(c, (u8 *)bytes, height, width);
  }
  case TUPLE:
  case SET_V: {
    u32 n = words[(*at)++];
    ROOM(V, items, c, n ? n : 1);
    for (u32 k = 0; k < n; k++) {
      V v = read_wire(c, words, at, depth + 1);
      TRY(v);
      put(items + k, v);
    }
    sync();
    if (kind == TUPLE) return tuple_at(c, items, n);
    V v = list_at(c, SET_V, items, n);
    v.flags = flags;
    v.lg = lg;
    if ((flags & ORDERED) && n > 1) {
      ROOM(u32, slots, c, n);
      copy(slots, words + *at, n);
      sync();
      *at += n;
      v.hi = offset_of(c, slots);
    }
    return v;
  }
  case SET_P:
  case SET_C: {
    u32 n = words[(*at)++];
    if (n == 0) {
      V v = empty_set();
      if (flags & ORDERED) { v.flags = flags; v.lg = lg; }
      return v;
    }
    u32 count = kind == SET_P ? n : 2 * n;
    ROOM(u32, items, c, count);
    copy(items, words + *at, count);
    *at += count;
    V v = list_at(c, kind, items, n);
    v.flags = flags;
    v.lg = lg;
    if ((flags & ORDERED) && n > 1) {
      ROOM(u32, slots, c, n);
      copy(slots, words + *at, n);
      *at += n;
      v.hi = offset_of(c, slots);
    }
    sync();
    return v;
  }
  default: return stop(c, ODD);
  }
}

/// How many words a value takes on the wire. A set whose order is not known cannot be shown: the run is stopped.
OUTLINE u64 wire_words(Ctx &c, V v, u32 depth = 0) {
  if (depth > MOST_NESTED) { stop(c, DEPTH); return 0; }
  switch (v.kind) {
  case INT:
  case FLOAT:
  case CELL: return 3;
  case PAIR:
  case OP_:
  case CLOSURE: return 2;
  case ROW: return 2 + (v.len + 3) / 4;
  case GRID: return 3 + (height_of(v) * width_of(v) + 3) / 4;
  case TUPLE: {
    u64 total = 2;
    for (u32 k = 0; k < v.len; k++) {
      total += wire_words(c, values_of(c, v)[k], depth + 1);
      if (c.stop || total > 1u << 28) { stop(c, SIZE); return 0; }
    }
    return total;
  }
  case SET_P:
  case SET_C:
  case SET_V: {
    if (!in_order(v)) { stop(c, ORDER); return 0; }
    u64 total = 2 + (v.len > 1 ? v.len : 0);
    if (v.kind != SET_V) return total + (u64)v.len * (v.kind == SET_P ? 1 : 2);
    for (u32 k = 0; k < v.len; k++) {
      total += wire_words(c, values_of(c, v)[k], depth + 1);
      if (c.stop || total > 1u << 28) { stop(c, SIZE); return 0; }
    }
    return total;
  }
  default: return 1;
  }
}

/// Writes a value; `to` points behind it afterwards.
OUTLINE void write_wire(Ctx &c, V v, u32 **to) {
  u32 *at = *to;
  switch (v.kind) {
  case INT:
  case FLOAT:
  case CELL:
    put(at, (u32)v.kind);
    put(at + 1, v.lo);
    put(at + 2, v.hi);
    *to += 3;
    return;
  case PAIR:
    put(at, (u32)v.kind);
    put(at + 1, v.lo);
    *to += 2;
    return;
  case OP_:
  case CLOSURE:
    put(at, (u32)OP_);
    put(at + 1, v.kind == OP_ && v.lo < op_count() ? v.lo : 0xffffffffu);
    *to += 2;
    return;
  case ROW:
  case GRID: {
    u32 n = v.kind == ROW ? v.len : height_of(v) * width_of(v);
    put(at++, (u32)v.kind);
    if (v.kind == ROW) put(at++, n);
    else {
      put(at++, height_of(v));
      put(at++, width_of(v));
    }
    const u8 *bytes = bytes_of(c, v);
    for (u32 w = lane(); w * 4 < n; w += LANES) {
      u32 word = 0;
      for (u32 k = 0; k < 4 && w * 4 + k < n; k++) word |= (u32)bytes[w * 4 + k] << (8 * k);
      at[w] = word;
    }
    *to = at + (n + 3) / 4;
    return;
  }
  case TUPLE:
    put(at, (u32)TUPLE);
    put(at + 1, v.len);
    *to += 2;
    for (u32 k = 0; k < v.len; k++) write_wire(c, values_of(c, v)[k], to);
    return;
  case SET_P:
  case SET_C:
  case SET_V: {
    bool known = v.flags & ORDERED;
    put(at, v.kind | (u32)(known ? v.flags : (u8)ORDERED) << 8 | (u32)(known ? v.lg : 3) << 16);
    put(at + 1, v.len);
    *to += 2;
    if (v.kind == SET_V) {
      for (u32 k = 0; k < v.len; k++) write_wire(c, values_of(c, v)[k], to);
    } else {
      u32 n = v.kind == SET_P ? v.len : 2 * v.len;
      copy(*to, pairs_of(c, v), n);
      *to += n;
    }
    if (v.len > 1) {
      copy(*to, slots_of(c, v), v.len);
      *to += v.len;
    }
    return;
  }
  case BOOL:
    put(at, (u32)BOOL | (u32)v.flags << 8);
    *to += 1;
    return;
  default:
    put(at, (u32)NONE);
    *to += 1;
  }
}
