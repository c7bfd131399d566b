//! `batt show`: shows tasks, solvers and failed runs as pictures.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::files::{check_output, replace};
use batt::picture::{self, Palette, PictureStyle, Svg, Theme};
use batt::render::{self, Color};
use batt::{RunFile, Solver, TaskPath, Tasks, WrongRuns};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};

use super::eval::input::Input;
use super::eval::{Evaluation, choose};
use crate::cli::{Exit, RunOptions};
use crate::error::advised;
use crate::numbers;
use crate::solvers::{mention_skipped, open_tasks};
use crate::ui::{STRONG, Ui, counted, grouped, shown, stdout};

/// Show a task, a solver's steps or failed runs, in the terminal or as SVG or PNG
#[derive(Args)]
#[command(
    group(ArgGroup::new("file").multiple(true).args(["svg", "png"])),
    after_help = "\
WHAT is one of these:

  PATH               a task file, or a folder: the first few of its tasks
  PATH:ID            one task of a folder or of a Kaggle file
  PATH:ID:train:0    one pair of it; also PATH:train:0 and ID:test:0
  ID                 a built-in task, if there is no file of that name
  FILE::NAME         a solver: its text; with --task or --grid every step of a run
  RESULTS            a file of `batt run -o`: the runs that are wrong, on the tasks of --tasks

Without --svg and --png, the picture is text for the terminal. The theme auto makes an SVG light or
dark as the reader's system prefers. A PNG is light then.

Examples:
  batt show 1673c3ec
  batt show data/training:007bbfb7 --svg 007bbfb7.svg
  batt show solvers.py::solve_1673c3ec --task 1673c3ec:test:0 --png steps.png --theme dark
  batt run solvers.py --tasks data/training -o results.jsonl
  batt show results.jsonl --tasks data/training --svg failures.svg"
)]
pub struct ShowArgs {
    /// A task, a solver, or results of `batt run`
    what: String,

    /// The task, and the pair from which the solver's input comes [default: train:0]
    #[arg(
        long,
        value_name = "PATH[:ID][:train:0]",
        conflicts_with = "grid",
        help_heading = INPUT
    )]
    task: Option<String>,

    /// The solver's input as JSON rows or as lines of digits, from a file or from stdin with -
    #[arg(long, value_name = "FILE|-", help_heading = INPUT)]
    grid: Option<PathBuf>,

    /// The tasks of the results
    #[arg(long, value_name = "PATH", help_heading = INPUT)]
    tasks: Option<PathBuf>,

    /// The most tasks of a folder or runs of a file to show
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = numbers::from_zero::<usize>)]
    top: usize,

    /// Write an SVG picture to a file, or to stdout with -
    #[arg(long, value_name = "FILE|-", help_heading = PICTURE)]
    svg: Option<PathBuf>,

    /// Write a PNG picture to a file, or to stdout with -
    #[arg(long, value_name = "FILE|-", help_heading = PICTURE)]
    png: Option<PathBuf>,

    /// The colours of cells
    #[arg(long, value_name = "NAME", default_value = "official", help_heading = PICTURE)]
    #[arg(requires = "file", value_parser = palettes())]
    palette: Palette,

    /// The colours around them
    #[arg(long, value_name = "NAME", default_value = "auto", help_heading = PICTURE)]
    #[arg(requires = "file", value_parser = themes())]
    theme: Theme,

    /// The side of a cell in pixels, 1 to 100 [default: what suits the grids]
    #[arg(long, value_name = "PIXELS", value_parser = numbers::from_one::<NonZeroU32>)]
    #[arg(requires = "file", help_heading = PICTURE)]
    cell: Option<NonZeroU32>,

    /// The width at which pictures wrap into rows, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = PictureStyle::default().width)]
    #[arg(value_parser = clap::value_parser!(u32).range(200..=20_000))]
    #[arg(requires = "file", help_heading = PICTURE)]
    width: u32,

    /// The pixels of a PNG for one of the picture
    #[arg(long, value_name = "N", default_value_t = 2.0, requires = "png", help_heading = PICTURE)]
    scale: f32,

    #[command(flatten)]
    options: RunOptions,
}

const INPUT: &str = "Input";
const PICTURE: &str = "Picture";

fn palettes() -> impl TypedValueParser<Value = Palette> {
    let names = Palette::ALL.map(|palette| PossibleValue::new(palette.name()));
    let [official, arc_prize, colour_blind] = names;
    let colour_blind = colour_blind.aliases(["color-blind", "colourblind", "colorblind"]);
    PossibleValuesParser::new([official, arc_prize, colour_blind])
        .try_map(|name| name.parse::<Palette>())
}

