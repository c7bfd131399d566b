//! Jobs in a few launches: one in which sets have no order, an exact one for those to which order matters, and one with more
//! room for those that need it.

use std::cmp::Reverse;

use batt_dsl::Limits;

use super::backend::{Batch, Device, DeviceError, Launched, Times};
use super::bytecode::{ProgramAt, Programs};
use super::inputs::Inputs;
use super::results::Reason;
use super::wire::{NOTHING, kind};

/// The flags of a launch.
const FULL_VALUES: u32 = 1;
const EXACT: u32 = 2;
const TIMED: u32 = 4;

/// The flag of the first reason for which steps are left; those of the others follow.
const LEAVE_FROM: u32 = 16;

/// What one run may do on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchSettings {
    /// Work, counted about as the CPU counts its steps. What takes longer is done sooner by a core than by a warp, which the
    /// others wait for.
    pub fuel: u64,
    /// Work that lanes do beside one another while a warp spends its fuel. Both together are so much below the CPU's limit that
    /// it would finish what a device finishes.
    pub work: u64,
    /// Bytes of values.
    pub arena_bytes: usize,
    /// The same in the last launch, which few runs need.
    pub large_arena_bytes: usize,
    /// Are full values wanted, or only verdicts and hashes?
    pub values: bool,
    /// Count calls and cycles of each primitive?
    pub ops: bool,
    /// Begin with an exact launch where most jobs turn out to need one?
    pub learn: bool,
}

/// Steps that the CPU is taken to need at most for what a device does with a unit of fuel. `docs/device.md` says where it
/// is from.
pub const STEPS_PER_FUEL: u64 = 8;

/// What a run usually gets.
const FUEL: u64 = 20_000;

/// With less fuel than this hardly any program is finished.
const LEAST_FUEL: u64 = 500;

impl LaunchSettings {
    /// The same for a program that the CPU has these limits for: at most as much fuel, and so little that what is finished on a
    /// device is within the limits here. `None`: a device cannot be used.
    pub fn within(self, limits: &Limits) -> Option<LaunchSettings> {
        let default = Limits::default();
        let all = limits.steps / STEPS_PER_FUEL;
        let fuel = self.fuel.min(all);
        let enough = fuel >= LEAST_FUEL.min(self.fuel);
        let allowed = enough && limits.size >= default.size && limits.memory >= default.memory;
        allowed.then_some(LaunchSettings {
            fuel,
            work: self.work.min(all - fuel),
            ..self
        })
    }
}

impl Default for LaunchSettings {
    fn default() -> LaunchSettings {
        LaunchSettings {
            fuel: FUEL,
            work: Limits::default().steps / STEPS_PER_FUEL - FUEL,
            arena_bytes: 2 << 20,
            large_arena_bytes: 8 << 20,
            values: true,
            ops: false,
            learn: true,
        }
    }
}

/// One job: a program on inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobAt {
    /// The program.
    pub program: ProgramAt,
    /// The list of its parameters.
    pub params: u32,
    /// The expected grid; [`NOTHING`] if there is none.
    pub expected: u32,
    /// Are comparisons wanted, too?
    pub compares: bool,
}

impl JobAt {
    /// A job with nothing to compare with.
    pub fn new(program: ProgramAt, params: u32) -> JobAt {
        JobAt {
            program,
            params,
            expected: NOTHING,
            compares: false,
        }
    }

    fn words(&self) -> [u32; 4] {
        [
            self.program.offset,
            self.params,
            self.expected,
            self.compares.into(),
        ]
    }
}

/// In which launch a job was finished. The later one comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaunchPass {
    /// One in which sets have no order.
    First,
    /// An exact one: CPython's order of every set.
    Exact,
}

/// A finished job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<'a> {
    /// In which launch.
    pub pass: LaunchPass,
    /// The words of its entries.
    pub words: &'a [u32],
}

/// What became of some jobs.
pub struct Done {
    /// The launches there were, with what kind each was.
    launches: Vec<(LaunchPass, Launched)>,
    /// For each job the last launch it was in, and its number there.
    places: Vec<(u32, u32)>,
    /// What stood in the way of a later launch; its jobs are left to the CPU.
    pub error: Option<DeviceError>,
    values: bool,
}

