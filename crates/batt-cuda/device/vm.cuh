// The machine: takes jobs, runs their programs step by step, judges and writes what came of them.

struct Launch {
  u64 programs, inputs, jobs, results, output, arenas, counters, cursor;
  u64 job_count, output_words, arena_bytes, fuel, work;
  u32 flags, warps;
};
const u32 FULL_VALUES = 1, EXACT = 2, TIMED = 4;
/// From this bit on, a flag for each Reason: a step that stops for it is left to the CPU, and the others go on.
const u32 LEAVE_FROM = 16;

/// What stands in the place of an entry's fault: it is left to the CPU.
const u32 LEFT = 254;

enum Header : u32 {
  H_WORDS, H_DIALECT, H_PARAMS, H_LITERALS, H_STEPS, H_OUTPUTS, H_SCORES, H_ON_ERROR, H_LITERALS_AT, H_CODE_AT,
  H_SOURCES_AT, H_USERS, H_USERS_AT, H_ENTRY_STEPS, H_ENTRY_STEPS_AT, H_LEADS,
};

/// Is it a solver of a batt, with entries that need some steps each? A program has one entry, which needs all.
INLINE bool is_of_batt(const u32 *program) { return program[H_USERS] != 0; }

/// What a run may take in all: far below the CPU's default limit, since a small set or closure takes the CPU several
/// times as much.
const i64 MOST_BYTES = 1 << 20;
/// What a step of a batt may spend. The other runs of the block wait for it, and somebody for the whole batt: what takes longer is
/// done sooner by a core, for the entries that need it.
const i64 STEP_FUEL = 4096;
/// What a step is taken to need beside what it spends: the CPU may take some steps to find out that a call fails.
const u32 START = 8;

#ifdef __CUDACC__
// WARPS_PER_BLOCK is the most that a block has: the host says, since it depends on the card.
/// Warps of this block.
INLINE u32 warps_of_block() { return blockDim.x / 32; }
/// Where the warps of a block wait for one another.
INLINE void meet() { __syncthreads(); }
/// The largest of the numbers that the warps of a block hold.
INLINE u32 most_in_block(u32 n) {
  __shared__ u32 numbers[WARPS_PER_BLOCK];
  meet();
  if (lane() == 0) numbers[threadIdx.x / 32] = n;
  meet();
  u32 most = 0;
  for (u32 k = 0; k < warps_of_block(); k++) most = max_of(most, numbers[k]);
  return most;
}
#else
INLINE void meet() {}
INLINE u32 most_in_block(u32 n) { return n; }
#endif

// What a step did.
const u8 EXECUTED = 1, STEP_FAILED = 2, FELL_BACK = 4;

INLINE u32 clamped(i64 n) { return n > 0xffffffffll ? 0xffffffffu : (u32)n; }

/// What a step took: fuel and work together, and memory.
struct Cost {
  u32 effort, bytes;
};

/// The state of a run's entries and steps, in the arena.
struct Progress {
  V *slots;     // inputs, literals, steps
  u32 *failed;  // for each entry two words: 0 or 1 + fault, and the step; LEFT, and the reason
  u32 *judged;  // for each entry three words: the verdict, low and high word of the hash
  u8 *marks;    // for each step, what it did
  Cost *costs;  // for each step, what it took; none if the run has one entry, which may take all there is
  u32 leave;    // a bit for each Reason for which a step may be left
  i64 fuel;     // what one step may spend
  i64 work;     // what it may do beside
};

OUTLINE V tuple_of_slots(Ctx &c, const u32 *numbers, u32 n, const V *slots) {
  ROOM(V, items, c, n ? n : 1);
  for (u32 k = 0; k < n; k++) put(items + k, slots[numbers[k]]);
  sync();
  return tuple_at(c, items, n);
}

