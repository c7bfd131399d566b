//! Every target of the original's five documents, and the measurement that belongs to it.

use super::workloads::Category;

/// A measurement. Several targets may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measurement {
    /// One run of the sample pattern, on a number of demonstrations.
    Pattern(usize),
    /// One run of a batt of five sample patterns, on a number of demonstrations.
    FivePatterns(usize),
    /// One run of a batt of about 650 steps.
    BattOnce,
    /// That batt on as many samples as fit the time, at most 4,000.
    Batt,
    /// That batt on the samples of a number of tasks, in batches of a size.
    Tasks(usize, usize),
    /// That batt on a number of samples.
    Few(usize),
    /// A batt of 32 solvers in batches of several sizes.
    Sizes,
    /// One operation on batches of grids of several sizes.
    OpSizes,
    /// One operation on many grids.
    Op(&'static str),
    /// Operations of one category, as many as in a batt, on many grids.
    Ops(Category),
    /// Four codes of `o_g` in one program, and in one program each.
    Codes,
    /// One operation on one grid.
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
    /// Two logical devices on one device.
    TwoDevices,
    /// Primitives with a device body, and the share of runs finished on the device.
    Coverage,
    /// Whether all compared results are the same.
    Compared,
    /// The share of `o_g` in the time of the batt.
    ShareOfObjects,
    /// How often the batt calls some operations.
    Calls,
    /// The name of the device.
    Device,
    /// Measured by `batt-bench soak`.
    Soak,
    /// A setting of the original, with nothing to measure.
    Setting,
}

impl Measurement {
    /// Returns its share of the time, relative to the others. Some measurements have several parts;
    /// some need no time.
    pub fn weight(self) -> u32 {
        match self {
            Measurement::Batt | Measurement::Sizes => 8,
            Measurement::OpSizes => 3,
            Measurement::TwoDevices => 4,
            Measurement::Opening
            | Measurement::Memory
            | Measurement::Coverage
            | Measurement::Compared
            | Measurement::Calls
            | Measurement::Device
            | Measurement::Soak
            | Measurement::Setting => 0,
            _ => 1,
        }
    }
}

/// The unit in which a target states a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The whole measurement.
    Whole,
    /// One sample.
    PerSample,
    /// A number of samples, scaled from the samples measured.
    Samples(usize),
    /// One step on one sample.
    PerStep,
}

/// A target that the original published.
pub struct Target {
    /// The document, A to E.
    pub doc: &'static str,
    pub name: &'static str,
    /// The figure, as published.
    pub published: &'static str,
    pub what: Measurement,
    pub view: View,
}

const fn whole(
    doc: &'static str,
    name: &'static str,
    published: &'static str,
    what: Measurement,
) -> Target {
    Target {
        doc,
        name,
        published,
        what,
        view: View::Whole,
    }
}

const fn viewed(view: View, target: Target) -> Target {
    Target { view, ..target }
}