impl Done {
    /// How many jobs there were.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Were there none?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What became of a job.
    pub fn job(&self, k: usize) -> Result<Finished<'_>, Reason> {
        let (launch, number) = self.places[k];
        let (pass, launched) = &self.launches[launch as usize];
        let words = launched.job(number as usize)?;
        Ok(Finished { pass: *pass, words })
    }

    /// Why a job was left in the first launch, if no other launch can change that.
    pub fn left_at_once(&self, k: usize) -> Option<Reason> {
        let (launch, number) = self.places[k];
        let (_, launched) = &self.launches[launch as usize];
        let reason = launched.job(number as usize).err();
        reason.filter(|reason| launch == 0 && !needs_order(*reason) && !needs_room(*reason))
    }

    /// The work that a job spent in the last launch it was in.
    pub fn spent(&self, k: usize) -> u32 {
        let (launch, number) = self.places[k];
        self.launches[launch as usize].1.spent(number as usize)
    }

    /// Did the launches give full values?
    pub fn has_values(&self) -> bool {
        self.values
    }

    /// The counters, if primitives are counted: two for each, of all that was launched, so that a job that was launched again
    /// counts each time.
    pub fn counters(&self) -> Vec<u64> {
        let mut launches = self.launches.iter().map(|(_, launched)| &launched.counters);
        let mut counters = launches.next().cloned().unwrap_or_default();
        for more in launches {
            for (sum, more) in counters.iter_mut().zip(more) {
                *sum = sum.saturating_add(*more);
            }
        }
        counters
    }

    /// What all launches took.
    pub fn times(&self) -> Times {
        let mut times = Times::default();
        for (_, launched) in &self.launches {
            times.add(&launched.times);
        }
        times
    }
}

/// Launches batches, and learns from them: how much room output takes, and whether order matters.
#[derive(Clone)]
pub struct Launcher {
    settings: LaunchSettings,
    /// Words that a job wrote on average, as far as known.
    words_per_job: usize,
    /// Launches until the next look at how many jobs need an exact launch; none are made without order until then.
    exact_for: u32,
}

/// Words of an entry's value, while nothing is known.
const WORDS_OF_VALUE: usize = 96;

/// Words of an entry without its value.
const WORDS_OF_ENTRY: usize = 4;

/// Room for output, in units of what is expected.
const MARGIN: usize = 2;

/// The same for those that had none.
const LARGE_MARGIN: usize = 16;

/// The least room for output: small batches vary more.
const LEAST_OUTPUT: usize = 1 << 20;

/// The most room for output, in words: a gigabyte.
const MOST_OUTPUT: usize = 1 << 28;

/// So many batches are exact from the beginning after one in which most jobs had to be: other programs may follow.
const EXACT_FOR: u32 = 15;

/// How a launch is made.
#[derive(Clone, Copy)]
struct Manner {
    pass: LaunchPass,
    /// Is there more room than usual?
    large: bool,
}

impl Manner {
    /// The flags of the reasons for which a step may be left, with the entries it belongs to: those that no later launch
    /// can change anything about.
    fn leave(self) -> u32 {
        let always = [
            Reason::Size,
            Reason::Fuel,
            Reason::Depth,
            Reason::Missing,
            Reason::Odd,
        ];
        let exact = match self.pass {
            LaunchPass::First => &[][..],
            LaunchPass::Exact => &[Reason::Order, Reason::Faults],
        };
        let large = if self.large {
            &[Reason::Arena][..]
        } else {
            &[]
        };
        let reasons = always.iter().chain(exact).chain(large);
        reasons.fold(0, |flags, reason| {
            flags | 1 << (LEAVE_FROM + *reason as u32)
        })
    }
}

/// Is an exact launch worth trying?
fn needs_order(reason: Reason) -> bool {
    matches!(reason, Reason::Order | Reason::Faults)
}

/// Is one with more room?
fn needs_room(reason: Reason) -> bool {
    matches!(reason, Reason::Arena | Reason::Output | Reason::NotReached)
}

impl Launcher {
    /// A launcher that knows nothing yet but how many entries a job has.
    pub fn new(settings: LaunchSettings, entries: usize) -> Launcher {
        let words = match settings.values {
            true => WORDS_OF_ENTRY + WORDS_OF_VALUE,
            false => WORDS_OF_ENTRY,
        };
        Launcher {
            settings,
            words_per_job: entries.max(1) * words,
            exact_for: 0,
        }
    }