/// A call of a primitive on numbers and locations, as lanes make them for one element each (lanes.cuh), all lanes the same
/// one. That needs no stack, where calls that may be of anything save and restore a hundred registers on their way.
/// Bad if it is another call.
INLINE V quick_call(Ctx &c, V f, u32 n, V a, V b) {
  if (f.kind != OP_ || n - 1 > 1 || !is_scalar(a) || !is_scalar(b) || c.op_counters || c.fuel < 0) return nope();
  V v = n == 1 ? lane_dispatch1(c, f.lo, a) : lane_dispatch2(c, f.lo, a, b);
  if (!is_bad(v)) c.fuel--;
  return v;
}

/// Executes one instruction.
INLINE V execute(Ctx &c, const u32 *code, const V *slots) {
  u32 form = code[0] & 0xff, n = code[0] >> 8;
  if (form == 2) return tuple_of_slots(c, code + 2, n, slots);
  V f = form == 0 ? primitive(code[1]) : slots[code[1]];
  V a = n > 0 ? slots[code[2]] : none();
  V b = n > 1 ? slots[code[3]] : none();
  V d = n > 2 ? slots[code[4]] : none();
  V e = n > 3 ? slots[code[5]] : none();
  V v = quick_call(c, f, n, a, b);
  if (!is_bad(v)) return v;
  switch (n) {
  case 1: return call1(c, f, a);
  case 2: return call2(c, f, a, b);
  case 3: return call3(c, f, a, b, d);
  case 4: return call4(c, f, a, b, d, e);
  default: return f.kind == OP_ ? call_oddly(c, f.lo, n, a, b, d) : failed(TYPE_);
  }
}

/// What a failing step gives instead where a batt goes on with defaults; the fault itself elsewhere.
OUTLINE V default_of(Ctx &c, const u32 *program, const u32 *code, const V *slots, V fault) {
  bool guarded = fault.flags == TYPE_ || fault.flags == ATTRIBUTE_ || fault.flags == VALUE_;
  if (program[H_ON_ERROR] == 0 || !guarded) return fault;
  u32 form = code[0] & 0xff, n = code[0] >> 8;
  c.fallbacks++;
  // A known primitive with its own number of arguments has its fallback inside; what is left is called as a value.
  V f = form == 1 ? slots[code[1]] : none();
  if (form == 0 && arity_of_op(code[1]) != n) f = primitive(code[1]);
  u32 fallback = f.kind == OP_ ? fallback_of_op(f.lo) : (u32)NO_FALLBACK;
  return fallback_value(fallback == NO_FALLBACK ? (u32)TO_EMPTY_TUPLE : fallback);
}

/// Outputs and scores of a program. Behind them come as many comparisons as scores, which not every job makes.
INLINE u32 solved_entries(const u32 *program) { return program[H_OUTPUTS] + program[H_SCORES]; }

/// Who needs a step: nobody, only comparisons, or others, too.
enum Need : u32 { BY_NOBODY, BY_COMPARISONS, BY_OTHERS };
INLINE u32 need_of(const u32 *program, const Progress &p, u32 step, u32 entries) {
  if (!is_of_batt(program)) return p.failed[0] ? BY_NOBODY : BY_OTHERS;
  const u32 *starts = program + program[H_USERS], *users = program + program[H_USERS_AT];
  u32 solved = solved_entries(program), need = BY_NOBODY;
  for (u32 at = starts[step]; at < starts[step + 1] && need != BY_OTHERS; at += LANES) {
    u32 mine = at + lane();
    u32 entry = mine < starts[step + 1] ? users[mine] : entries;
    bool waits = entry < entries && !p.failed[2 * entry];
    if (any(waits && entry < solved)) need = BY_OTHERS;
    else if (any(waits)) need = BY_COMPARISONS;
  }
  return need;
}