fn themes() -> impl TypedValueParser<Value = Theme> {
    PossibleValuesParser::new(Theme::ALL.map(Theme::name)).try_map(|name| name.parse::<Theme>())
}

/// What to show.
enum Subject {
    Tasks(TaskPath),
    Solver(Solver, Option<Input>),
    Runs {
        file: PathBuf,
        runs: WrongRuns,
        tasks: Tasks,
    },
}

/// Runs the command.
pub fn main(args: &ShowArgs, ui: &Ui) -> Result<Exit> {
    args.check_outputs()?;
    let subject = args.load(ui)?;
    if let Subject::Runs { file, runs, .. } = &subject
        && runs.wrong == 0
    {
        let (file, count) = (shown(file), counted(runs.runs, "run"));
        ui.note(format_args!(
            "nothing to show: none of {count} in {file} is wrong"
        ));
        return Ok(Exit::Good);
    }
    let mut out = stdout();
    if args.svg.is_none() && args.png.is_none() {
        args.write_text(&subject, &mut out, ui)?;
    } else {
        args.write_pictures(&args.draw(&subject)?, &mut out)?;
    }
    out.flush()?;
    Ok(Exit::Good)
}

impl ShowArgs {
    /// Refuses to overwrite a file that is read.
    fn check_outputs(&self) -> Result<()> {
        if self.svg.is_some() && self.svg == self.png {
            let message = "--svg and --png have the same target";
            return Err(advised(message, "name two files"));
        }
        // Of `PATH:ID:train:0` and `FILE::NAME`, a path is what stands before one of the colons.
        let mut inputs: Vec<PathBuf> = self.grid.iter().chain(&self.tasks).cloned().collect();
        for word in [Some(&self.what), self.task.as_ref()].into_iter().flatten() {
            let ends = word.match_indices(':').map(|(at, _)| at);
            inputs.extend(
                ends.chain([word.len()])
                    .map(|at| PathBuf::from(&word[..at])),
            );
        }
        for output in [&self.svg, &self.png].into_iter().flatten() {
            for input in inputs.iter().filter(|input| !input.as_os_str().is_empty()) {
                check_output(output, [], input)?;
            }
        }
        Ok(())
    }

    fn load(&self, ui: &Ui) -> Result<Subject> {
        let path = Path::new(&self.what);
        let is_source = path.extension().is_some_and(|end| end == "py") && path.is_file();
        if self.what.contains("::") || is_source {
            self.refuse(&[(self.tasks.is_some(), "--tasks", "results of `batt run`")])?;
            let solver = choose(&self.what, self.options.dialect(), ui)?;
            let input = Input::of(self.task.as_deref(), self.grid.as_deref(), &solver, ui)?;
            return Ok(Subject::Solver(solver, input));
        }
        let has_input = [
            (self.task.is_some(), "--task", "a solver, FILE::NAME"),
            (self.grid.is_some(), "--grid", "a solver, FILE::NAME"),
        ];
        self.refuse(&has_input)?;
        if RunFile::recognises(path) {
            let runs = RunFile::open(path)?.wrong(self.top)?;
            let Some(tasks) = &self.tasks else {
                return Err(advised(
                    format_args!(
                        "{} names its tasks, but does not contain them",
                        path.display()
                    ),
                    "name the tasks that the solvers ran on: --tasks PATH",
                ));
            };
            return Ok(Subject::Runs {
                file: path.to_owned(),
                runs,
                tasks: open_tasks(tasks, ui)?,
            });
        }
        self.refuse(&[(self.tasks.is_some(), "--tasks", "results of `batt run`")])?;
        let path = TaskPath::load(&self.what)?;
        mention_skipped(&path.tasks, ui);
        Ok(Subject::Tasks(path))
    }

    /// Refuses options that are given for another kind of subject.
    fn refuse(&self, options: &[(bool, &str, &str)]) -> Result<()> {
        match options.iter().find(|(is_given, ..)| *is_given) {
            Some((_, option, subject)) => Err(advised(
                format_args!("{option} is for {subject}, but '{}' is none", self.what),
                format!("leave {option} out, or name another WHAT"),
            )),
            None => Ok(()),
        }
    }

