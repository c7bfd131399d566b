"""Long work: running, merging, evolving and submitting, with progress bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from batt import _native
from batt._evolve import Evolution
from batt._native import Batt, Limits, MegaResults, Results, Solvers, Submission, Tasks
from batt._progress import bar

if TYPE_CHECKING:
    from batt.types import (
        BattsLike,
        DeviceSurvey,
        FilePath,
        IdsLike,
        Progress,
        SolversLike,
        SubmissionScore,
        TasksLike,
    )

__all__ = ["card", "demo", "devices", "evolve", "load", "mega", "run", "score", "submit"]


def load(path: FilePath) -> Tasks:
    """Loads tasks of any known format: a folder, a task file, Kaggle challenges and so on.

    >>> tasks = load("examples/tasks")
    >>> tasks
    <Tasks | 4 tasks | 16 pairs>
    """
    return Tasks.load(path)


def run(
    solvers: SolversLike,
    tasks: TasksLike,
    *,
    all_pairs: bool = False,
    device: str = "auto",
    jobs: int | None = None,
    limits: Limits | None = None,
    values: Literal["none", "wrong", "all"] = "wrong",
    verify: float = 0.0,
    time: float | None = None,
    shard: str | None = None,
    progress: Progress = None,
) -> Results:
    """Runs solvers on tasks and compares the outputs with the known ones.

    A solver belongs to the task in its name: `solve_1673c3ec` to the task `1673c3ec`. With
    `all_pairs` every solver runs on every task.

    Args:
        solvers: Solvers, or paths of solver files.
        tasks: Tasks, or the path of a file or folder.
        all_pairs: Whether solvers also run on tasks that they are not named after.
        device: `auto`, `cpu`, `cuda`, or `cuda:0,1` for some GPUs. `auto` takes all GPUs if there
            are so many runs that opening them pays.
        jobs: The number of threads; one per core if it is left out.
        limits: The limits of each run.
        values: Which values the results keep: those of wrong runs, all, or none.
        verify: The share of the runs finished by a GPU that the CPU repeats, from 0 to 1.
        time: The seconds after which the results so far are returned.
        shard: The part of the runs to do, such as `3/10`; all if it is left out.
        progress: How to show progress; see `batt.types.Progress`.

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
            shard=shard,
            progress=shown,
        )


def card(
    solvers: SolversLike,
    tasks: TasksLike | None = None,
    *,
    count: int | None = None,
    mutants: int = 0,
    seed: int = 0,
    differs: bool = True,
) -> Batt:
    """Merges solvers into one program, a batt, that computes shared steps once.

    Args:
        solvers: Solvers, or paths of solver files.
        tasks: The tasks of the solvers. The solver of the largest task is merged first.
        count: How many of the solvers to draw at random; all if it is left out.
        mutants: How many randomly changed solvers to add.
        seed: What the random choices depend on.
        differs: Whether to add scores, which compare candidates with the expected output.

    >>> import batt
    >>> merged = batt.card(batt.Solvers.embedded(), batt.Tasks.embedded())
    >>> len(merged), merged.stats["steps_before"], merged.steps
    (65, 1968, 1319)
    """
    return _native.card(solvers, tasks, count=count, mutants=mutants, seed=seed, differs=differs)