/// The entries that need a step fail with it, or are left.
OUTLINE void fail_users(const u32 *program, Progress &p, u32 step, u32 fault, u32 detail, u32 entries) {
  const u32 *starts = program + program[H_USERS], *users = program + program[H_USERS_AT];
  bool some = is_of_batt(program);
  u32 from = some ? starts[step] : 0, to = some ? starts[step + 1] : 1;
  sync(); // all have seen who needs it
  for (u32 at = from + lane(); at < to; at += LANES) {
    u32 entry = some ? users[at] : 0;
    if (entry >= entries || p.failed[2 * entry]) continue;
    p.failed[2 * entry] = fault;
    p.failed[2 * entry + 1] = detail;
  }
  sync();
}

/// Can the run go on without what has just stopped it?
INLINE bool may_leave(const Ctx &c, const Progress &p) { return p.leave >> c.stop & 1; }

/// Runs one step; the run may be stopped afterwards.
INLINE void run_step(Ctx &c, const u32 *program, Progress &p, u32 step, u32 entries) {
  u32 need = need_of(program, p, step, entries);
  if (need == BY_NOBODY) return;
  const u32 *code = program + (program + program[H_CODE_AT])[step];
  u32 fallbacks = c.fallbacks, top = c.top;
  i64 budget = c.budget, bytes = min_of(budget, MOST_BYTES), fuel = c.fuel, given = min_of(fuel, p.fuel);
  i64 work = c.work, beside = min_of(work, p.work);
  c.budget = bytes;
  c.fuel = given;
  c.work = beside;
  V v = execute(c, code, p.slots);
  if (v.kind == FAILED) v = default_of(c, program, code, p.slots, v);
  if (c.fuel < 0) stop(c, FUEL);
  Cost cost = {clamped(given - c.fuel + beside - c.work + START), clamped(bytes - c.budget)};
  c.fuel += fuel - given;
  c.work += work - beside;
  // More room would not help what may not take it.
  if (c.stop == ARENA && c.budget < 0 && bytes < budget) c.stop = SIZE;
  c.budget += budget - bytes;
  if (c.stop) {
    if (!may_leave(c, p)) return;
    // Whoever needs its value belongs to the same entries.
    fail_users(program, p, step, LEFT, c.stop, entries);
    c.stop = 0;
    c.depth = 0;
    c.top = top;
    c.budget = budget;
    return;
  }
  u8 mark = EXECUTED | (c.fallbacks != fallbacks ? FELL_BACK : 0);
  if (v.kind == FAILED) {
    mark |= STEP_FAILED;
    fail_users(program, p, step, (u32)v.flags + 1, step, entries);
  } else {
    put(p.slots + program[H_PARAMS] + program[H_LITERALS] + step, v);
  }
  if (need == BY_OTHERS) put(p.marks + step, mark);
  if (p.costs) put(p.costs + step, cost);
  sync();
}

/// Runs the program. The warps of a block take their steps together: they mostly run the same program, and what one
/// has fetched of the code of a primitive is then still there for the others. Without that, five sixths of the
/// time go into waiting for instructions.
INLINE void run_steps(Ctx &c, const u32 *program, Progress &p, u32 count, u32 entries) {
  u32 rounds = most_in_block(count);
  for (u32 step = 0; step < rounds; step++) {
    meet();
    if (step < count && !c.stop) run_step(c, program, p, step, entries);
  }
}

/// Compares a value with the expected grid, as the CPU's `judge` does.
OUTLINE u32 verdict_of(Ctx &c, V v, const u32 *inputs, u32 expected) {
  if (expected == 0xffffffffu) return 0xffffffffu;
  const u32 *words = inputs + expected; // head, height, width, bytes
  u32 height = words[1], width = words[2];
  const u8 *cells = (const u8 *)(words + 3);
  Grid grid;
  if (v.kind == TUPLE || v.kind == GRID) {
    if (as_grid(c, v, &grid)) {
      if (grid.height != height || grid.width != width)
        return 0x80000000u | min_of(grid.height, 0x7fffu) << 16 | min_of(grid.width, 0x7fffu);
      u32 wrong = 0;
      for (u32 k = lane(); k < height * width; k += LANES) wrong += grid.cells[k] != cells[k];
      return sum(wrong);
    }
    if (c.stop) return 0;
    // A grid may hold bools or floats, which equal integers.
    u32 at = expected;
    V wanted = read_wire(c, inputs, &at);
    if (c.stop) return 0;
    return equal(c, v, wanted) ? 0 : 0xfffffffeu;
  }
  return 0xfffffffeu;
}

