// CPython's table of a set, simulated by a team of lanes.

#ifdef BATT_HOST
#define METHOD inline
#else
#define METHOD __device__ __forceinline__
#endif

/// All lanes of a warp, which work at one table together.
struct Warp {
  static const u32 WIDTH = 32;
#ifdef BATT_HOST
  /// A variable of each lane.
  template <class T> struct Own {
    T of[32];
    METHOD T &operator[](u32 l) { return of[l]; }
  };
  template <class F> INLINE void each(F f) {
    for (u32 l = 0; l < 32; l++) f(l);
  }
  /// A bit for each lane for which something is true.
  template <class F> INLINE u32 where(F f) {
    u32 all = 0;
    for (u32 l = 0; l < 32; l++) all |= (u32)(f(l) ? 1 : 0) << l;
    return all;
  }
  /// A bit for each lane that has the number of a lane before it.
  INLINE u32 repeated(Own<u32> &x) {
    u32 all = 0;
    for (u32 l = 1; l < 32; l++)
      for (u32 k = 0; k < l && !(all >> l & 1); k++) all |= (u32)(x[k] == x[l]) << l;
    return all;
  }
  INLINE u32 lowest_of(Own<u32> &x) {
    u32 all = x[0];
    for (u32 l = 1; l < 32; l++) all = min_of(all, x[l]);
    return all;
  }
  INLINE u32 sum_of(Own<u32> &x) {
    u32 all = 0;
    for (u32 l = 0; l < 32; l++) all += x[l];
    return all;
  }
#else
  template <class T> struct Own {
    T own;
    METHOD T &operator[](u32) { return own; }
  };
  template <class F> INLINE void each(F f) { f(lane()); }
  template <class F> INLINE u32 where(F f) { return __ballot_sync(ALL, f(lane())); }
  INLINE u32 repeated(Own<u32> &x) {
#if __CUDA_ARCH__ >= 700
    u32 same = __match_any_sync(ALL, x.own);
#else
    u32 same = 0;
    for (u32 l = 0; l < 32; l++) same |= (u32)(__shfl_sync(ALL, x.own, (int)l) == x.own) << l;
#endif
    return __ballot_sync(ALL, (same & low(lane())) != 0);
  }
  INLINE u32 lowest_of(Own<u32> &x) { return least(Rows{x.own}); }
  INLINE u32 sum_of(Own<u32> &x) { return sum(Rows{x.own}); }
#endif
  INLINE void wait() { sync(); }
  INLINE void *room(const Ctx &c, u64 bytes) { return take(c, bytes); }
};
/// A lane alone, with a table of its own.
struct Lone {
  static const u32 WIDTH = 1;
  template <class T> struct Own {
    T own;
    METHOD T &operator[](u32) { return own; }
  };
  template <class F> INLINE void each(F f) { f(0u); }
  template <class F> INLINE u32 where(F f) { return f(0u) ? 1 : 0; }
  INLINE u32 repeated(Own<u32> &) { return 0; }
  INLINE u32 lowest_of(Own<u32> &x) { return x.own; }
  INLINE u32 sum_of(Own<u32> &x) { return x.own; }
  INLINE void wait() {}
  INLINE void *room(const Ctx &c, u64 bytes) { return take_alone(c, bytes); }
};

/// Calls `f` for all numbers below n, each in one lane.
template <class T, class F> INLINE void each_below(u32 n, F f) {
  T::each([&](u32 l) {
    for (u32 k = l; k < n; k += T::WIDTH) f(k);
  });
}

const u16 EMPTY = 0xffff;

/// Two buffers of slots, which hold the numbers of elements. They begin at multiples of 8 bytes.
struct Table {
  u16 *slots, *other;
  u32 mask, used;
};

