//! The archive of an evolution: what it begins with, and what it keeps.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_arc::Task;
use batt_archive::{Archive, Checkpoint, Found, Retention, RunId, RunInfo, RunRecord, Score};
use batt_evolve::{Donor, Evolution};
use batt_lang::Program;
use batt_lang::card::structural_hash;
use serde_json::{Value as Json, json};

use super::EvolveArgs;
use super::material::Material;
use super::progress::{DONOR, Event};
use super::saver::{Batch, Reply, Saver};
use crate::error::{advised, bad_archive};
use crate::ui::{Ui, counted};

/// The least time between two checkpoints: with hundreds of tasks, one has megabytes.
const CHECKPOINT: Duration = Duration::from_secs(60);

/// Solvers of a task that are taken from the archive.
const TAKEN: usize = 32;

/// Saves what is found, or not, if there is no archive.
pub struct Keeper {
    path: Option<PathBuf>,
    /// The archive, until saving begins.
    archive: Option<Archive>,
    saver: Option<Saver>,
    run: Option<RunId>,
    retention: Retention,
    resume: bool,
    /// What has been found and is not saved yet.
    waiting: Vec<Found>,
    /// The best scores of each task that were worth saving, with their outputs.
    best: HashMap<usize, BTreeSet<(Score, u64)>>,
    last_checkpoint: Option<Instant>,
    /// Solvers that are in the archive because of us.
    saved: usize,
    /// Programs that the archive did not take.
    left_out: usize,
}

/// What an archive knows about the tasks.
#[derive(Default)]
pub struct Known {
    /// Solvers by the position of their task.
    pub programs: HashMap<usize, Vec<Program>>,
    /// How each came about, by its hash.
    pub origins: HashMap<String, String>,
}

/// What is to be told.
pub enum News {
    /// Something happened to a task, and is saved; or there is no archive.
    Happened {
        event: Event,
        /// Does the archive have the program, if there is one?
        saved: Option<bool>,
    },
    /// Saving takes longer.
    Late(String),
}

impl Keeper {
    /// Opens the archive, if there is to be one.
    pub fn open(args: &EvolveArgs) -> Result<Keeper> {
        if args.resume && args.archive().is_none() {
            return Err(advised(
                "there is no archive to go on with",
                "name it with --archive FILE",
            ));
        }
        let archive = args.archive().map(Archive::open);
        Ok(Keeper {
            path: args.archive().map(Path::to_owned),
            archive: archive.transpose().map_err(bad_archive)?,
            saver: None,
            run: None,
            retention: args.capacity,
            resume: args.resume,
            waiting: Vec::new(),
            best: HashMap::new(),
            last_checkpoint: None,
            saved: 0,
            left_out: 0,
        })
    }

    /// Is there an archive?
    pub fn is_open(&self) -> bool {
        self.path.is_some()
    }

    /// The file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The number of the run.
    pub fn run(&self) -> Option<i64> {
        self.run.map(RunId::number)
    }

    /// Solvers that are in the archive because of this command.
    pub fn saved(&self) -> usize {
        self.saved
    }

    /// Programs that the archive did not take.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The run to go on with: the last one on these tasks that was told the same.
    pub fn earlier_run(
        &self,
        args: &EvolveArgs,
        material: &Material,
        ui: &Ui,
    ) -> Result<Option<RunRecord>> {
        let Some(archive) = self.archive.as_ref().filter(|_| self.resume) else {
            return Ok(None);
        };
        let dataset = material.dataset();
        let same = |run: &RunRecord| {
            let told: Json = serde_json::from_str(&run.info.settings).unwrap_or_default();
            run.generation.is_some()
                && run.info.dataset == dataset
                && args.seed.is_none_or(|seed| seed == run.info.seed)
                && told["choice"] == choice(args, material)
        };
        let runs = archive.runs().map_err(bad_archive)?;
        let earlier = runs.into_iter().find(same);
        if earlier.is_none() {
            ui.note("there is no earlier run on these tasks; this begins at the beginning");
        }
        Ok(earlier)
    }