/// A job under way.
struct Job {
  const u32 *words, *program, *inputs;
  u32 entries; // those that are wanted of it
  i64 fuel, work;
  i64 effort; // what one entry may take, fuel and work together
  Progress progress;
};

/// Words of what all steps did, four to a word.
INLINE u32 words_of_marks(u32 steps) { return (steps + 3) / 4; }

/// Gets a job ready: its memory, literals and inputs.
OUTLINE void begin_job(Ctx &c, const Launch &launch, u32 number, Job &job) {
  job.words = (const u32 *)launch.jobs + 4 * (u64)number;
  job.program = (const u32 *)launch.programs + job.words[0];
  job.inputs = (const u32 *)launch.inputs;
  const u32 *program = job.program;
  c.top = 16; // offset 0 is nobody's
  // Each of the entries has limits of its own.
  job.entries = solved_entries(program) + (job.words[3] & 1 ? program[H_SCORES] : 0);
  u32 entries = max_of(job.entries, 1u);
  job.fuel = (i64)launch.fuel * entries;
  c.fuel = job.fuel;
  job.work = (i64)launch.work * entries;
  c.work = job.work;
  job.effort = (i64)launch.fuel + (i64)launch.work;
  c.budget = MOST_BYTES * entries;
  c.stop = 0;
  c.depth = 0;
  c.closures = 0;
  c.fallbacks = 0;
  c.unpaid = 0;
  c.nested = 0;
  c.by_address = false;
  c.dialect = (u8)program[H_DIALECT];
  c.exact = launch.flags & EXACT;
  u32 params = program[H_PARAMS], literals = program[H_LITERALS], steps = program[H_STEPS];
  Progress &p = job.progress;
  p.slots = room_for<V>(c, params + literals + steps);
  p.failed = room_for<u32>(c, 2 * entries);
  p.judged = room_for<u32>(c, 3 * entries);
  p.marks = room_for<u8>(c, 4 * words_of_marks(steps));
  p.costs = entries == 1 ? nullptr : room_for<Cost>(c, steps);
  // Without the only entry nothing is left to do.
  p.leave = entries == 1 ? 0 : launch.flags >> LEAVE_FROM;
  p.fuel = is_of_batt(program) ? min_of((i64)launch.fuel, STEP_FUEL) : (i64)launch.fuel;
  p.work = (i64)launch.work;
  if (c.stop) return;
  fill_with(p.failed, 0u, 2 * entries);
  fill_with(p.marks, (u8)0, 4 * words_of_marks(steps));
  if (p.costs) fill_with(p.costs, Cost{0, 0}, steps);
  copy((u32 *)(p.slots + params), program + program[H_LITERALS_AT], literals * 4);
  sync();
  for (u32 k = 0; k < literals && !c.stop; k++) {
    V v = p.slots[params + k];
    if (v.kind != 255) continue;
    u32 at = v.lo;
    V made = read_wire(c, program, &at);
    sync(); // all have read what stood there
    put(p.slots + params + k, made);
  }
  const u32 *list = job.inputs + job.words[1];
  for (u32 k = 0; k < params && !c.stop; k++) {
    V v = none();
    if (list[k] != 0xffffffffu) {
      u32 at = list[k];
      v = read_wire(c, job.inputs, &at);
    }
    put(p.slots + k, v);
  }
  sync();
}

