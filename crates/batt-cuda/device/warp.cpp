// The device VM for the host with the 32 lanes of a warp: a test of the rules in base.cuh, which one lane cannot break.
//
// Lanes take turns, each running from one collective to the next. At each collective all have to be in the same one, at the
// same place in the source, with the same Ctx. What one lane reads before another has written it depends on
// the order of the turns: a missing sync() gives wrong values in one order or another.
//
// For x86-64 and the calling convention of Linux: fibres are switched by hand, since swapcontext asks the system each time
// and there are millions.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

/// Goes on at `to`; whoever switches back to what was put into `from` returns from here.
extern "C" void batt_fibre_switch(void **from, void *to);
asm(R"(
  .text
  .type batt_fibre_switch, @function
batt_fibre_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
  .size batt_fibre_switch, . - batt_fibre_switch
)");

// Without a name of its own the linker would take functions of emulated.cpp for these.
namespace {
#define LANES_HEADER "fibres.h"
#include "all.cuh"

/// A fault that a test plants, to see that it is found: at the syncs of a function some lanes do something else.
struct Planted {
  const char *function; // null for none
  u32 lanes;            // one bit for each
  u32 what;
};
const u32 PASS_BY = 0, SPEND = 1;

struct Work {
  const Launch *launch;
  Planted planted;
  u8 *scratch;
  u64 job;
};
thread_local Work work;

bool passes_by(const Place &place) {
  const Planted &planted = work.planted;
  if (!planted.function || !(planted.lanes >> lane() & 1) || strcmp(place.function, planted.function)) return false;
  if (planted.what == PASS_BY) return true;
  warp->lanes[lane()].context->fuel--;
  return false;
}

/// Values nest on the stack of a lane. Pages that nobody touches take no memory.
const u64 STACK = 8 << 20;

/// So much of an arena is filled with nonsense before each job, so that what was never written is noticed.
const u64 FILLED = 64 << 10;
const u8 NONSENSE = 0xa5;

/// What a lane does: as the kernel, with one warp in the block.
void lane_main() {
  const Launch &launch = *work.launch;
  Ctx c = {};
  warp->lanes[lane()].context = &c;
  start(c, launch, (u8 *)launch.arenas, work.scratch);
  for (;;) {
    u64 job = 0;
    if (lane() == 0) {
      job = atomic_take((u64 *)launch.cursor, 1);
      work.job = job;
      memset(c.arena, NONSENSE, min_of(launch.arena_bytes, FILLED));
      memset(c.scratch, NONSENSE, SCRATCH);
    }
    job = from_lane(job, 0);
    if (job >= launch.job_count) break;
    run_job(c, launch, true, (u32)job);
  }
  // Nobody switches back.
  CALLED_AT;
  exchange(0, "end", place);
}

bool same_place(const Lane &a, const Lane &b) {
  return !strcmp(a.what, b.what) && a.place.line == b.place.line && !strcmp(a.place.file, b.place.file);
}
/// All but the time that calls took, which is each lane's own.
bool same_context(const Ctx &a, const Ctx &b) {
  return a.arena == b.arena && a.top == b.top && a.limit == b.limit && a.fuel == b.fuel && a.work == b.work && a.budget == b.budget &&
         a.stop == b.stop && a.depth == b.depth && a.closures == b.closures && a.fallbacks == b.fallbacks &&
         a.dialect == b.dialect && a.exact == b.exact && a.ranks == b.ranks && a.by_address == b.by_address;
}

/// Do all lanes wait for the same thing? If not, says who does not.
bool agree(const Warp &w, char *message, u64 room) {
  const Lane &first = w.lanes[0];
  for (u32 k = 1; k < LANES; k++) {
    const Lane &other = w.lanes[k];
    if (!same_place(first, other)) {
      snprintf(message, room, "job %llu: lane 0 is in %s at %s:%u (%s), lane %u in %s at %s:%u (%s)", work.job,
               first.what, first.place.file, first.place.line, first.place.function, k, other.what, other.place.file,
               other.place.line, other.place.function);
      return false;
    }
    if (!same_context(*first.context, *other.context)) {
      snprintf(message, room, "job %llu: lanes 0 and %u have different contexts in %s at %s:%u (%s)", work.job, k,
               first.what, first.place.file, first.place.line, first.place.function);
      return false;
    }
  }
  return true;
}

/// The order of turns: 0 is up, 1 is down, anything else begins a row of random ones.
void arrange(Warp &w, u32 order, u64 *random) {
  for (u32 k = 0; k < LANES; k++) w.order[k] = order == 1 ? LANES - 1 - k : k;
  if (order < 2) return;
  for (u32 k = LANES - 1; k > 0; k--) {
    // Xorshift.
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    u32 other = (u32)(*random >> 32) % (k + 1), kept = w.order[k];
    w.order[k] = w.order[other];
    w.order[other] = kept;
  }
}

/// Lets lanes run from collective to collective, until they end or one breaks a rule.
bool run_lanes(u8 *stacks, u32 order, char *message, u64 room) {
  Warp w = {};
  warp = &w;
  for (u32 k = 0; k < LANES; k++) {
    // As if it had been switched away from when about to begin: six registers, and where to go on. Its stack is aligned
    // as after a call.
    void **top = (void **)(stacks + (k + 1) * STACK) - 8;
    top[6] = (void *)lane_main;
    w.lanes[k].stack = top;
  }
  u64 random = order * 0x9e3779b97f4a7c15ull;
  for (;; w.round++) {
    arrange(w, order, &random);
    w.turn = 0;
    w.current = w.order[0];
    batt_fibre_switch(&w.scheduler, w.lanes[w.current].stack);
    if (!agree(w, message, room)) return false;
    if (!strcmp(w.lanes[0].what, "end")) return true;
  }
}
} // namespace

/// Runs jobs until there are none left, with 32 lanes on the calling thread. False if a rule was broken: the message
/// says which, and results are not to be used.
extern "C" bool batt_vm_warp(const void *launch, u32 order, const void *planted, char *message, u64 room) {
  alignas(16) u8 scratch[SCRATCH];
  work = {(const Launch *)launch, *(const Planted *)planted, scratch, 0};
  u8 *stacks = (u8 *)mmap(nullptr, LANES * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) {
    snprintf(message, room, "the system gives us no stacks");
    return false;
  }
  // One that overflows is not to grow into its neighbour.
  for (u32 k = 0; k < LANES; k++) mprotect(stacks + k * STACK, 4096, PROT_NONE);
  bool fine = run_lanes(stacks, order, message, room);
  munmap(stacks, LANES * STACK);
  return fine;
}