    /// The solvers of the archive. Those that solve their task become donors.
    pub fn known(&self, material: &mut Material, goes_on: bool, ui: &Ui) -> Result<Known> {
        let mut known = Known::default();
        let Some(archive) = &self.archive else {
            return Ok(known);
        };
        let places: HashMap<String, usize> = material
            .tasks
            .iter()
            .enumerate()
            .map(|(at, task)| (task.id.clone(), at))
            .collect();
        let (mut seen, mut foreign, mut donors) = (HashSet::new(), 0, 0);
        for summary in archive.tasks().map_err(bad_archive)? {
            let place = places.get(&summary.task);
            // Who holds solvers out wants to find them. What the run itself has found before counts.
            if place.is_some() && material.held_out > 0 && !goes_on {
                continue;
            }
            let entries = archive.best(&summary.task, Some(&summary.task_hash), TAKEN);
            let mut has_donor = false;
            for entry in entries.map_err(bad_archive)? {
                if has_donor && place.is_none() {
                    break;
                }
                let Some(program) = entry.program().filter(|p| p.dialect() == material.dialect)
                else {
                    foreign += 1;
                    continue;
                };
                if !seen.insert((entry.task.clone(), entry.hash.clone())) {
                    continue;
                }
                if !has_donor && entry.score.is_solved() {
                    has_donor = true;
                    donors += 1;
                    material.donors.push(Donor {
                        task: entry.task,
                        program: program.clone(),
                    });
                }
                if let Some(&at) = place {
                    known.programs.entry(at).or_default().push(program);
                    known.origins.insert(entry.hash, entry.mutation);
                }
            }
        }
        if foreign > 0 {
            let name = material.dialect.name();
            let count = counted(foreign, "solver");
            ui.note(format_args!("{count} of the archive left out, not {name}"));
        }
        let settled: usize = known.programs.values().map(Vec::len).sum();
        if donors + settled > 0 {
            ui.note(format_args!(
                "the archive has {} of these tasks, and solvers of {} to learn from",
                counted(settled, "solver"),
                counted(donors, "task"),
            ));
        }
        Ok(known)
    }

    /// Says that a run begins, or goes on.
    pub fn begin(
        &mut self,
        args: &EvolveArgs,
        material: &Material,
        seed: u64,
        earlier: Option<&RunRecord>,
    ) -> Result<()> {
        let Some(archive) = &mut self.archive else {
            return Ok(());
        };
        if let Some(earlier) = earlier {
            self.run = Some(earlier.id);
            return Ok(());
        }
        let settings = json!({
            "command": "evolve",
            "choice": choice(args, material),
            "islands": args.islands,
            "population": args.population,
            "offspring": args.offspring,
            "weights": args.weights,
        });
        let run = archive.begin_run(&RunInfo {
            seed,
            settings: settings.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dataset: material.dataset(),
        });
        self.run = Some(run.map_err(bad_archive)?);
        Ok(())
    }

    /// Goes on where a run stood.
    pub fn restore(&self, run: &RunRecord, evolution: &mut Evolution<'_>, ui: &Ui) -> Result<()> {
        let Some(archive) = &self.archive else {
            return Ok(());
        };
        let checkpoint = archive.checkpoint(run.id).map_err(bad_archive)?;
        let Some(checkpoint) = checkpoint else {
            return Ok(());
        };
        evolution.restore(&checkpoint.state).map_err(|error| {
            let path = archive.path().display();
            advised(
                format_args!("cannot go on with run {} of {path}: {error}", run.id),
                "leave --resume out: the solvers of the archive are used all the same",
            )
        })?;
        ui.note(format_args!(
            "going on with run {} of {} at generation {}",
            run.id, run.started, checkpoint.generation
        ));
        Ok(())
    }

    /// From now on what is found is saved.
    pub fn start(&mut self) {
        if let (Some(archive), Some(run)) = (self.archive.take(), self.run) {
            self.saver = Some(Saver::start(archive, run, self.retention));
        }
    }