/// The CPU has limits for each entry. Has this run as a whole taken no more than that?
INLINE bool within_limits(const Ctx &c, const Job &job) {
  i64 effort = job.fuel - c.fuel + job.work - c.work + START * (i64)job.program[H_STEPS];
  return effort <= job.effort && MOST_BYTES * (i64)job.entries - c.budget <= MOST_BYTES;
}

/// The entry that comes before this one on the CPU and takes from its limits, if it has steps of its own; else this one.
INLINE u32 lead_of(const u32 *program, u32 entry) { return (program + program[H_LEADS])[entry]; }

/// Which limit the steps of an entry have gone beyond; 0 for none. They pay for what they share with others, too, as
/// on the CPU, and for what comes before them there.
OUTLINE u32 limit_of_entry(const Job &job, u32 entry) {
  const u32 *program = job.program, *starts = program + program[H_ENTRY_STEPS];
  const u32 *steps = program + program[H_ENTRY_STEPS_AT];
  u32 lead = lead_of(program, entry);
  i64 effort = 0, bytes = 0;
  for (u32 of = entry;; of = lead) {
    for (u32 k = starts[of] + lane(); k < starts[of + 1]; k += LANES) {
      Cost cost = job.progress.costs[steps[k]];
      effort += cost.effort;
      bytes += cost.bytes;
    }
    if (of == lead) break;
  }
  return sum(effort) > job.effort ? FUEL : sum(bytes) > MOST_BYTES ? SIZE : 0;
}

/// Judges what came of the entries. Gives how many words they take in the output; the run may be stopped afterwards.
OUTLINE u64 judge_entries(Ctx &c, Job &job, bool full) {
  const u32 *program = job.program, *sources = program + program[H_SOURCES_AT];
  Progress &p = job.progress;
  u32 outputs = program[H_OUTPUTS];
  u64 total = 4 * (u64)job.entries;
  bool all_left = true, within = !p.costs || within_limits(c, job);
  u32 why = 0;
  for (u32 k = 0; k < job.entries; k++) {
    u32 limit = 0;
    if (p.failed[2 * k] != LEFT) {
      // What is left of the limits after an entry that was left, nobody knows.
      const u32 *before = p.failed + 2 * (p.costs ? lead_of(program, k) : k);
      limit = before[0] == LEFT ? before[1] : within ? 0 : limit_of_entry(job, k);
    }
    if (limit) {
      stop(c, limit);
      if (!may_leave(c, p)) return 0;
      c.stop = 0;
      put(p.failed + 2 * k, LEFT);
      put(p.failed + 2 * k + 1, limit);
      sync();
    } else if (!p.failed[2 * k]) {
      u32 top = c.top;
      V v = p.slots[sources[k]];
      u64 words = full ? wire_words(c, v) : 0;
      u32 verdict = k < outputs ? verdict_of(c, v, job.inputs, job.words[2]) : 0xffffffffu;
      u64 hash = hash_of(c, v);
      if (c.stop) {
        if (!may_leave(c, p)) return 0;
        put(p.failed + 2 * k, LEFT);
        put(p.failed + 2 * k + 1, c.stop);
        c.stop = 0;
        c.top = top;
      } else {
        put(p.judged + 3 * k, verdict);
        put(p.judged + 3 * k + 1, (u32)hash);
        put(p.judged + 3 * k + 2, (u32)(hash >> 32));
        total += words;
      }
      sync();
    }
    bool is_left = p.failed[2 * k] == LEFT;
    all_left &= is_left;
    if (is_left) why = p.failed[2 * k + 1];
  }
  if (why && all_left) stop(c, why);
  if (is_of_batt(program)) total += words_of_marks(program[H_STEPS]);
  if (total > 1u << 28) stop(c, SIZE);
  return total;
}