    /// The same for jobs that also say what each of so many steps did.
    #[must_use]
    pub fn with_steps(mut self, steps: usize) -> Launcher {
        self.words_per_job += steps.div_ceil(4);
        self
    }

    /// How many jobs there is room for in one launch, as far as known.
    pub fn most_jobs(&self) -> usize {
        (MOST_OUTPUT / (MARGIN * self.words_per_job)).max(1)
    }

    /// Runs jobs on a device: once, those to whom order mattered once more, and those for whom there was no room again.
    pub fn run(
        &mut self,
        device: &mut dyn Device,
        programs: &Programs,
        inputs: &Inputs,
        jobs: &[JobAt],
    ) -> Result<Done, DeviceError> {
        self.run_and_tell(device, programs, inputs, jobs, |_| {})
    }

    /// The same; what has come of the first launch is shown before the others.
    pub fn run_and_tell(
        &mut self,
        device: &mut dyn Device,
        programs: &Programs,
        inputs: &Inputs,
        jobs: &[JobAt],
        show: impl FnOnce(&Done),
    ) -> Result<Done, DeviceError> {
        let words: Vec<[u32; 4]> = jobs.iter().map(JobAt::words).collect();
        let batch = Sending { programs, inputs };
        let first = Manner {
            pass: match self.exact_for {
                0 => LaunchPass::First,
                _ => LaunchPass::Exact,
            },
            large: false,
        };
        let launched = self.launch(device, &batch, &words, first)?;
        let mut done = Done {
            launches: vec![(first.pass, launched)],
            places: (0..jobs.len() as u32).map(|k| (0, k)).collect(),
            error: None,
            values: self.settings.values,
        };
        self.learn(&done, first);
        show(&done);
        // Jobs that have no room are not tried again before they get more.
        let again = |large| Manner {
            pass: LaunchPass::Exact,
            large,
        };
        let (exact, large) = (again(false), again(true));
        self.retry(device, &batch, &words, &mut done, exact, needs_order);
        self.retry(device, &batch, &words, &mut done, large, needs_room);
        Ok(done)
    }

    /// Looks at the first launch of a batch.
    fn learn(&mut self, done: &Done, manner: Manner) {
        let launched = &done.launches[0].1;
        let jobs = done.len();
        let mut finished = 0;
        let mut unordered = 0;
        for k in 0..jobs {
            match launched.job(k) {
                Ok(_) => finished += 1,
                Err(reason) => unordered += usize::from(needs_order(reason)),
            }
        }
        if finished > 0 && self.settings.values {
            let words = launched.output.len() / finished;
            self.words_per_job = (self.words_per_job / 2).max(words);
        }
        self.exact_for = match manner.pass {
            LaunchPass::First if self.settings.learn && 2 * unordered > jobs => EXACT_FOR,
            _ => self.exact_for.saturating_sub(1),
        };
    }

    /// Launches jobs once more that were left for some reasons.
    fn retry(
        &self,
        device: &mut dyn Device,
        batch: &Sending<'_>,
        jobs: &[[u32; 4]],
        done: &mut Done,
        manner: Manner,
        concerned: impl Fn(Reason) -> bool,
    ) {
        if done.error.is_some() {
            return;
        }
        let left: Vec<usize> = (0..jobs.len())
            .filter(|k| done.job(*k).is_err_and(&concerned))
            .collect();
        if left.is_empty() {
            return;
        }
        let words: Vec<[u32; 4]> = left.iter().map(|k| jobs[*k]).collect();
        match self.launch(device, batch, &words, manner) {
            Ok(launched) => {
                let launch = done.launches.len() as u32;
                for (number, k) in left.into_iter().enumerate() {
                    done.places[k] = (launch, number as u32);
                }
                done.launches.push((manner.pass, launched));
            }
            Err(error) => done.error = Some(error),
        }
    }