/// The slots in which CPython looks for an element, one after the other.
struct Probes {
  u64 perturb;
  u32 at, step;
};
INLINE Probes probes_of(u64 hash, u32 mask) {
  Probes p = {hash, (u32)hash & mask, 0};
  return p;
}
/// The next empty one.
INLINE u32 next_empty(const u16 *slots, u32 mask, Probes &p) {
  for (;;) {
    u32 last = p.at + 9 <= mask ? 9 : 0;
    while (p.step <= last) {
      u32 slot = p.at + p.step++;
      if (slots[slot] == EMPTY) return slot;
    }
    p.perturb >>= 5;
    p.at = (u32)((u64)p.at * 5 + 1 + p.perturb) & mask;
    p.step = 0;
  }
}
/// Stores an element of each chosen lane, as if they came one lane after the other.
///
/// Each takes the first slot that is empty. If several lanes take one, the first of them keeps it, and the
/// others go on. Who loses a slot never gets it back, so this ends as it does one by one.
template <class T, class E> INLINE void store_elements(u16 *slots, u32 mask, const u64 *hashes, u32 chosen, E element) {
  typename T::template Own<Probes> probes;
  typename T::template Own<u32> slot;
  T::each([&](u32 l) {
    // The other lanes have numbers that are no slots.
    slot[l] = ~l;
    if (!(chosen >> l & 1)) return;
    probes[l] = probes_of(hashes[element(l)], mask);
    slot[l] = next_empty(slots, mask, probes[l]);
  });
  while (u32 losers = T::repeated(slot))
    T::each([&](u32 l) {
      if (losers >> l & 1) slot[l] = next_empty(slots, mask, probes[l]);
    });
  T::each([&](u32 l) {
    if (chosen >> l & 1) slots[slot[l]] = (u16)element(l);
  });
  T::wait();
}
/// Empties a number of slots.
template <class T> INLINE void clear_slots(u16 *slots, u32 size) {
  each_below<T>(size / 4, [&](u32 k) { ((u64 *)slots)[k] = ~0ull; });
  T::wait();
}
template <class T> INLINE void clear(Table &t) {
  clear_slots<T>(t.slots, 8);
  t.mask = 7;
  t.used = 0;
}
/// Moves all elements to a table of this many slots.
template <class T> CALLED void resize(Table &t, const u64 *hashes, u32 size) {
  const u16 *from = t.slots;
  t.slots = t.other;
  t.other = (u16 *)from;
  clear_slots<T>(t.slots, size);
  for (u32 start = 0; start <= t.mask; start += T::WIDTH) {
    auto element = [&](u32 l) { return start + l <= t.mask ? from[start + l] : EMPTY; };
    u32 some = T::where([&](u32 l) { return element(l) != EMPTY; });
    if (some) store_elements<T>(t.slots, size - 1, hashes, some, element);
  }
  t.mask = size - 1;
}
INLINE u32 size_above(u32 n) {
  u32 size = 8;
  while (size <= n) size *= 2;
  return size;
}
/// Does a table of these have to grow?
INLINE bool is_full(u32 used, u32 mask) { return used * 5 >= mask * 3; }
/// Adds an element of each chosen lane; the table has none of them.
template <class T, class E> INLINE void add_elements(Table &t, const u64 *hashes, u32 chosen, E element) {
  while (chosen) {
    // As many as there is room for before the table grows.
    u32 now = chosen, most = (t.mask * 3 + 4) / 5 - t.used;
    while (popcount(now) > most && now & (now - 1)) now &= ~(1u << highest(now));
    store_elements<T>(t.slots, t.mask, hashes, now, element);
    t.used += popcount(now);
    chosen &= ~now;
    if (is_full(t.used, t.mask)) resize<T>(t, hashes, size_above(t.used * 4));
  }
}
/// Adds n elements, which the table does not have; those that are EMPTY are left out.
template <class T, class E> INLINE void add_all(Table &t, const u64 *hashes, u32 n, E element) {
  for (u32 from = 0; from < n; from += T::WIDTH) {
    auto own = [&](u32 l) { return from + l < n ? (u16)element(from + l) : EMPTY; };
    add_elements<T>(t, hashes, T::where([&](u32 l) { return own(l) != EMPTY; }), own);
  }
}
/// `frozenset(set)` of a set that only grew.
template <class T> INLINE void freeze(Table &t, const u64 *hashes) {
  u32 size = is_full(t.used, 7) ? size_above(t.used * 2) : 8;
  // A table of the same size is copied slot by slot.
  if (size != t.mask + 1) resize<T>(t, hashes, size);
}
/// Makes a table larger before it takes so many elements of another one.
template <class T> INLINE void make_room(Table &t, const u64 *hashes, u32 more) {
  if (is_full(t.used + more, t.mask)) resize<T>(t, hashes, size_above((t.used + more) * 2));
}
/// Writes the chosen ones of n numbers, in their sequence. Returns how many there are.
template <class T, class F, class E> INLINE u32 write_chosen(u32 n, u16 *to, F choose, E number) {
  u32 done = 0;
  for (u32 from = 0; from < n; from += T::WIDTH) {
    u32 some = T::where([&](u32 l) { return from + l < n && choose(from + l); });
    T::each([&](u32 l) {
      if (some >> l & 1) to[done + popcount(some & low(l))] = (u16)number(from + l);
    });
    done += popcount(some);
  }
  T::wait();
  return done;
}
/// Writes the numbers of the elements in iteration order.
template <class T> INLINE void write_slots(const Table &t, u16 *to) {
  write_chosen<T>(t.mask + 1, to, [&](u32 k) { return t.slots[k] != EMPTY; }, [&](u32 k) { return t.slots[k]; });
}
/// The first or the last element in iteration order, of some.
INLINE u32 end_of_table(const Table &t, bool last) {
  u32 slot = last ? t.mask : 0;
  while (t.slots[slot] == EMPTY) slot += last ? (u32)-1 : 1u;
  return t.slots[slot];
}
/// Writes those of n numbers that have not come before, in their sequence; EMPTY ones are left out. `seen` has a
/// byte for each number, and they are 0. Returns how many there are.
template <class T, class E> INLINE u32 write_new(u32 n, u8 *seen, u16 *to, E number) {
  u32 done = 0;
  for (u32 from = 0; from < n; from += T::WIDTH) {
    typename T::template Own<u32> own;
    u32 some = T::where([&](u32 l) {
      own[l] = from + l < n ? number(from + l) : EMPTY;
      bool is_new = own[l] != EMPTY && !seen[own[l]];
      if (!is_new) own[l] = ~l;
      return is_new;
    });
    some &= ~T::repeated(own);
    T::each([&](u32 l) {
      if (!(some >> l & 1)) return;
      to[done + popcount(some & low(l))] = (u16)own[l];
      seen[own[l]] = 1;
    });
    T::wait();
    done += popcount(some);
  }
  return done;
}
/// Sets a number of bytes to 0, which begin at a multiple of 8.
template <class T> INLINE void clear_bytes(u8 *bytes, u32 n) {
  each_below<T>((n + 7) / 8, [&](u32 k) { ((u64 *)bytes)[k] = 0; });
  T::wait();
}

/// For every cell of a grid, its place in the iteration order of the set of all locations; grids of up to 30 x 30.
INLINE const u16 *ranks_of(const Ctx &c, u32 height, u32 width) {
  const u16 *all = (const u16 *)((const Tables *)c.wave->tables)->ranks;
  return all + 465 * (height * (height - 1) / 2) + height * (width * (width - 1) / 2);
}
/// More elements than a table of 16-bit numbers is worth.
const u32 MOST_ORDERED = 4096;
