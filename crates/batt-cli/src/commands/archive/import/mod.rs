//! `batt archive import`: solvers from files, tried on their tasks.

mod original;
mod trials;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_arc::{Dataset, Task};
use batt_archive::{Archive, Found, Kept, RunInfo};
use batt_engine::ParamRole;
use batt_evolve::Trial;
use batt_lang::card::canonical;
use batt_lang::{Program, SolverFile};
use clap::{ArgGroup, Args};
use serde_json::json;

use self::trials::try_all;
use super::Keep;
use crate::cli::{DialectName, Exit};
use crate::commands::evolve::stored;
use crate::error::{advised, bad_archive};
use crate::interrupt;
use crate::solvers::{load_all, load_tasks, task_of};
use crate::ui::{Ui, counted, grouped, stdout};

/// Take solvers in from files
#[derive(Args)]
#[command(
    group(ArgGroup::new("from").required(true).args(["files", "original"])),
    after_help = "\
A function named <anything>_<task id> is run on the demonstrations of that task and kept with the score it gets.

--original takes the folder of the original system, with solver_dir/solve_<task>/<score>/<time>/<md5>.py and
solver_md5/<md5>.py. Its links are not followed: the files of solver_md5 are read. Its scores are not believed, since
they count tests as well: every solver is run.

Examples:
  batt archive import solvers.py --tasks data/training
  batt archive import found/*.py --tasks data/training --archive all.sqlite --keep 64
  batt archive import --original ../tokpidjin --tasks data/training --retention original"
)]
pub struct ImportArgs {
    /// Solver files
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,

    /// The folder of the original system
    #[arg(long, value_name = "DIR", conflicts_with = "files")]
    original: Option<PathBuf>,

    /// A folder of tasks, a task file, or a Kaggle challenges file
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,

    /// Which library the solvers are written for
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        conflicts_with = "original"
    )]
    dialect: DialectName,

    #[command(flatten)]
    keep: Keep,

    /// Threads [default: one per core]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A solver to be tried.
struct Candidate<'d> {
    program: Program,
    task: &'d Task,
    /// Where it is from, in a word.
    origin: String,
}

/// Solvers saved at a time. What is saved stays, whatever happens to the rest.
const BATCH: usize = 500;

/// Runs the command.
pub fn main(args: &ImportArgs, path: &Path, ui: &Ui) -> Result<Exit> {
    let data = load_tasks(&args.tasks, ui)?;
    let (candidates, clean) = match &args.original {
        Some(folder) => original::candidates(folder, &data, ui)?,
        None => from_files(args, &data, ui)?,
    };
    let mut archive = Archive::open(path).map_err(bad_archive)?;
    let counts = import(args, &mut archive, &data, &candidates, ui)?;
    let mut out = stdout();
    if args.json {
        let json = json!({
            "solvers": candidates.len(),
            "tried": counts.tried,
            "kept": counts.kept,
            "known": counts.known,
            "refused": counts.refused,
            "solving": counts.solving,
            "failing": counts.failing,
            "archive": path.display().to_string(),
        });
        writeln!(out, "{json}")?;
    } else {
        writeln!(
            out,
            "tried {}: {} all demonstrations, {} on one; {} kept, {} known, {} refused",
            counted(counts.tried, "solver"),
            solve(counts.solving),
            fail(counts.failing),
            grouped(counts.kept),
            grouped(counts.known),
            grouped(counts.refused),
        )?;
    }
    out.flush()?;
    if interrupt::happened() {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::findings(!clean))
}

fn solve(n: usize) -> String {
    format!("{} {}", grouped(n), if n == 1 { "solves" } else { "solve" })
}

fn fail(n: usize) -> String {
    let verb = if n == 1 { "fails" } else { "fail" };
    format!("{} {verb}", grouped(n))
}

/// The solvers of files, and whether all could be read.
fn from_files<'d>(
    args: &ImportArgs,
    data: &'d Dataset,
    ui: &Ui,
) -> Result<(Vec<Candidate<'d>>, bool)> {
    let files = load_all(&args.files, args.dialect.dialect(), ui)?;
    let mut candidates = Vec::new();
    let (mut without_task, mut odd) = (Vec::new(), Vec::new());
    for program in files.iter().flat_map(|file| &file.programs) {
        let canonical = match ParamRole::of(program.params()) {
            Some(_) => canonical(program).ok(),
            None => None,
        };
        match (canonical, task_of(program.name(), data)) {
            (None, _) => odd.push(program.name()),
            (Some(_), None) => without_task.push(program.name()),
            (Some(program), Some(task)) => candidates.push(Candidate {
                program,
                task,
                origin: "import".to_owned(),
            }),
        }
    }
    ui.mention("left out, not a function of one grid or of (S, I, C)", &odd);
    if candidates.is_empty() {
        return Err(advised(
            format_args!(
                "no solver has a task among these {}",
                counted(data.len(), "task")
            ),
            "a solver is matched by name, <anything>_<task id>",
        ));
    }
    ui.mention("without a task here", &without_task);
    Ok((candidates, files.iter().all(SolverFile::is_clean)))
}

/// What became of the solvers.
#[derive(Default)]
struct Counts {
    tried: usize,
    kept: usize,
    known: usize,
    refused: usize,
    /// Of all tried: how many solve all demonstrations.
    solving: usize,
    /// Of all tried: how many fail on a demonstration.
    failing: usize,
}

fn import(
    args: &ImportArgs,
    archive: &mut Archive,
    data: &Dataset,
    candidates: &[Candidate<'_>],
    ui: &Ui,
) -> Result<Counts> {
    interrupt::watch();
    let from: Vec<String> = match &args.original {
        Some(folder) => vec![folder.display().to_string()],
        None => args.files.iter().map(|f| f.display().to_string()).collect(),
    };
    let info = RunInfo {
        seed: 0,
        settings: json!({"command": "archive import", "from": from}).to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        dataset: format!("{:016x}", data.shown_hash()),
    };
    let run = archive.begin_run(&info).map_err(bad_archive)?;
    let bar = ui.progress(candidates.len(), "trying");
    let mut counts = Counts::default();
    for batch in candidates.chunks(BATCH) {
        let trials = try_all(batch, args.jobs, &bar);
        let found: Vec<Found> = batch
            .iter()
            .zip(&trials)
            .filter_map(|(candidate, trial)| Some(found(candidate, trial.as_ref()?)))
            .collect();
        let saved = archive
            .save(run, &found, &args.keep.retention(), None)
            .map_err(bad_archive)?;
        counts.add(&found, trials.iter().flatten(), &saved.found);
        if interrupt::happened() {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(counts)
}

impl Counts {
    fn add<'t>(
        &mut self,
        found: &[Found],
        trials: impl Iterator<Item = &'t Trial>,
        kept: &[(String, Kept)],
    ) {
        self.tried += found.len();
        for trial in trials {
            self.solving += usize::from(trial.score.is_complete());
            self.failing += usize::from(trial.failed > 0);
        }
        for (_, kept) in kept {
            match kept {
                Kept::New | Kept::Better => self.kept += 1,
                Kept::Known => self.known += 1,
                Kept::Refused => self.refused += 1,
            }
        }
    }
}

fn found(candidate: &Candidate<'_>, trial: &Trial) -> Found {
    let Trial { score, outputs, .. } = trial;
    Found {
        program: candidate.program.clone(),
        parents: Vec::new(),
        mutation: candidate.origin.clone(),
        task: candidate.task.id.clone(),
        task_hash: format!("{:016x}", candidate.task.content_hash()),
        score: stored(score),
        outputs: *outputs,
    }
}