/// All targets, in the order of the documents.
pub const TARGETS: &[Target] = &[
    viewed(
        View::PerSample,
        whole(
            "A",
            "time per sample",
            "4.63 ms on the CPU, 0.77 to 0.96 ms aimed at",
            Measurement::Batt,
        ),
    ),
    whole(
        "A",
        "speedup",
        "4.8 to 6 times at least, 9 hoped for",
        Measurement::Batt,
    ),
    viewed(
        View::Samples(4000),
        whole(
            "A",
            "4,000 samples",
            "18.5 s on the CPU; 3.8, 3.1, 2.0 s (conservative, likely, optimistic)",
            Measurement::Batt,
        ),
    ),
    whole(
        "A",
        "correctness",
        "100 % identical to the CPU, fallback works, no crashes",
        Measurement::Compared,
    ),
    whole(
        "A",
        "share of `o_g` in the time",
        "75 to 92 %",
        Measurement::ShareOfObjects,
    ),
    whole(
        "A",
        "`o_g` in batches",
        "3 to 8 times",
        Measurement::Op("o_g"),
    ),
    whole("A", "CPU below", "10 items", Measurement::OpSizes),
    whole("A", "default batch", "1,000", Measurement::Sizes),
    whole(
        "A",
        "profiling",
        "first 100 inputs, top 50 functions",
        Measurement::Setting,
    ),
    whole(
        "A",
        "10 tasks, batches of 50",
        "size only",
        Measurement::Tasks(10, 50),
    ),
    whole(
        "A",
        "50 tasks, batches of 200",
        "size only",
        Measurement::Tasks(50, 200),
    ),
    whole(
        "A",
        "200 tasks, batches of 1,000",
        "size only",
        Measurement::Tasks(200, 1000),
    ),
    whole(
        "A",
        "20 tasks, batches of 100",
        "100 % correct",
        Measurement::Tasks(20, 100),
    ),
    whole(
        "A",
        "best batch of one GPU; several from",
        "200; 120 samples",
        Measurement::Sizes,
    ),
    whole("A", "warm-up", "800 ms", Measurement::Opening),
    whole(
        "A",
        "grid batches",
        "10 to 35 times",
        Measurement::Ops(Category::Grid),
    ),
    whole("A", "devices", "L4 x 4, T4 x 2, P100", Measurement::Device),
    whole(
        "B",
        "speedup on four L4",
        "10 to 35 times",
        Measurement::TwoDevices,
    ),
    whole(
        "B",
        "sample pattern, 3 samples",
        "0.35 ms on the CPU, 0.04 on one L4 (8 times), 0.02 on four (17 times)",
        Measurement::Pattern(3),
    ),
    whole(
        "B",
        "sample pattern, 10 samples",
        "6.53 ms, 0.65 (10 times), 0.19 (34 times)",
        Measurement::Pattern(10),
    ),
    whole(
        "B",
        "sample pattern, 50 samples",
        "74.49 ms, 2.5 (30 times), 0.71 (105 times)",
        Measurement::Pattern(50),
    ),
    whole(
        "B",
        "sample pattern, 200 samples",
        "114.33 ms, 3.3 (35 times)",
        Measurement::Pattern(200),
    ),
    whole(
        "B",
        "whole batt of 5 patterns, 3 samples a task",
        "2 ms, 0.2 (10 times), 0.1 (20 times)",
        Measurement::FivePatterns(3),
    ),
    whole(
        "B",
        "whole batt of 5 patterns, 10 samples a task",
        "33 ms, 3.3 (10 times), 0.95 (35 times)",
        Measurement::FivePatterns(10),
    ),
    whole(
        "B",
        "whole batt of 5 patterns, 50 samples a task",
        "372 ms, 12.5 (30 times), 3.6 (103 times)",
        Measurement::FivePatterns(50),
    ),
    whole(
        "B",
        "four `o_g` codes on one grid in one call",
        "3 to 4 times",
        Measurement::Codes,
    ),
    whole(
        "B",
        "patterns and `mapply` in a batt; samples of a task",
        "5 and 10 or more; 3 to 10",
        Measurement::Calls,
    ),
    whole(
        "B",
        "GPU from; several GPUs from",
        "3 samples; 120 samples",
        Measurement::Sizes,
    ),
    whole("B", "operations covered", "80 %", Measurement::Coverage),
    whole("B", "GPU memory used", "below 80 %", Measurement::Memory),
    whole("B", "correctness", "100 %", Measurement::Compared),
    whole(
        "C",
        "option 1, calls replaced one by one",
        "2 to 4 times",
        Measurement::Single,
    ),
    whole(
        "C",
        "option 2, one operation on a batch",
        "5 to 10 times",
        Measurement::Grids80,
    ),
    whole(
        "C",
        "option 3, whole programs on a batch",
        "10 to 15 times",
        Measurement::Grids80Ten,
    ),
    whole(
        "C",
        "option 4, parallel on the CPU",
        "3 to 4 times with 4 workers",
        Measurement::Batt,
    ),
    whole(
        "C",
        "small operation",
        "transfer 0.1 to 0.5 ms each way, kernel 0.05, total 0.25 to 1.0; 0.1 ms on the CPU",
        Measurement::Single,
    ),
    whole(
        "C",
        "option 1 wins above",
        "100 grids",
        Measurement::OpSizes,
    ),
    whole(
        "C",
        "80 grids in one batch",
        "8 ms on the CPU, 1.2 ms (0.5 + 0.2 + 0.5), 6.7 times",
        Measurement::Grids80,
    ),
    whole(
        "C",
        "80 grids, 10 operations",
        "80 ms on the CPU, 3 ms (0.5 + 2 + 0.5), 26.7 times",
        Measurement::Grids80Ten,
    ),
    whole("C", "buffer of operations", "10", Measurement::Setting),
    whole(
        "C",
        "milestones",
        "2 to 4, 5 to 7, 7 to 12 times",
        Measurement::Batt,
    ),
    whole(
        "C",
        "test workload, 20 tasks of 4 samples",
        "size only",
        Measurement::Few(80),
    ),
    whole(
        "D",
        "a batt of 650 steps",
        "200 to 300 ms on the CPU, 80 to 150 ms, 2 to 4 times",
        Measurement::BattOnce,
    ),
    viewed(
        View::PerStep,
        whole(
            "D",
            "one step",
            "0.3 to 0.5 ms on the CPU, 0.1 to 0.2 ms, 2 to 3 times; hot ones 1 to 5 ms, 0.3 to 1 ms",
            Measurement::Batt,
        ),
    ),
    whole(
        "D",
        "transfers",
        "1 to 2 ms before, 1 ms after, once each",
        Measurement::BattOnce,
    ),
    whole(
        "D",
        "grid operations, 40 calls",
        "30 to 50 ms on the CPU, 8 to 15 ms, 3 to 4 times",
        Measurement::Ops(Category::Grid),
    ),
    whole(
        "D",
        "set operations, 100 calls",
        "40 to 60 ms, 20 to 30 ms, 2 times",
        Measurement::Ops(Category::Set),
    ),
    whole(
        "D",
        "colour operations, 50 calls",
        "20 to 30 ms, 10 to 15 ms, 2 times",
        Measurement::Ops(Category::Color),
    ),
    whole(
        "D",
        "simple operations, 400 calls",
        "80 to 100 ms, the same, 1 time",
        Measurement::Ops(Category::Simple),
    ),
    whole(
        "D",
        "calls in a batt",
        "`o_g` 30, `difference` 100, `mapply` 50 or more",
        Measurement::Calls,
    ),
    whole(
        "D",
        "hot data",
        "used more than 2 times",
        Measurement::Setting,
    ),
    whole(
        "D",
        "success",
        "2 times at least, 3 aimed at, 4 hoped for; 100 % equality",
        Measurement::Batt,
    ),
    whole("D", "memory overhead", "below 5 %", Measurement::Memory),
    whole(
        "D",
        "a single `fgpartition` (known failure)",
        "23 times slower",
        Measurement::Single,
    ),
    whole("D", "launch", "no figure", Measurement::Launch),
    whole(
        "D",
        "validation",
        "100 different batts, no leaks in long runs",
        Measurement::Soak,
    ),
    whole(
        "D",
        "priority 1: `o_g`",
        "no figure",
        Measurement::Op("o_g"),
    ),
    whole(
        "D",
        "priority 1: `p_g`",
        "no figure",
        Measurement::Op("p_g"),
    ),
    whole(
        "D",
        "priority 1: `fgpartition`",
        "no figure",
        Measurement::Op("fgpartition"),
    ),
    whole(
        "D",
        "priority 2: `difference`",
        "no figure",
        Measurement::Op("difference"),
    ),
    whole(
        "D",
        "priority 2: `difference_tuple`",
        "no figure",
        Measurement::Op("difference_tuple"),
    ),
    whole(
        "D",
        "priority 2: `mapply`",
        "no figure",
        Measurement::Op("mapply"),
    ),
    whole(
        "D",
        "priority 2: `apply`",
        "no figure",
        Measurement::Op("apply"),
    ),
    whole(
        "D",
        "priority 3: `f_ofcolor`",
        "no figure",
        Measurement::Op("f_ofcolor"),
    ),
    whole(
        "D",
        "priority 3: `colorfilter`",
        "no figure",
        Measurement::Op("colorfilter"),
    ),
    whole(
        "D",
        "priority 3: `replace`",
        "no figure",
        Measurement::Op("replace"),
    ),
    whole(
        "D",
        "priority 3: `fill`",
        "no figure",
        Measurement::Op("fill"),
    ),
    whole(
        "E",
        "5 samples",
        "127 ms sequential, 34 ms on 4 workers (3.78 times), 29 ms (4.38 times)",
        Measurement::Few(5),
    ),
    whole(
        "E",
        "with GPU tier 1, tier 2, full",
        "7 to 12, 10 to 15, 15 to 30 times",
        Measurement::Batt,
    ),
    whole("E", "`o_g`", "2.3 to 7.8 times", Measurement::Op("o_g")),
    whole("E", "`mapply`", "5 to 10 times", Measurement::Op("mapply")),
    whole("E", "`apply`", "3 to 5 times", Measurement::Op("apply")),
    whole(
        "E",
        "`fill`",
        "a further 1.3 to 1.5 times, with `colorfilter`",
        Measurement::Op("fill"),
    ),
    whole(
        "E",
        "`colorfilter`",
        "a further 1.3 to 1.5 times, with `fill`",
        Measurement::Op("colorfilter"),
    ),
    whole(
        "E",
        "on top of parallel workers",
        "2 to 3 times",
        Measurement::Batt,
    ),
    whole(
        "E",
        "CPU below; workers",
        "5 samples; 4",
        Measurement::Sizes,
    ),
    whole(
        "E",
        "conservative chain",
        "3.8, 7.6, 10, 12 times",
        Measurement::Batt,
    ),
    whole(
        "E",
        "optimistic chain",
        "3.8, 11.4, 17, 25 times",
        Measurement::Batt,
    ),
    whole(
        "E",
        "optimisation step",
        "4.8 to 5.5 times overall",
        Measurement::Batt,
    ),
];

/// Returns every measurement that a target needs, once.
pub fn measurements() -> Vec<Measurement> {
    let mut all: Vec<Measurement> = TARGETS.iter().map(|target| target.what).collect();
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
            if let Measurement::Op(name) = what {
                assert!(Op::named(name).is_some(), "{name}");
            }
        }
    }
}