    fn launch(
        &self,
        device: &mut dyn Device,
        sending: &Sending<'_>,
        jobs: &[[u32; 4]],
        manner: Manner,
    ) -> Result<Launched, DeviceError> {
        let settings = &self.settings;
        let (arena_bytes, margin) = match manner.large {
            false => (settings.arena_bytes, MARGIN),
            true => (settings.large_arena_bytes, LARGE_MARGIN),
        };
        let words = jobs.len().saturating_mul(self.words_per_job);
        let output_words = words.saturating_mul(margin);
        let mut flags = manner.leave();
        for (wanted, flag) in [
            (settings.values, FULL_VALUES),
            (manner.pass == LaunchPass::Exact, EXACT),
            (settings.ops, TIMED),
        ] {
            flags |= if wanted { flag } else { 0 };
        }
        let order = alike_together(sending, jobs);
        let sorted: Vec<[u32; 4]> = order.iter().map(|&k| jobs[k as usize]).collect();
        let batch = Batch {
            programs: sending.programs.words(),
            programs_id: sending.programs.id(),
            inputs: sending.inputs.words(),
            inputs_id: sending.inputs.id(),
            jobs: sorted.as_flattened(),
            output_words: output_words.clamp(LEAST_OUTPUT, MOST_OUTPUT),
            flags,
            fuel: settings.fuel,
            work: settings.work,
            arena_bytes,
            counters: if settings.ops { 2 * op_count() } else { 0 },
        };
        let mut launched = device.run(&batch)?;
        if launched.results.len() != 4 * jobs.len() || launched.counters.len() != batch.counters {
            return Err(DeviceError::Launch(
                "it gave back another number of results".into(),
            ));
        }
        let rows = launched.results.chunks_exact(4);
        let written = rows.filter(|row| row[0] == 0).map(|row| u64::from(row[2]));
        if written.sum::<u64>() > launched.output.len() as u64 {
            return Err(DeviceError::Launch("it wrote less than it says".into()));
        }
        let mut results = vec![0; launched.results.len()];
        for (result, &k) in launched.results.chunks_exact(4).zip(&order) {
            results[4 * k as usize..][..4].copy_from_slice(result);
        }
        launched.results = results;
        Ok(launched)
    }
}

/// The numbers of the jobs, those that do alike next to one another: the warps of a block take their steps together, so a
/// block is fastest if all do the same for about as long. Programs are alike that call the same primitives one after
/// the other, inputs that are of one size; large ones come first, so that a launch does not end with the longest.
fn alike_together(sending: &Sending<'_>, jobs: &[[u32; 4]]) -> Vec<u32> {
    let (programs, inputs) = (sending.programs, sending.inputs.words());
    // Jobs of one program stand together as they come, and there are fewer programs than jobs.
    let mut groups = Vec::new();
    let mut from = 0;
    for group in jobs.chunk_by(|a, b| a[0] == b[0]) {
        groups.push((programs.calls_at(group[0][0]), from, from + group.len()));
        from += group.len();
    }
    groups.sort_unstable();
    let mut order = Vec::with_capacity(jobs.len());
    let mut alike = Vec::new();
    for groups in groups.chunk_by(|a, b| a.0 == b.0) {
        for k in groups.iter().flat_map(|(_, from, to)| *from..*to) {
            let [program, params, ..] = jobs[k];
            let size = input_size(inputs, params, programs.params_at(program));
            alike.push((Reverse(size), k as u32));
        }
        alike.sort_unstable();
        order.extend(alike.drain(..).map(|(_, k)| k));
    }
    order
}

/// Cells of the largest grid among the parameters of a job.
fn input_size(inputs: &[u32], params: u32, count: usize) -> u32 {
    let list = inputs.iter().skip(params as usize).take(count);
    let cells = |at: &u32| match *inputs.get(*at as usize..)? {
        [head, height, width, ..] if head & 0xff == kind::GRID => Some(height * width),
        _ => None,
    };
    list.filter_map(cells).max().unwrap_or(0)
}

/// What all launches of a batch have in common.
struct Sending<'a> {
    programs: &'a Programs,
    inputs: &'a Inputs,
}

