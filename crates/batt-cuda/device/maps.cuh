// A function on all elements of a container.

/// Does it matter in which order faults are met? Several different ones in a set are left to the CPU, which finds out which of
/// them Python meets first.
INLINE bool faults_in_sequence(V container) { return !is_set(container) || container.len <= 1; }

/// The first fault among the lanes; several different ones in a set are left to the CPU.
INLINE V lane_fault(Ctx &c, V container, V mine) {
  u32 faults = ballot(mine.kind == FAILED);
  if (!faults) return none();
  u8 fault = (u8)from_lane((u32)mine.flags, lowest(faults));
  if (!faults_in_sequence(container) && any(mine.kind == FAILED && mine.flags != fault)) return stop(c, FAULTS);
  return failed(fault);
}

/// How a function is called on many elements: by the bodies for lanes, by each lane alone, or by all lanes on one element
/// after the other.
enum Manner : u8 { LANEWISE, ONE_EACH, IN_TURN };

INLINE u8 manner_of(const Ctx &c, V f, u32 n) {
  return n > 1 && is_lanewise(c, f) ? LANEWISE : n >= ALONE_FROM ? ONE_EACH : IN_TURN;
}

/// A function on the elements from `from` on, one for each lane: false if they have to be taken in turn, unless the run is
/// stopped. With `keep`, values may stay.
OUTLINE bool map_some(Ctx &c, u8 *manner, V f, V container, u32 from, u32 n, bool keep, V *mine) {
  if (*manner == LANEWISE) {
    if (lane_map(c, f, container, from, n, mine)) return true;
    *manner = ONE_EACH;
  }
  if (*manner == ONE_EACH && n - from >= ALONE_FROM) {
    u32 k = from + lane();
    V x = k < n ? lane_item(c, container, k) : none();
    if (call_alone(c, f, 1, x, x, k < n, keep, mine)) return true;
    *manner = IN_TURN;
  }
  return false;
}

/// Calls `take(k, y)` for the value of every element; per lane or uniform, whichever it is. On a fault the fault, as it
/// left the function; those before it have been taken. Faults of a set's elements must agree.
template <class Take> INLINE V map_with(Ctx &c, V f, V container, bool test, Take take) {
  u32 n = length(c, container);
  LEAVE_TO_ALL(c, n);
  bool ordered = faults_in_sequence(container);
  u8 manner = manner_of(c, f, n);
  bool kept = false;
  V fault = none();
  for (u32 from = 0; from < n; from += LANES) {
    V mine;
    if (map_some(c, &manner, f, container, from, n, !test, &mine)) {
      V y = lane_fault(c, container, mine);
      if (test) y = through_generator(y);
      if (y.kind == STOPPED) return y;
      if (from + lane() < n) take(from + lane(), mine, true);
      if (y.kind == FAILED) {
        if (ordered) return y;
        if (fault.kind == FAILED && fault.flags != y.flags) return stop(c, FAULTS);
        fault = y;
      }
      continue;
    }
    CHECK(c);
    u32 to = min_of(from + LANES, n);
    for (u32 k = from; k < to; k++) {
      u32 mark = c.top;
      i64 budget = c.budget;
      V y = call1(c, f, item(c, container, k));
      if (y.kind == STOPPED || c.stop) return make(STOPPED, 0, 0, 0, 0);
      if (y.kind == FAILED) {
        if (test) y = through_generator(y);
        if (ordered) return y;
        if (fault.kind == FAILED && fault.flags != y.flags) return stop(c, FAULTS);
        fault = y;
        continue;
      }
      // Nobody else knows what the call has made on the way to a value that lies in no arena. The CPU gives it back, too, until
      // there is a value that does.
      kept |= !test && !is_scalar(y);
      if (test || is_scalar(y)) {
        sync();
        c.top = mark;
        if (!kept) c.budget = budget;
      }
      take(k, y, false);
    }
  }
  sync();
  return fault; // none() or FAILED
}

/// The images of all elements, in the same sequence, as an array in the arena.
OUTLINE V map_all(Ctx &c, V f, V container, V *images) {
  return map_with(c, f, container, false, [&](u32 k, V y, bool per_lane) {
    if (per_lane || lane() == 0) images[k] = y;
  });
}

/// Marks the elements that satisfy a condition; faults as they leave a generator.
OUTLINE V mark_all(Ctx &c, V f, V container, u8 *keep) {
  return map_with(c, f, container, true, [&](u32 k, V y, bool per_lane) {
    if (per_lane || lane() == 0) keep[k] = truth(c, y);
  });
}