    /// Puts aside what is worth saving: solutions, and what is among the best of its task.
    pub fn take(&mut self, tasks: &[Task], found: Vec<batt_evolve::Found>) {
        if self.saver.is_none() {
            return;
        }
        let room = match self.retention {
            Retention::Best { per_task } => per_task,
            Retention::Original { capacity } => capacity + 1,
        };
        for found in found {
            let Some(task) = tasks.get(found.task) else {
                continue;
            };
            let score = stored(&found.score);
            let best = self.best.entry(found.task).or_default();
            let last = best.iter().next_back();
            let worth = best.len() < room || last.is_none_or(|(last, _)| score < *last);
            if !worth && !score.is_solved() {
                continue;
            }
            best.insert((score, found.outputs));
            while best.len() > room {
                best.pop_last();
            }
            self.waiting.push(Found {
                parents: found.parent.iter().map(structural_hash).collect(),
                mutation: found.kind.map_or(DONOR, |kind| kind.name()).to_owned(),
                task: task.id.clone(),
                task_hash: format!("{:016x}", task.content_hash()),
                score,
                outputs: found.outputs,
                program: found.program,
            });
        }
    }

    /// Saves what waits, in one transaction with a checkpoint if it is time for one. What is to be told comes back when
    /// it is saved, in this call or a later one.
    pub fn save(&mut self, evolution: &Evolution<'_>, events: Vec<Event>) -> Result<Vec<News>> {
        let due = |last: Instant| last.elapsed() >= CHECKPOINT;
        let due = self.last_checkpoint.is_none_or(due);
        let Some(saver) = &mut self.saver else {
            let happened = |event| News::Happened { event, saved: None };
            return Ok(events.into_iter().map(happened).collect());
        };
        let found = std::mem::take(&mut self.waiting);
        let replies = match found.is_empty() && events.is_empty() && !due {
            true => saver.replies(),
            false => saver.save(Batch {
                found,
                checkpoint: due.then(|| checkpoint(evolution)),
                events,
            }),
        };
        if due {
            self.last_checkpoint = Some(Instant::now());
        }
        let mut news = Vec::new();
        for reply in replies {
            self.hear(reply, &mut news)?;
        }
        Ok(news)
    }

    /// Saves what is left, with a last checkpoint, and waits until all is on the disk.
    pub fn finish(&mut self, evolution: &Evolution<'_>, mut tell: impl FnMut(News)) -> Result<()> {
        self.last_checkpoint = None;
        for news in self.save(evolution, Vec::new())? {
            tell(news);
        }
        while let Some(saver) = &mut self.saver {
            let mut news = Vec::new();
            match saver.next_reply()? {
                Some(reply) => self.hear(reply, &mut news)?,
                None => self.saver = None,
            }
            news.into_iter().for_each(&mut tell);
        }
        Ok(())
    }

    fn hear(&mut self, reply: Reply, news: &mut Vec<News>) -> Result<()> {
        match reply {
            Reply::Saved(receipt) => {
                self.saved += receipt.new;
                self.left_out += receipt.left_out;
                news.extend(receipt.events.into_iter().map(|event| News::Happened {
                    saved: Some(receipt.kept.contains(&event.best.hash)),
                    event,
                }));
            }
            Reply::Later(why) => news.push(News::Late(why)),
            Reply::Failed(error) => return Err(error),
        }
        Ok(())
    }
}

fn checkpoint(evolution: &Evolution<'_>) -> Checkpoint {
    Checkpoint {
        generation: evolution.generation(),
        state: evolution.state(),
    }
}

/// What a run to go on with must have in common: which tasks evolve, and from what.
fn choice(args: &EvolveArgs, material: &Material) -> Json {
    let mut tasks: Vec<&str> = args.task.iter().map(String::as_str).collect();
    tasks.sort_unstable();
    tasks.dedup();
    json!({
        "tasks": tasks,
        "hold_out": args.hold_out,
        "dialect": material.dialect.name(),
    })
}

/// A score, as it is stored.
pub fn stored(score: &batt_evolve::Score) -> Score {
    Score {
        demos_solved: score.solved,
        demos: score.demos,
        closeness: score.closeness,
        size: score.size,
        cost: score.cost,
    }
}
