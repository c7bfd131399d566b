"""Long work: running, merging, evolving and submitting, with progress bars."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from batt import _native
from batt._evolve import Evolution
from batt._native import (
    Batt,
    Limits,
    MegaResults,
    Results,
    Solver,
    Solvers,
    Submission,
    Tasks,
)
from batt._progress import Progress, bar

if TYPE_CHECKING:
    from batt._native import DeviceSurvey, SubmissionScore

__all__ = ["card", "demo", "devices", "evolve", "load", "mega", "run", "score", "submit"]

Path = str | os.PathLike[str]
SolversLike = Solvers | Solver | Path | Iterable[Solver] | Iterable[Path]
BattsLike = Batt | Path | Sequence[Batt]


def load(path: Path) -> Tasks:
    """Loads tasks of any known format: a folder, a task file, Kaggle challenges and so on.

    >>> tasks = load("examples/tasks")
    >>> tasks
    <Tasks | 4 tasks | 16 pairs>
    """
    return Tasks.load(path)


def run(
    solvers: SolversLike,
    tasks: Tasks,
    *,
    all_pairs: bool = False,
    device: str = "auto",
    jobs: int | None = None,
    limits: Limits | None = None,
    values: Literal["none", "wrong", "all"] = "wrong",
    verify: float = 0.0,
    time: float | None = None,
    progress: Progress = None,
) -> Results:
    """Runs solvers on tasks and compares the outputs with the known ones.

    A solver belongs to the task in its name: `solve_1673c3ec` to the task `1673c3ec`. With
    `all_pairs` every solver runs on every task. `values` says which values the results keep,
    `verify` which share of the runs that a GPU has finished is repeated on the CPU. After `time`
    seconds the results so far are returned.

    >>> import batt
    >>> results = batt.run(batt.Solvers.embedded(), batt.Tasks.embedded())
    >>> results
    <Results | 65 of 65 tasks solved | 260 of 260 pairs right | 260 runs>
    >>> results[0]
    <Result solve_002e3123 train[0] | right>
    """
    with bar("running", progress) as shown:
        return _native.run(
            solvers,
            tasks,
            all_pairs=all_pairs,
            device=device,
            jobs=jobs,
            limits=limits,
            values=values,
            verify=verify,
            time=time,
            progress=shown,
        )


def card(
    solvers: SolversLike,
    tasks: Tasks | None = None,
    *,
    count: int | None = None,
    mutants: int = 0,
    seed: int = 0,
    differs: bool = True,
) -> Batt:
    """Merges solvers into one program, a batt, that computes shared steps once.

    `count` draws some of the solvers, `mutants` adds randomly changed ones. Without `differs` the
    batt has no scores, only candidates.

    >>> import batt
    >>> merged = batt.card(batt.Solvers.embedded(), batt.Tasks.embedded())
    >>> len(merged), merged.stats["steps_before"], merged.steps
    (65, 1968, 1319)
    """
    return _native.card(
        solvers, tasks, count=count, mutants=mutants, seed=seed, differs=differs
    )


def mega(
    batts: BattsLike,
    tasks: Tasks,
    output: Path | None = None,
    *,
    existing: Literal["refuse", "resume", "overwrite"] = "refuse",
    full: bool = False,
    device: str = "auto",
    jobs: int | None = None,
    limits: Limits | None = None,
    verify: float = 0.0,
    time: float | None = None,
    progress: Progress = None,
) -> MegaResults:
    """Runs batts on every pair of every task.

    `output` names a file of JSON lines, or a table if it ends in `.parquet`. An interrupted run
    leaves its results there, and `existing="resume"` continues it.

    >>> import batt
    >>> tasks = batt.Tasks.embedded()
    >>> batt.mega(batt.card(batt.Solvers.embedded(), tasks), tasks)
    <MegaResults | 65 of 65 tasks solved | 260 of 260 runs>
    """
    with bar("running", progress) as shown:
        return _native.mega(
            batts,
            tasks,
            output,
            existing=existing,
            full=full,
            device=device,
            jobs=jobs,
            limits=limits,
            verify=verify,
            time=time,
            progress=shown,
        )


def evolve(
    tasks: Tasks,
    solvers: SolversLike | None = None,
    archive: Path | None = None,
    *,
    time: float | None = None,
    generations: int | None = None,
    only: Sequence[str] | None = None,
    hold_out: int = 0,
    seed: int | None = None,
    islands: int | None = None,
    population: int | None = None,
    offspring: int | None = None,
    device: str = "auto",
    jobs: int | None = None,
    resume: bool = False,
    report_tests: bool = False,
    progress: Progress = None,
) -> Evolution:
    """Searches for new solvers of tasks, learning from known solvers.

    The result is an iterator of events; `run()` goes through all of them and returns a report. The
    search begins with the first event. With an archive, everything that an event reports is saved,
    and `resume` continues an interrupted search. `hold_out` removes the solvers of some tasks and
    searches for these only.

    >>> import batt
    >>> search = batt.evolve(
    ...     batt.Tasks.embedded(), batt.Solvers.embedded(), hold_out=2, generations=2, offspring=200
    ... )
    >>> kinds = {event.kind for event in search}
    >>> kinds >= {"started", "generation"}
    True
    >>> search.report()["generation"]
    2
    """
    return Evolution(
        _native.evolve(
            tasks,
            solvers,
            archive,
            time=time,
            generations=generations,
            only=only,
            hold_out=hold_out,
            seed=seed,
            islands=islands,
            population=population,
            offspring=offspring,
            device=device,
            jobs=jobs,
            resume=resume,
            report_tests=report_tests,
        ),
        progress,
    )


def submit(
    tasks: Tasks,
    solvers: SolversLike | None = None,
    archive: Path | None = None,
    output: Path | None = None,
    *,
    jobs: int | None = None,
    time: float | None = None,
    progress: Progress = None,
) -> Submission:
    """Answers the tests of tasks with the best archived solvers, then with the given ones.

    `output` names the submission file. It is complete and valid at every moment.

    >>> import batt
    >>> submission = batt.submit(batt.Tasks.embedded(), batt.Solvers.embedded())
    >>> submission.summary()["tasks_solved"]
    65
    """
    with bar("answering", progress) as shown:
        return _native.submit(
            tasks, solvers, archive, output, jobs=jobs, time=time, progress=shown
        )


def score(submission: Submission | Path, tasks: Tasks) -> SubmissionScore:
    """Scores a submission, or the file of one, by the three rules in use, and checks it.

    >>> import batt
    >>> tasks = batt.Tasks.embedded()
    >>> batt.score(batt.submit(tasks, batt.Solvers.embedded()), tasks)["by_output"]
    1.0
    """
    return _native.score(submission, tasks)


def devices() -> DeviceSurvey:
    """Lists the GPUs of this machine, and what is missing to use them.

    >>> devices()["cores"] >= 1
    True
    """
    return _native.devices()


def demo() -> Results:
    """Runs the built-in solvers on the built-in puzzles.

    >>> demo()
    <Results | 65 of 65 tasks solved | 260 of 260 pairs right | 260 runs>
    """
    return run(Solvers.embedded(), Tasks.embedded())