    fn style(&self) -> PictureStyle {
        PictureStyle {
            palette: self.palette,
            theme: self.theme,
            cell: self.cell.map(NonZeroU32::get),
            width: self.width,
        }
    }

    fn draw(&self, subject: &Subject) -> Result<Svg> {
        let style = &self.style();
        Ok(match subject {
            Subject::Tasks(path) => match (path.named_pair()?, path.tasks.tasks()) {
                (Some((task, name, pair)), _) => {
                    picture::pair(&format!("{} {name}", task.id), pair, style)
                }
                (None, [task]) => picture::task(task, style),
                (None, tasks) => {
                    let title = title(self.top, tasks.len(), "task");
                    picture::tasks(&title, tasks, self.top, style)
                }
            },
            Subject::Solver(solver, None) => picture::solver(solver, style),
            Subject::Solver(solver, Some(input)) => {
                let limits = self.options.limits();
                picture::steps(solver, &input.name, &input.run, &limits, style)
            }
            Subject::Runs { runs, tasks, .. } => {
                let title = title(self.top, runs.wrong, "wrong run");
                picture::records(&title, &runs.first, tasks, style)?
            }
        })
    }

    /// Writes the files and says so.
    fn write_pictures(&self, svg: &Svg, out: &mut impl Write) -> Result<()> {
        let png = match &self.png {
            Some(path) => Some((path, png(svg, self.scale)?)),
            None => None,
        };
        let svg = self.svg.iter().map(|path| (path, svg.as_str().as_bytes()));
        let png = png.iter().map(|(path, png)| (*path, png.as_slice()));
        let files = svg.chain(png);
        let is_stdout = |path: &Path| path == Path::new("-");
        let is_quiet = files.clone().any(|(path, _)| is_stdout(path));
        for (path, content) in files {
            if is_stdout(path) {
                out.write_all(content)?;
                continue;
            }
            replace(path, content)?;
            // A picture on stdout stands alone.
            if !is_quiet {
                writeln!(out, "wrote {}", shown(path))?;
            }
        }
        Ok(())
    }

    fn write_text(&self, subject: &Subject, out: &mut impl Write, ui: &Ui) -> Result<()> {
        let color = ui.out_color();
        match subject {
            Subject::Tasks(path) => self.write_tasks(path, out, color)?,
            Subject::Solver(solver, None) => write!(out, "{}", solver.text())?,
            Subject::Solver(solver, Some(input)) => {
                let limits = self.options.limits();
                Evaluation::new(solver, input, &limits, true).write_text(out, ui)?;
            }
            Subject::Runs { runs, tasks, .. } => {
                for run in &runs.first {
                    writeln!(out, "{}", ui.out(STRONG, run.title()))?;
                    let text = picture::record_text(run, tasks, color)?;
                    writeln!(out, "{text}")?;
                }
                write_rest(out, runs.wrong, runs.first.len())?;
            }
        }
        Ok(())
    }

    fn write_tasks(&self, path: &TaskPath, out: &mut impl Write, color: Color) -> Result<()> {
        if let Some((_, name, pair)) = path.named_pair()? {
            write!(out, "{}", render::pair(name, pair, color))?;
            return Ok(());
        }
        let tasks = path.tasks.tasks();
        for (k, task) in tasks.iter().take(self.top).enumerate() {
            let blank = if k > 0 { "\n" } else { "" };
            write!(out, "{blank}{}", render::task(task, color))?;
        }
        write_rest(out, tasks.len(), self.top.min(tasks.len()))
    }
}

/// The title of a picture of the first few of many: `20 of 400 tasks`.
fn title(most: usize, all: usize, noun: &str) -> String {
    match all > most {
        true => format!("{} of {}", grouped(most), counted(all, noun)),
        false => counted(all, noun),
    }
}

/// Writes the line below the first few of many.
fn write_rest(out: &mut impl Write, all: usize, shown: usize) -> Result<()> {
    if all > shown {
        writeln!(
            out,
            "... and {} more (--top shows more)",
            grouped(all - shown)
        )?;
    }
    Ok(())
}

#[cfg(feature = "png")]
fn png(svg: &Svg, scale: f32) -> Result<Vec<u8>> {
    svg.to_png(scale)
        .map_err(|error| advised(error, "--scale and --top make a PNG smaller"))
}

#[cfg(not(feature = "png"))]
fn png(_: &Svg, _: f32) -> Result<Vec<u8>> {
    Err(advised(
        "this batt was built without PNG",
        "use --svg, or build it with --features png",
    ))
}
