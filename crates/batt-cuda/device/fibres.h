// The 32 lanes of a warp on the host, each a fibre of one thread: what base.cuh has for a card.
//
// A lane runs until it comes to a collective and waits there; then it is the next lane's turn. When all wait, the
// scheduler in warp.cpp looks whether they wait for the same thing.

const u32 LANES = 32;

/// Where in the source a collective is called.
struct Place {
  const char *file, *function;
  u32 line;
};
#define CALLED_AT Place place = {__builtin_FILE(), __builtin_FUNCTION(), __builtin_LINE()}

struct Ctx;
struct Lane {
  void *stack;      // where it goes on
  const char *what; // the collective it waits in
  Place place;
  Ctx *context;
};

struct Warp {
  Lane lanes[LANES];
  u32 current;      // the lane that runs
  u32 order[LANES]; // in which the lanes take their turns up to the next collective
  u32 turn;         // how many have had theirs
  void *scheduler;  // where the scheduler goes on
  // What the lanes hand one another. Some read what they were given while others, already at the next collective,
  // write: so there are two.
  u64 words[2][LANES];
  u32 round;
};
static thread_local Warp *warp;

INLINE u32 lane() { return warp->current; }

/// Waits until all lanes wait; gives the words that they brought.
static __attribute__((noinline)) const u64 *exchange(u64 word, const char *what, const Place &place) {
  Warp &w = *warp;
  Lane &me = w.lanes[w.current];
  const u64 *words = w.words[w.round & 1];
  w.words[w.round & 1][w.current] = word;
  me.what = what;
  me.place = place;
  if (++w.turn == LANES) {
    batt_fibre_switch(&me.stack, w.scheduler);
  } else {
    w.current = w.order[w.turn];
    batt_fibre_switch(&me.stack, w.lanes[w.current].stack);
  }
  return words;
}

/// Does a test want this lane to pass by this sync?
static bool passes_by(const Place &place);

INLINE void sync(CALLED_AT) {
  if (!passes_by(place)) exchange(0, "sync", place);
}
static u32 votes(bool p, const char *what, const Place &place) {
  const u64 *words = exchange(p, what, place);
  u32 bits = 0;
  for (u32 k = 0; k < LANES; k++) bits |= (u32)words[k] << k;
  return bits;
}
INLINE bool any(bool p, CALLED_AT) { return votes(p, "any", place) != 0; }
INLINE bool all(bool p, CALLED_AT) { return votes(p, "all", place) == 0xffffffffu; }
INLINE u32 ballot(bool p, CALLED_AT) { return votes(p, "ballot", place); }
INLINE u32 lanes_before() { return (1u << lane()) - 1; }

template <class T> INLINE T brought_by(u32 source, T x, const char *what, const Place &place) {
  static_assert(sizeof(T) <= sizeof(u64), "lanes hand one another a word");
  u64 word = 0;
  memcpy(&word, &x, sizeof x);
  memcpy(&x, exchange(word, what, place) + source, sizeof x);
  return x;
}
template <class T> INLINE T from_lane(T x, u32 source, CALLED_AT) {
  return brought_by(source % LANES, x, "from_lane", place);
}
template <class T> INLINE T shifted(T x, u32 by, CALLED_AT) { return brought_by(lane() ^ by, x, "shifted", place); }
template <class T> INLINE T shifted_up(T x, u32 by, CALLED_AT) {
  return brought_by(lane() < by ? lane() : lane() - by, x, "shifted_up", place);
}
