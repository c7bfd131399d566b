//! The programs that are measured in addition to solvers.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use batt_dsl::Dialect;
use batt_engine::Compiled;
use batt_lang::{Batt, BattFile, SolverFile};

use super::harness::Subject;
use crate::mega::targets::PATTERN;

/// A kind of operation, as the original's documents group them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    Grid,
    Set,
    Color,
    Simple,
}

/// A program of one operation, with the calls that make its arguments.
pub struct Op {
    pub name: &'static str,
    body: &'static [&'static str],
}

/// The operations that the original's documents name. The last step of each is the operation; the
/// steps before it make its arguments.
pub const OPS: [Op; 11] = [
    op("o_g", &["o_g(I, R5)"]),
    op("p_g", &["p_g(I)"]),
    op("fgpartition", &["fgpartition(I)"]),
    op(
        "difference",
        &["asindices(I)", "f_ofcolor(I, ZERO)", "difference(x1, x2)"],
    ),
    op(
        "difference_tuple",
        &["first(I)", "last(I)", "difference_tuple(x1, x2)"],
    ),
    op("mapply", &["o_g(I, R5)", "mapply(toindices, x1)"]),
    op("apply", &["o_g(I, R5)", "apply(size, x1)"]),
    op("f_ofcolor", &["f_ofcolor(I, ZERO)"]),
    op("colorfilter", &["o_g(I, R5)", "colorfilter(x1, ONE)"]),
    op("replace", &["replace(I, ZERO, ONE)"]),
    op("fill", &["f_ofcolor(I, ZERO)", "fill(I, ONE, x1)"]),
];

const fn op(name: &'static str, body: &'static [&'static str]) -> Op {
    Op { name, body }
}

impl Op {
    /// Returns the operation with this name.
    pub fn named(name: &str) -> Option<&'static Op> {
        OPS.iter().find(|op| op.name == name)
    }

    /// Returns the calls that make its arguments, if there are any.
    pub fn setup(&self) -> Option<String> {
        let calls = &self.body[..self.body.len() - 1];
        (!calls.is_empty()).then(|| calls.join(", "))
    }

    pub fn program(&self) -> Result<Programs> {
        Programs::of(&[self.body], Dialect::Tokpidjin)
    }
}

/// Compiled programs.
pub struct Programs {
    pub subject: Subject,
    /// The total number of steps.
    pub steps: usize,
}

impl Programs {
    /// Compiles programs given by the calls of their steps. Step `k` is named `xk`.
    pub fn of<T: AsRef<str>>(bodies: &[&[T]], dialect: Dialect) -> Result<Programs> {
        let mut text = String::new();
        for (k, body) in bodies.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "def solve_{k}(I):");
            for (step, call) in body.iter().enumerate() {
                let _ = writeln!(text, "    x{} = {}", step + 1, call.as_ref());
            }
            let _ = writeln!(text, "    return x{}\n", body.len());
        }
        let file = SolverFile::parse_in(&text, "bench", Some(dialect));
        let whole = file.is_clean() && file.programs.len() == bodies.len();
        let found = || file.diagnostics.first().map(|d| d.render());
        whole
            .then(|| Programs {
                steps: file.programs.iter().map(|p| p.steps().len()).sum(),
                subject: Subject::Programs(file.programs.iter().map(Compiled::new).collect()),
            })
            .with_context(|| format!("internal error: {:?} in\n{text}", found()))
    }
}

/// Returns a program that does almost nothing, so that its time is that of the launch.
pub fn identity() -> Result<Programs> {
    Programs::of(&[&["identity(I)"]], Dialect::Tokpidjin)
}

/// Returns four codes of `o_g` in one program, and in one program each.
pub fn codes() -> Result<[Programs; 2]> {
    let codes = ["R1", "R3", "R5", "R7"].map(|code| format!("o_g(I, {code})"));
    let mut together = codes.to_vec();
    for call in ["combine(x1, x2)", "combine(x3, x4)", "combine(x5, x6)"] {
        together.push(call.to_owned());
    }
    let alone: Vec<&[String]> = codes.chunks(1).collect();
    Ok([
        Programs::of(&[&together], Dialect::Tokpidjin)?,
        Programs::of(&alone, Dialect::Tokpidjin)?,
    ])
}

/// Returns a program of ten operations on a grid, one after the other.
pub fn ten() -> Result<Programs> {
    let calls = [
        "rot90(I)",
        "hmirror(x1)",
        "replace(x2, ZERO, FIVE)",
        "dmirror(x3)",
        "fgpartition(x4)",
        "merge(x5)",
        "fill(x4, ONE, x6)",
        "vmirror(x7)",
        "ofcolor(x8, FIVE)",
        "paint(x8, x6)",
    ];
    Programs::of(&[&calls], Dialect::ArcDsl)
}