/// How many primitives there are counters for: all, and the one that stands for no primitive.
fn op_count() -> usize {
    batt_dsl::OpId::every().count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that finishes a job by its parameters: 1 needs order, 2 needs room, 3 both, 4 cannot be finished.
    #[derive(Default)]
    struct Picky {
        /// Flags and number of jobs of each launch.
        seen: Vec<(u32, usize)>,
        /// Launches that fail.
        fails: Vec<usize>,
    }

    impl Device for Picky {
        fn name(&self) -> String {
            "picky".to_owned()
        }

        fn memory(&self) -> u64 {
            0
        }

        fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
            let jobs = batch.jobs.len() / 4;
            self.seen.push((batch.flags & 7, jobs));
            if self.fails.contains(&self.seen.len()) {
                return Err(DeviceError::Launch("as told".into()));
            }
            let exact = batch.flags & EXACT != 0;
            let large = batch.arena_bytes == LaunchSettings::default().large_arena_bytes;
            let result = |job: &[u32]| match job[1] {
                1 | 3 if !exact => [1, 0, 0, 0],
                2 | 3 if !large => [3, 0, 0, 0],
                4 => [6, 0, 0, 0],
                _ => [0, 0, 0, 0],
            };
            Ok(Launched {
                results: batch.jobs.chunks(4).flat_map(result).collect(),
                counters: vec![1; batch.counters],
                ..Launched::default()
            })
        }
    }

    fn run(launcher: &mut Launcher, device: &mut Picky, params: &[u32]) -> Done {
        let program = ProgramAt { offset: 0 };
        let jobs: Vec<JobAt> = params.iter().map(|p| JobAt::new(program, *p)).collect();
        let (programs, inputs) = (Programs::new(), Inputs::new());
        launcher
            .run(device, &programs, &inputs, &jobs)
            .expect("the first launch does not fail")
    }

    fn ends(done: &Done) -> Vec<Result<LaunchPass, Reason>> {
        let job = |k| done.job(k).map(|finished| finished.pass);
        (0..done.len()).map(job).collect()
    }

    #[test]
    fn jobs_are_launched_again_until_nothing_helps() {
        let mut device = Picky::default();
        let mut launcher = Launcher::new(LaunchSettings::default(), 1);
        let done = run(&mut launcher, &mut device, &[0, 1, 2, 3, 4, 0, 0]);
        let (first, exact) = (Ok(LaunchPass::First), Ok(LaunchPass::Exact));
        let missing = Err(Reason::Missing);
        assert_eq!(
            ends(&done),
            [first, exact, exact, exact, missing, first, first]
        );
        assert_eq!(device.seen, [(1, 7), (3, 2), (3, 2)]);
    }

    #[test]
    fn what_no_other_launch_changes_is_told_after_the_first() {
        let mut device = Picky::default();
        let mut launcher = Launcher::new(LaunchSettings::default(), 1);
        let (programs, inputs) = (Programs::new(), Inputs::new());
        let job = |params| JobAt::new(ProgramAt { offset: 0 }, params);
        let jobs = [0, 1, 2, 3, 4].map(job);
        let left = |done: &Done| (0..jobs.len()).map(|k| done.left_at_once(k)).collect();
        let mut told: Vec<Option<Reason>> = Vec::new();
        let done = launcher
            .run_and_tell(&mut device, &programs, &inputs, &jobs, |done| {
                told = left(done);
            })
            .expect("no launch fails");
        assert_eq!(told, [None, None, None, None, Some(Reason::Missing)]);
        let after: Vec<Option<Reason>> = left(&done);
        assert_eq!(after, told);
        assert_eq!(device.seen.len(), 3);
    }

    #[test]
    fn a_later_launch_that_fails_leaves_the_others_as_they_were() {
        let mut device = Picky {
            fails: vec![2],
            ..Picky::default()
        };
        let mut launcher = Launcher::new(LaunchSettings::default(), 1);
        let done = run(&mut launcher, &mut device, &[0, 1, 2]);
        let left = [Err(Reason::Order), Err(Reason::Arena)];
        assert_eq!(ends(&done), [Ok(LaunchPass::First), left[0], left[1]]);
        assert!(done.error.is_some());
        assert_eq!(device.seen.len(), 2);
    }

    #[test]
    fn where_order_mostly_matters_launches_begin_exactly() {
        let mut device = Picky::default();
        let mut launcher = Launcher::new(LaunchSettings::default(), 1);
        run(&mut launcher, &mut device, &[1, 1, 0]);
        assert_eq!(device.seen.len(), 2);
        // For a while; then it is found out again.
        for _ in 0..EXACT_FOR {
            device.seen.clear();
            let done = run(&mut launcher, &mut device, &[1, 0, 1]);
            assert_eq!(device.seen, [(3, 3)]);
            assert_eq!(ends(&done), [Ok(LaunchPass::Exact); 3]);
        }
        device.seen.clear();
        run(&mut launcher, &mut device, &[0, 0, 1]);
        assert_eq!(device.seen, [(1, 3), (3, 1)]);
        device.seen.clear();
        run(&mut launcher, &mut device, &[0, 0, 0]);
        assert_eq!(device.seen, [(1, 3)]);
    }
}
