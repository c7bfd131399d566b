// Any function on many elements at once, one element a lane.
//
// Lane bodies (lanes.cuh) need no memory, so most functions have none. But all of the source is written for any number of
// lanes. So it is there twice: for the lanes of a warp together, and in `alone` for a machine of a single lane. There each
// lane calls the function on an element of its own, with a Ctx of its own and a part of the arena to itself. That part lies
// behind c.limit; what has to be kept of it is copied to where values belong.
//
// Nothing that a lane does alone is seen by the run before all have come back: if one of them stops, the elements are taken
// in turn instead, as if nothing had been.

/// With fewer elements, more lanes would be idle than if all worked on one element after the other.
const u32 ALONE_FROM = 8;

/// A function on so many elements inside of one that a lane calls alone: the lane gives up. For that all lanes have work if the
/// elements outside are taken in turn, while outside there may be a few, one of which takes much longer than the others.
const u32 TOGETHER_FROM = 32;

#undef LEAVE_TO_ALL
#ifdef ALONE
#define LEAVE_TO_ALL(c, n) do { if ((n) >= TOGETHER_FROM) return stop(c, TOGETHER); } while (0)
#else
#define LEAVE_TO_ALL(c, n)
#endif

#ifdef SINGLE_LANE

INLINE u32 limit_of(u64 arena_bytes) { return (u32)arena_bytes; }
INLINE bool call_alone(Ctx &, V, u32, V, V, bool, bool, V *) { return false; }

#else

/// The part of an arena that values of the run may take; the other half is for lanes alone.
INLINE u32 limit_of(u64 arena_bytes) { return (u32)(arena_bytes / 2) & ~1023u; }

INLINE alone::V value_alone(V v) {
  alone::V w;
  w.kind = v.kind; w.flags = v.flags; w.lg = v.lg; w.spare = 0; w.len = v.len; w.lo = v.lo; w.hi = v.hi;
  return w;
}
INLINE V value_of_alone(alone::V w) {
  V v = make(w.kind, w.flags, w.len, w.lo, w.hi);
  v.lg = w.lg;
  return v;
}

/// What a lane starts with.
INLINE void start_alone(const Ctx &c, alone::Ctx &s) {
  u32 part = c.limit / LANES & ~15u;
  s.arena = c.arena;
  s.scratch = c.arena + c.limit + lane() * part;
  s.top = c.limit + lane() * part + SCRATCH;
  s.limit = c.limit + (lane() + 1) * part;
  s.fuel = c.fuel;
  s.work = 0;
  s.budget = c.budget;
  s.stop = 0;
  s.depth = c.depth;
  s.closures = c.closures;
  s.fallbacks = 0;
  s.unpaid = 0;
  s.dialect = c.dialect;
  s.exact = c.exact;
  s.ranks = c.ranks;
  s.by_address = c.by_address;
  s.op_counters = c.op_counters;
  s.nested = 0;
}

INLINE u32 rounded(u64 bytes) { return (u32)(bytes + 15) & ~15u; }

/// What a value takes for which there is no room.
const u32 NO_COPY = 0xffffffffu;

/// The bytes of a value that lie behind the limit. Per lane, as the next one. NO_COPY: it nests too deeply, or holds something
/// that has a number, which another lane may have given to something else.
DEVICE u32 bytes_inside(const Ctx &c, V v, u32 depth);
OUTLINE u32 bytes_behind(const Ctx &c, V v, u32 depth = 0) {
  u64 bytes = 0;
  u32 values = 0;
  switch (v.kind) {
  case FLOAT: return is_nan(v) ? NO_COPY : 0;
  case ROW: bytes = v.len; break;
  case GRID: bytes = (u64)height_of(v) * width_of(v); break;
  case TUPLE:
  case SET_V: values = v.len; bytes = (u64)v.len * sizeof(V); break;
  case SET_P: bytes = (u64)v.len * 4; break;
  case SET_C: bytes = (u64)v.len * sizeof(Dot); break;
  case CLOSURE: return v.lo < c.limit ? 0 : NO_COPY;
  default: return 0;
  }
  u32 total = 0;
  if (is_set(v) && (v.flags & ORDERED) && v.len > 1 && v.hi >= c.limit) total += rounded((u64)v.len * 4);
  // What was there before holds nothing that is new.
  if (v.lo < c.limit) return total;
  if (depth > MOST_NESTED) return NO_COPY;
  total += rounded(bytes);
  for (u32 k = 0; k < values; k++) {
    u32 more = bytes_inside(c, values_of(c, v)[k], depth + 1);
    if (more == NO_COPY || more > c.limit || total > c.limit) return NO_COPY;
    total += more;
  }
  return total;
}
OUTLINE u32 bytes_inside(const Ctx &c, V v, u32 depth) { return bytes_behind(c, v, depth); }

