//! Every target of the original's five documents, and which measurement belongs to it.

use super::workloads::Category;

/// A measurement. Several targets may ask for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// Colours out of so many demonstrations, in one run.
    Pattern(usize),
    /// The same five times in a batt.
    FivePatterns(usize),
    /// One run of a batt of about 650 steps.
    BattOnce,
    /// That batt on as many samples as there is time for, 4,000 at the most.
    Batt,
    /// On the samples of so many tasks, in batches of a size.
    Tasks(usize, usize),
    /// On so many samples.
    Few(usize),
    /// A batt of 32 solvers on few and many samples.
    Sizes,
    /// One operation on few and many grids.
    OpSizes,
    /// One operation on many grids.
    Op(&'static str),
    /// Operations of a kind, as many as in a batt, on many grids.
    Ops(Category),
    /// Four codes of `o_g` in one program and in one each.
    Codes,
    /// A single operation on a single grid.
    Single,
    /// One operation on 80 grids.
    Grids80,
    /// Ten operations on 80 grids.
    Grids80Ten,
    /// A program that does nothing, on one grid.
    Launch,
    /// Opening the device.
    Opening,
    /// Memory of the device in use.
    Memory,
    /// Two logical devices on a device.
    TwoDevices,
    /// Primitives with a device body, and the share of runs finished on the device.
    Coverage,
    /// All results that were compared.
    Compared,
    /// The share of `o_g` in the time of the batt.
    ShareOfObjects,
    /// Calls in the batt.
    Calls,
    /// The device.
    Device,
    /// Measured by `batt-bench soak`.
    Soak,
    /// A setting of the original's: nothing to measure.
    Setting,
}

impl What {
    /// How much of the time it gets: most are one measurement, some are several, some need none.
    pub fn weight(self) -> u32 {
        match self {
            What::Batt | What::Sizes => 8,
            What::OpSizes => 3,
            What::TwoDevices => 4,
            What::Opening
            | What::Memory
            | What::Coverage
            | What::Compared
            | What::Calls
            | What::Device
            | What::Soak
            | What::Setting => 0,
            _ => 1,
        }
    }
}

/// How a measurement is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// As it is.
    Whole,
    /// Of one sample.
    PerSample,
    /// Of so many samples, whatever was measured.
    Samples(usize),
    /// Of one step on one sample.
    PerStep,
}

/// A target.
pub struct Target {
    /// The document, A to E.
    pub doc: &'static str,
    pub name: &'static str,
    /// The number, as published.
    pub published: &'static str,
    pub what: What,
    pub view: View,
}

const fn whole(
    doc: &'static str,
    name: &'static str,
    published: &'static str,
    what: What,
) -> Target {
    Target {
        doc,
        name,
        published,
        what,
        view: View::Whole,
    }
}

const fn seen(view: View, target: Target) -> Target {
    Target { view, ..target }
}