def mega(
    batts: BattsLike,
    tasks: TasksLike,
    output: FilePath | None = None,
    *,
    existing: Literal["refuse", "resume", "overwrite"] = "refuse",
    full: bool = False,
    device: str = "auto",
    jobs: int | None = None,
    limits: Limits | None = None,
    verify: float = 0.0,
    time: float | None = None,
    shard: str | None = None,
    progress: Progress = None,
) -> MegaResults:
    """Runs batts on every pair of every task.

    Args:
        batts: Batts, or paths of batt files.
        tasks: Tasks, or the path of a file or folder.
        output: A file for the results: JSON lines, or a table if it ends in `.parquet`. An
            interrupted run leaves its results beside it.
        existing: What to do with results of an earlier run that was interrupted: `resume`
            continues it, `overwrite` begins again.
        full: Whether the file has all values, which makes it many times larger.
        device: `auto`, `cpu`, `cuda`, or `cuda:0,1` for some GPUs.
        jobs: The number of threads; one per core if it is left out.
        limits: The limits of each solver in a run. The default also ends a run after a minute.
        verify: The share of the runs finished by a GPU that the CPU repeats, from 0 to 1.
        time: The seconds after which the results so far are returned.
        shard: The part of the runs to do, such as `3/10`; all if it is left out.
        progress: How to show progress; see `batt.types.Progress`.

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
            shard=shard,
            progress=shown,
        )


def evolve(
    tasks: TasksLike,
    solvers: SolversLike | None = None,
    archive: FilePath | None = None,
    *,
    time: float | None = None,
    generations: int | None = None,
    only: IdsLike | None = None,
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
    search begins with the first event, and ends when its time or its generations are over, or when
    all tasks are solved.

    Args:
        tasks: Tasks, or the path of a file or folder. Their tests are not used.
        solvers: Known solvers to learn from.
        archive: A file to keep solvers in. What an event reports as saved is there.
        time: The seconds after which the search ends.
        generations: The generations after which it ends. A resumed search counts anew.
        only: The tasks to search for; all if it is left out.
        hold_out: The number of tasks whose solvers are removed, to search for these only.
        seed: What the random choices depend on. The same seed gives the same search.
        islands: The number of separate populations of each task.
        population: The number of solvers in one population.
        offspring: The number of offspring of one generation; chosen if it is left out.
        device: `auto`, `cpu`, `cuda`, or `cuda:0,1` for some GPUs.
        jobs: The number of threads; one per core if it is left out.
        resume: Whether to continue the last search in the archive.
        report_tests: Whether the report says which solvers are right on the tests.
        progress: How to show progress; a function is called with the generation and 0.

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
    tasks: TasksLike,
    solvers: SolversLike | None = None,
    archive: FilePath | None = None,
    output: FilePath | None = None,
    *,
    jobs: int | None = None,
    time: float | None = None,
    progress: Progress = None,
) -> Submission:
    """Answers the tests of tasks with the best archived solvers, then with the given ones.

    Args:
        tasks: Tasks, or the path of a file or folder.
        solvers: Solvers to answer with, each on the task it is named after.
        archive: An archive of solvers to answer with.
        output: The submission file. It is complete and valid at every moment.
        jobs: The number of threads; one per core if it is left out.
        time: The seconds after which the rest is left to fillers.
        progress: How to show progress; see `batt.types.Progress`.

    >>> import batt
    >>> submission = batt.submit(batt.Tasks.embedded(), batt.Solvers.embedded())
    >>> submission.summary()["tasks_solved"]
    65
    """
    with bar("answering", progress) as shown:
        return _native.submit(tasks, solvers, archive, output, jobs=jobs, time=time, progress=shown)


def score(submission: Submission | FilePath, tasks: TasksLike) -> SubmissionScore:
    """Scores a submission, or the file of one, by the three rules in use, and checks it.

    A missing answer counts as wrong. `findings` lists what Kaggle would refuse.

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


# As `batt demo` measures: long enough for a steady figure, with so many copies of the solvers that
# starting a thread does not matter.
_MEASURED = 0.4
_COPIES = 32


def demo() -> Results:
    """Runs the built-in solvers on the built-in puzzles, and prints how many it solves and how
    fast.

    >>> results = demo()  # doctest: +ELLIPSIS
    solved 65 of 65 tasks, 260 of 260 pairs
    ... runs per second
    >>> results
    <Results | 65 of 65 tasks solved | 260 of 260 pairs right | 260 runs>
    """
    solvers, tasks = Solvers.embedded(), Tasks.embedded()
    results = run(solvers, tasks)
    at = results.summary()
    print(
        f"solved {at['tasks_solved']} of {at['tasks']} tasks, "
        f"{at['pairs_right']} of {at['pairs']} pairs"
    )
    copies = Solvers(list(solvers) * _COPIES)
    runs, seconds = 0, 0.0
    while seconds < _MEASURED:
        measured = run(copies, tasks, jobs=1, values="none", progress=False).summary()
        runs += measured["runs"]
        seconds += measured["seconds"]
    speed = f"{runs / seconds:,.0f} runs per second"
    print(f"{runs:,} runs in {seconds:.2f} s on one core: {speed}")
    return results