impl Category {
    /// Returns a program with as many calls as the original's documents count in a batt.
    pub fn program(self) -> Result<Programs> {
        let mut calls: Vec<String> = Vec::new();
        // The argument of the next call: the latest step.
        let last = |calls: &[String]| match calls.len() {
            0 => "I".to_owned(),
            n => format!("x{n}"),
        };
        match self {
            Category::Grid => {
                let all = [
                    "rot90", "hmirror", "vmirror", "dmirror", "cmirror", "rot180",
                ];
                for _ in 0..5 {
                    for name in all {
                        calls.push(format!("{name}({})", last(&calls)));
                    }
                    for name in ["upscale", "downscale"] {
                        calls.push(format!("{name}({}, TWO)", last(&calls)));
                    }
                }
            }
            Category::Set => {
                calls.extend(["ofcolor(I, ZERO)".to_owned(), "asindices(I)".to_owned()]);
                for _ in 0..25 {
                    calls.push(format!("difference({}, x1)", last(&calls)));
                    calls.push(format!("combine({}, x1)", last(&calls)));
                    calls.push(format!("intersection({}, x2)", last(&calls)));
                    calls.push(format!("insert(ORIGIN, {})", last(&calls)));
                }
            }
            Category::Color => {
                for _ in 0..9 {
                    let grid = last(&calls);
                    let at = calls.len();
                    calls.push(format!("mostcolor({grid})"));
                    calls.push(format!("leastcolor({grid})"));
                    calls.push(format!("switch({grid}, x{}, x{})", at + 1, at + 2));
                    calls.push(format!("palette(x{})", at + 3));
                    calls.push(format!("maximum(x{})", at + 4));
                    calls.push(format!("switch(x{}, x{}, x{})", at + 3, at + 5, at + 2));
                }
            }
            Category::Simple => {
                calls.push("height(I)".to_owned());
                for _ in 0..100 {
                    for name in ["increment", "double", "decrement", "halve"] {
                        calls.push(format!("{name}({})", last(&calls)));
                    }
                }
            }
        }
        Programs::of(&[&calls], Dialect::ArcDsl)
    }
}

/// Returns a batt that holds the sample pattern once or several times.
pub fn patterns(times: usize) -> Result<Batt> {
    let text = match times {
        1 => PATTERN.to_owned(),
        _ => repeated(times),
    };
    let file = BattFile::parse(&text, "pattern", Some(Dialect::Tokpidjin));
    let batt = file.batts.into_iter().next();
    batt.context("internal error: the sample pattern")
}

fn repeated(times: usize) -> String {
    let mut text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n".to_owned();
    for k in 0..times {
        let at = 4 * k;
        let (t1, t2, t3, t4) = (at + 1, at + 2, at + 3, at + 4);
        for line in [
            format!("t{t1} = apply(first, S)"),
            format!("t{t2} = apply(second, S)"),
            format!("t{t3} = mapply(p_g, t{t1})"),
            format!("t{t4} = mapply(p_g, t{t2})"),
            format!("o.append(({t3}, False, 'inputs{k}', t{t3}))"),
            format!("o.append(({t4}, False, 'outputs{k}', t{t4}))"),
        ] {
            let _ = writeln!(text, "    {line}");
        }
    }
    text.push_str("    return o, s\n");
    text
}

#[cfg(test)]
mod tests {
    use batt_dsl::{Limits, Workspace};
    use batt_engine::{Job, judge_job};

    use super::*;
    use crate::corpus::Corpus;

    /// A program that fails on most grids would time the failure.
    #[test]
    fn programs_have_values_on_nearly_all_grids() {
        let corpus = Corpus::load(&[], None, None).unwrap();
        let mut all: Vec<(String, Programs)> = OPS
            .iter()
            .map(|op| (op.name.to_owned(), op.program().unwrap()))
            .collect();
        use Category::{Color, Grid, Set, Simple};
        for category in [Grid, Set, Color, Simple] {
            all.push((format!("{category:?}"), category.program().unwrap()));
        }
        let [together, alone] = codes().unwrap();
        all.push(("together".into(), together));
        all.push(("alone".into(), alone));
        all.push(("ten".into(), ten().unwrap()));
        all.push(("identity".into(), identity().unwrap()));
        let mut workspace = Workspace::new();
        for (name, found) in &all {
            let Subject::Programs(programs) = &found.subject else {
                panic!("{name} is no program");
            };
            let (mut values, mut runs) = (0, 0);
            for program in programs {
                for sample in corpus.samples() {
                    let job = Job { program, sample };
                    let score = judge_job(&mut workspace, &job, &Limits::default());
                    values += usize::from(score.hash.is_some());
                    runs += 1;
                }
            }
            assert!(values * 10 > runs * 9, "{name}: {values} of {runs}");
        }
    }

    #[test]
    fn programs_have_the_published_number_of_steps() {
        let steps = |category: Category| category.program().unwrap().steps;
        assert_eq!(steps(Category::Grid), 40);
        assert_eq!(steps(Category::Set), 102);
        assert_eq!(steps(Category::Color), 54);
        assert_eq!(steps(Category::Simple), 401);
        assert_eq!(ten().unwrap().steps, 10);
        assert_eq!(patterns(1).unwrap().program.steps().len(), 4);
        assert_eq!(patterns(5).unwrap().program.steps().len(), 20);
    }
}