/// All of them, in the order of the documents.
pub const TARGETS: &[Target] = &[
    seen(
        View::PerSample,
        whole(
            "A",
            "time per sample",
            "4.63 ms on the CPU, 0.77 to 0.96 ms aimed at",
            What::Batt,
        ),
    ),
    whole(
        "A",
        "speedup",
        "4.8 to 6 times at least, 9 hoped for",
        What::Batt,
    ),
    seen(
        View::Samples(4000),
        whole(
            "A",
            "4,000 samples",
            "18.5 s on the CPU; 3.8, 3.1, 2.0 s (conservative, likely, optimistic)",
            What::Batt,
        ),
    ),
    whole(
        "A",
        "correctness",
        "100 % identical to the CPU, fallback works, no crashes",
        What::Compared,
    ),
    whole(
        "A",
        "share of `o_g` in the time",
        "75 to 92 %",
        What::ShareOfObjects,
    ),
    whole("A", "`o_g` in batches", "3 to 8 times", What::Op("o_g")),
    whole("A", "CPU below", "10 items", What::OpSizes),
    whole("A", "default batch", "1,000", What::Sizes),
    whole(
        "A",
        "profiling",
        "first 100 inputs, top 50 functions",
        What::Setting,
    ),
    whole(
        "A",
        "10 tasks, batches of 50",
        "size only",
        What::Tasks(10, 50),
    ),
    whole(
        "A",
        "50 tasks, batches of 200",
        "size only",
        What::Tasks(50, 200),
    ),
    whole(
        "A",
        "200 tasks, batches of 1,000",
        "size only",
        What::Tasks(200, 1000),
    ),
    whole(
        "A",
        "20 tasks, batches of 100",
        "100 % correct",
        What::Tasks(20, 100),
    ),
    whole(
        "A",
        "best batch of one GPU; several from",
        "200; 120 samples",
        What::Sizes,
    ),
    whole("A", "warm-up", "800 ms", What::Opening),
    whole(
        "A",
        "grid batches",
        "10 to 35 times",
        What::Ops(Category::Grid),
    ),
    whole("A", "devices", "L4 x 4, T4 x 2, P100", What::Device),
    whole(
        "B",
        "speedup on four L4",
        "10 to 35 times",
        What::TwoDevices,
    ),
    whole(
        "B",
        "sample pattern, 3 samples",
        "0.35 ms on the CPU, 0.04 on one L4 (8 times), 0.02 on four (17 times)",
        What::Pattern(3),
    ),
    whole(
        "B",
        "sample pattern, 10 samples",
        "6.53 ms, 0.65 (10 times), 0.19 (34 times)",
        What::Pattern(10),
    ),
    whole(
        "B",
        "sample pattern, 50 samples",
        "74.49 ms, 2.5 (30 times), 0.71 (105 times)",
        What::Pattern(50),
    ),
    whole(
        "B",
        "sample pattern, 200 samples",
        "114.33 ms, 3.3 (35 times)",
        What::Pattern(200),
    ),
    whole(
        "B",
        "whole batt of 5 patterns, 3 samples a task",
        "2 ms, 0.2 (10 times), 0.1 (20 times)",
        What::FivePatterns(3),
    ),
    whole(
        "B",
        "whole batt of 5 patterns, 10 samples a task",
        "33 ms, 3.3 (10 times), 0.95 (35 times)",
        What::FivePatterns(10),
    ),
    whole(
        "B",
        "whole batt of 5 patterns, 50 samples a task",
        "372 ms, 12.5 (30 times), 3.6 (103 times)",
        What::FivePatterns(50),
    ),
    whole(
        "B",
        "four `o_g` codes on one grid in one call",
        "3 to 4 times",
        What::Codes,
    ),
    whole(
        "B",
        "patterns and `mapply` in a batt; samples of a task",
        "5 and 10 or more; 3 to 10",
        What::Calls,
    ),
    whole(
        "B",
        "GPU from; several GPUs from",
        "3 samples; 120 samples",
        What::Sizes,
    ),
    whole("B", "operations covered", "80 %", What::Coverage),
    whole("B", "GPU memory used", "below 80 %", What::Memory),
    whole("B", "correctness", "100 %", What::Compared),
    whole(
        "C",
        "option 1, calls replaced one by one",
        "2 to 4 times",
        What::Single,
    ),
    whole(
        "C",
        "option 2, one operation on a batch",
        "5 to 10 times",
        What::Grids80,
    ),
    whole(
        "C",
        "option 3, whole programs on a batch",
        "10 to 15 times",
        What::Grids80Ten,
    ),
    whole(
        "C",
        "option 4, parallel on the CPU",
        "3 to 4 times with 4 workers",
        What::Batt,
    ),
    whole(
        "C",
        "small operation",
        "transfer 0.1 to 0.5 ms each way, kernel 0.05, total 0.25 to 1.0; 0.1 ms on the CPU",
        What::Single,
    ),
    whole("C", "option 1 wins above", "100 grids", What::OpSizes),
    whole(
        "C",
        "80 grids in one batch",
        "8 ms on the CPU, 1.2 ms (0.5 + 0.2 + 0.5), 6.7 times",
        What::Grids80,
    ),
    whole(
        "C",
        "80 grids, 10 operations",
        "80 ms on the CPU, 3 ms (0.5 + 2 + 0.5), 26.7 times",
        What::Grids80Ten,
    ),
    whole("C", "buffer of operations", "10", What::Setting),
    whole(
        "C",
        "milestones",
        "2 to 4, 5 to 7, 7 to 12 times",
        What::Batt,
    ),
    whole(
        "C",
        "test workload, 20 tasks of 4 samples",
        "size only",
        What::Few(80),
    ),
    whole(
        "D",
        "a batt of 650 steps",
        "200 to 300 ms on the CPU, 80 to 150 ms, 2 to 4 times",
        What::BattOnce,
    ),
    seen(
        View::PerStep,
        whole(
            "D",
            "one step",
            "0.3 to 0.5 ms on the CPU, 0.1 to 0.2 ms, 2 to 3 times; hot ones 1 to 5 ms, 0.3 to 1 ms",
            What::Batt,
        ),
    ),
    whole(
        "D",
        "transfers",
        "1 to 2 ms before, 1 ms after, once each",
        What::BattOnce,
    ),
    whole(
        "D",
        "grid operations, 40 calls",
        "30 to 50 ms on the CPU, 8 to 15 ms, 3 to 4 times",
        What::Ops(Category::Grid),
    ),
    whole(
        "D",
        "set operations, 100 calls",
        "40 to 60 ms, 20 to 30 ms, 2 times",
        What::Ops(Category::Set),
    ),
    whole(
        "D",
        "colour operations, 50 calls",
        "20 to 30 ms, 10 to 15 ms, 2 times",
        What::Ops(Category::Color),
    ),
    whole(
        "D",
        "simple operations, 400 calls",
        "80 to 100 ms, the same, 1 time",
        What::Ops(Category::Simple),
    ),
    whole(
        "D",
        "calls in a batt",
        "`o_g` 30, `difference` 100, `mapply` 50 or more",
        What::Calls,
    ),
    whole("D", "hot data", "used more than 2 times", What::Setting),
    whole(
        "D",
        "success",
        "2 times at least, 3 aimed at, 4 hoped for; 100 % equality",
        What::Batt,
    ),
    whole("D", "memory overhead", "below 5 %", What::Memory),
    whole(
        "D",
        "a single `fgpartition` (known failure)",
        "23 times slower",
        What::Single,
    ),
    whole("D", "launch", "no figure", What::Launch),
    whole(
        "D",
        "validation",
        "100 different batts, no leaks in long runs",
        What::Soak,
    ),
    whole("D", "priority 1: `o_g`", "no figure", What::Op("o_g")),
    whole("D", "priority 1: `p_g`", "no figure", What::Op("p_g")),
    whole(
        "D",
        "priority 1: `fgpartition`",
        "no figure",
        What::Op("fgpartition"),
    ),
    whole(
        "D",
        "priority 2: `difference`",
        "no figure",
        What::Op("difference"),
    ),
    whole(
        "D",
        "priority 2: `difference_tuple`",
        "no figure",
        What::Op("difference_tuple"),
    ),
    whole("D", "priority 2: `mapply`", "no figure", What::Op("mapply")),
    whole("D", "priority 2: `apply`", "no figure", What::Op("apply")),
    whole(
        "D",
        "priority 3: `f_ofcolor`",
        "no figure",
        What::Op("f_ofcolor"),
    ),
    whole(
        "D",
        "priority 3: `colorfilter`",
        "no figure",
        What::Op("colorfilter"),
    ),
    whole(
        "D",
        "priority 3: `replace`",
        "no figure",
        What::Op("replace"),
    ),
    whole("D", "priority 3: `fill`", "no figure", What::Op("fill")),
    whole(
        "E",
        "5 samples",
        "127 ms sequential, 34 ms on 4 workers (3.78 times), 29 ms (4.38 times)",
        What::Few(5),
    ),
    whole(
        "E",
        "with GPU tier 1, tier 2, full",
        "7 to 12, 10 to 15, 15 to 30 times",
        What::Batt,
    ),
    whole("E", "`o_g`", "2.3 to 7.8 times", What::Op("o_g")),
    whole("E", "`mapply`", "5 to 10 times", What::Op("mapply")),
    whole("E", "`apply`", "3 to 5 times", What::Op("apply")),
    whole(
        "E",
        "`fill`",
        "a further 1.3 to 1.5 times, with `colorfilter`",
        What::Op("fill"),
    ),
    whole(
        "E",
        "`colorfilter`",
        "a further 1.3 to 1.5 times, with `fill`",
        What::Op("colorfilter"),
    ),
    whole(
        "E",
        "on top of parallel workers",
        "2 to 3 times",
        What::Batt,
    ),
    whole("E", "CPU below; workers", "5 samples; 4", What::Sizes),
    whole(
        "E",
        "conservative chain",
        "3.8, 7.6, 10, 12 times",
        What::Batt,
    ),
    whole(
        "E",
        "optimistic chain",
        "3.8, 11.4, 17, 25 times",
        What::Batt,
    ),
    whole(
        "E",
        "optimisation step",
        "4.8 to 5.5 times overall",
        What::Batt,
    ),
];

/// Every measurement that a target asks for, once.
pub fn measurements() -> Vec<What> {
    let mut all: Vec<What> = TARGETS.iter().map(|target| target.what).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::super::workloads::Op;
    use super::*;

    #[test]
    fn every_operation_is_known() {
        for what in measurements() {
            if let What::Op(name) = what {
                assert!(Op::named(name).is_some(), "{name}");
            }
        }
    }
}