/// Judges and writes what came of a job.
OUTLINE void end_job(Ctx &c, const Launch &launch, u32 number, Job &job) {
  const u32 *program = job.program;
  Progress &p = job.progress;
  u32 *result = (u32 *)launch.results + 4 * (u64)number;
  bool full = launch.flags & FULL_VALUES;
  u32 entries = job.entries, steps = program[H_STEPS], words = 0;
  u64 out_at = 0;
  // What came of it. Room in the output is taken once its size is known.
  const u32 *sources = program + program[H_SOURCES_AT];
  if (!c.stop) {
    words = (u32)judge_entries(c, job, full);
    if (!c.stop) {
      if (lane() == 0) out_at = atomic_take((u64 *)launch.cursor + 1, words);
      out_at = from_lane(out_at, 0);
      if (out_at + words > launch.output_words) stop(c, OUTPUT);
    }
  }
  if (!c.stop) {
    u32 *to = (u32 *)launch.output + out_at;
    for (u32 k = 0; k < entries && !c.stop; k++) {
      u32 fault = p.failed[2 * k];
      bool value = fault == 0;
      put(to, fault);
      put(to + 1, value ? p.judged[3 * k] : p.failed[2 * k + 1]);
      put(to + 2, value ? p.judged[3 * k + 1] : 0u);
      put(to + 3, value ? p.judged[3 * k + 2] : 0u);
      to += 4;
      if (value && full) write_wire(c, p.slots[sources[k]], &to);
    }
    if (is_of_batt(program)) copy(to, (const u32 *)p.marks, words_of_marks(steps));
    sync();
  }
  put(result, c.stop);
  put(result + 1, (u32)out_at);
  put(result + 2, c.stop ? 0u : words);
  put(result + 3, clamped(job.fuel - c.fuel + job.work - c.work));
  sync();
}

/// One job from its inputs to its results; for a warp without one, only what the warps of a block do together.
INLINE void run_job(Ctx &c, const Launch &launch, bool here, u32 number) {
  Job job;
  u32 count = 0;
  if (here) {
    begin_job(c, launch, number, job);
    count = c.stop ? 0 : job.program[H_STEPS];
  }
  run_steps(c, job.program, job.progress, count, job.entries);
  if (here) end_job(c, launch, number, job);
}

INLINE void start(Ctx &c, const Launch &launch, u8 *arena, u8 *scratch) {
  c.arena = arena;
  c.limit = limit_of(launch.arena_bytes);
  c.scratch = scratch;
  c.ranks = (const u16 *)launch.programs;
  c.op_counters = launch.flags & TIMED ? (u64 *)launch.counters : nullptr;
}

#ifdef __CUDACC__

extern "C" __global__ void __launch_bounds__(WARPS_PER_BLOCK * 32, 1) batt_vm(const Launch launch) {
  extern __shared__ __align__(16) u8 scratch[]; // SCRATCH bytes for each warp
  __shared__ u64 first;
  u32 in_block = threadIdx.x / 32;
  u64 warp = (u64)blockIdx.x * warps_of_block() + in_block;
  Ctx c;
  start(c, launch, (u8 *)launch.arenas + warp * launch.arena_bytes, scratch + in_block * SCRATCH);
  for (;;) {
    if (threadIdx.x == 0) first = atomic_take((u64 *)launch.cursor, warps_of_block());
    meet();
    u64 job = first + in_block;
    bool any_left = first < launch.job_count;
    meet();
    if (!any_left) return;
    run_job(c, launch, job < launch.job_count && warp < launch.warps, (u32)job);
  }
}

#elif !defined(LANES_HEADER)

extern "C" void batt_vm_host(const Launch *launch) {
  alignas(16) u8 scratch[SCRATCH];
  Ctx c;
  start(c, *launch, (u8 *)launch->arenas, scratch);
  for (;;) {
    u64 job = atomic_take((u64 *)launch->cursor, 1);
    if (job >= launch->job_count) return;
    run_job(c, *launch, true, (u32)job);
  }
}

#endif