/// Copies what lies behind the limit to `*to`, which has room for it, and moves that on.
DEVICE V copied_inside(const Ctx &c, V v, u32 *to);
OUTLINE V copied(const Ctx &c, V v, u32 *to) {
  u32 words = 0, values = 0;
  switch (v.kind) {
  case ROW: words = (v.len + 3) / 4; break;
  case GRID: words = (height_of(v) * width_of(v) + 3) / 4; break;
  case TUPLE:
  case SET_V: values = v.len; break;
  case SET_P: words = v.len; break;
  case SET_C: words = v.len * 2; break;
  default: return v;
  }
  if (is_set(v) && (v.flags & ORDERED) && v.len > 1 && v.hi >= c.limit) {
    u32 *slots = (u32 *)(c.arena + *to);
    for (u32 k = 0; k < v.len; k++) slots[k] = slots_of(c, v)[k];
    v.hi = *to;
    *to += rounded((u64)v.len * 4);
  }
  if (v.lo < c.limit) return v;
  u32 at = *to;
  *to += rounded(values ? (u64)values * sizeof(V) : (u64)words * 4);
  // Pieces begin at multiples of 16, but a row may be anywhere in a grid.
  if (v.kind == ROW || v.kind == GRID) {
    u32 bytes = v.kind == ROW ? v.len : height_of(v) * width_of(v);
    for (u32 k = 0; k < bytes; k++) c.arena[at + k] = c.arena[v.lo + k];
  } else {
    u32 *copy = (u32 *)(c.arena + at);
    for (u32 k = 0; k < words; k++) copy[k] = ((const u32 *)(c.arena + v.lo))[k];
  }
  for (u32 k = 0; k < values; k++) ((V *)(c.arena + at))[k] = copied_inside(c, values_of(c, v)[k], to);
  v.lo = at;
  return v;
}
OUTLINE V copied_inside(const Ctx &c, V v, u32 *to) { return copied(c, v, to); }

/// What has stopped a lane would stop the run as well, if elements were taken in turn.
INLINE bool stops_anyway(u32 reason) { return reason != ARENA && reason != DEPTH && reason != TOGETHER; }

/// Calls a function with one argument or two, on those of each lane that takes part. False if that did not work: then the run
/// is stopped, or the calls have to be made in turn. With `keep`, values are put where they may stay; otherwise they are there up
/// to the next call like this.
OUTLINE bool call_alone(Ctx &c, V f, u32 count, V a, V b, bool takes_part, bool keep, V *result) {
  alone::Ctx s;
  start_alone(c, s);
  V y = none();
  if (takes_part) {
    alone::V g = value_alone(f), x = value_alone(a);
    y = value_of_alone(count == 1 ? alone::call1(s, g, x) : alone::call2(s, g, x, value_alone(b)));
  }
  sync();
  u32 stopped = ballot(s.stop != 0);
  if (stopped) {
    u32 reason = from_lane(s.stop, lowest(stopped));
    if (stops_anyway(reason) && !any(y.kind == FAILED)) stop(c, reason);
    i64 mine = c.fuel - s.fuel, most = largest(mine);
    spend(c, (u64)(most + (sum(mine) - most) / SIDE_BY_SIDE)); // it has taken that time
    return false;
  }
  // Functions have numbers, and after a fault nobody would have made more of them.
  if (any(y.kind == FAILED) && any(s.closures != c.closures)) return false;
  bool in_arena = keep && !is_bad(y) && !is_scalar(y);
  u32 bytes = keep && !is_bad(y) ? bytes_behind(c, y) : 0;
  if (any(bytes == NO_COPY)) return false;
  // The CPU takes back what a call has made if its value lies in no arena.
  i64 taken = sum(in_arena ? c.budget - s.budget : (i64)0), spent = c.fuel - s.fuel;
  u64 total = sum((u64)bytes);
  if (total) {
    u32 to = sum_before(bytes);
    i64 budget = c.budget;
    u8 *place = room(c, total);
    if (!place) return false;
    c.budget = budget;
    to += offset_of(c, place);
    y = copied(c, y, &to);
    sync();
  }
  c.budget -= taken;
  if (c.budget < 0) stop(c, ARENA);
  c.closures += sum(s.closures - c.closures);
  c.nested += largest(s.nested);
  if (any(s.fallbacks != 0)) c.fallbacks++;
  c.by_address = any(s.by_address);
  spend_beside(c, spent);
  *result = y;
  return !c.stop;
}

#endif
