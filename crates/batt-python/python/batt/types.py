"""Types for annotations: what functions accept, and the dictionaries that they return.

>>> from batt.types import RunSummary
>>> def share(summary: RunSummary) -> float:
...     return summary["tasks_solved"] / summary["tasks"]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from batt._native import Batt, Grid, ReturnedFunction, Solver, Solvers, Task, Tasks

__all__ = [
    "ArchivedSolver",
    "ArchivedTask",
    "Array",
    "BattsLike",
    "CardStats",
    "DeviceSurvey",
    "Dialect",
    "EvolveBest",
    "EvolveProgress",
    "EvolveReport",
    "FilePath",
    "FoundDevice",
    "GarbageReport",
    "GridLike",
    "IdsLike",
    "ImportReport",
    "Keep",
    "LineageEntry",
    "MegaSummary",
    "MergeReport",
    "MergeSummary",
    "PairData",
    "PairLike",
    "Progress",
    "RunSummary",
    "Score",
    "SolvedBy",
    "SolvedTask",
    "SolversLike",
    "SubmissionScore",
    "SubmissionSummary",
    "TaskData",
    "TasksLike",
    "Value",
]

# What functions accept.

FilePath: TypeAlias = str | os.PathLike[str]
"""A path as text or as a `pathlib.Path`."""

Array: TypeAlias = NDArray[np.uint8]
"""A grid as an array of rows and columns."""

GridLike: TypeAlias = Grid | NDArray[Any] | Sequence[Sequence[int]] | str
"""A grid: a `Grid`, an array, nested lists or tuples, or digits such as `"012/210"`."""

PairLike: TypeAlias = tuple[GridLike] | tuple[GridLike, GridLike | None] | Mapping[str, Any]
"""A pair: `(input, output)` or `{"input": ..., "output": ...}`. A test may have no output."""

TasksLike: TypeAlias = Tasks | Task | FilePath | Iterable[Task]
"""Tasks: `Tasks`, a `Task`, several of them, or the path of a file or folder."""

SolversLike: TypeAlias = Solvers | Solver | FilePath | Iterable[Solver] | Iterable[FilePath]
"""Solvers: `Solvers`, a `Solver`, several of them, or paths, which may end in `::name`."""

BattsLike: TypeAlias = Batt | FilePath | Iterable[Batt] | Iterable[FilePath]
"""Batts: a `Batt`, several of them, or paths of batt files."""

IdsLike: TypeAlias = str | Task | Iterable[str] | Iterable[Task]
"""Tasks by their ids: an id, a task, or several of either."""

Dialect: TypeAlias = Literal["arc-dsl", "re-arc", "tokpidjin"]
"""The library that a solver is written for."""

Keep: TypeAlias = int | Literal["original"]
"""The solvers of a task that an archive keeps: their number, or the original system's rule."""

Progress: TypeAlias = bool | Callable[[int, int], object] | None
"""How to show progress: `None` for a bar where a person watches, `True` or `False`, or a function
of the numbers of finished and of all items."""

# What solvers return.

Value: TypeAlias = (
    bool | int | float | tuple["Value", ...] | frozenset["Value"] | ReturnedFunction | None
)
"""A value of the DSL."""

# The data of task files.


class _Input(TypedDict):
    input: list[list[int]]


class PairData(_Input, total=False):
    """A pair in a task file."""

    output: list[list[int]]


class TaskData(TypedDict):
    """The content of a task file."""

    train: list[PairData]
    test: list[PairData]


# Running.


class SolvedBy(TypedDict):
    """A task that a solver of another task solves."""

    task: str
    solver: str


class RunSummary(TypedDict):
    """The counts of `batt.run`."""

    runs: int
    planned: int
    """The runs to do. Fewer are done if the time is over."""
    tasks: int
    tasks_solved: int
    solved: list[str]
    """The ids of the solved tasks: one solver is right on all pairs."""
    pairs: int
    """The pairs with a known output."""
    pairs_right: int
    kinds: dict[str, int]
    """How many runs ended with each verdict."""
    also_solved: list[SolvedBy]
    """Tasks that are solved by a solver of another task."""
    without_task: list[str]
    """Solvers that did not run, because they are named after no task."""
    threads: int
    seconds: float
    devices: list[str] | None
    """The names of the devices that took part; `None` if none did."""
    notes: list[str]


# Merging.


class CardStats(TypedDict):
    """The counts of `batt.card`."""

    solvers: int
    differs: int
    steps_before: int
    steps_shared: int
    """The steps that are left when equal ones are shared."""
    steps: int
    """The steps that are left after simplification."""
    left_out: list[str]
    """Functions that cannot be merged."""


class SolvedTask(TypedDict):
    """A task that a batt solves."""

    batt: str
    task: str
    donors: list[str]
    """The solvers that are right on all pairs."""


class MegaSummary(TypedDict):
    """The counts of `batt.mega`."""

    runs: int
    planned: int
    resumed: int
    """The runs that an earlier, interrupted call had done."""
    samples: int
    tasks: int
    tasks_solved: int
    candidates: int
    right: int
    errors: dict[str, int]
    solved: list[SolvedTask]
    output: str | None
    bytes: int | None
    seconds: float | None
    threads: int | None


class MergeSummary(TypedDict):
    """The counts of `batt.merge_results`."""

    parts: int
    runs: int
    tasks: int
    tasks_solved: int
    right: int
    errors: dict[str, int]
    solved: list[SolvedTask]
    """For batts: the tasks that donors solve."""
    output: str
    bytes: int


# Evolving and archives.


class Score(TypedDict):
    """The score of a solver on a task."""

    demos_solved: int
    demos: int
    closeness: float
    """How close the outputs are to the expected ones, from 0 to 1."""
    size: int
    """The number of steps."""
    cost: int
    """The work of the runs, in steps of the engine."""


class EvolveProgress(TypedDict):
    """The counts of an evolution so far: the facts of a `generation` event."""

    generation: int
    tasks: int
    solved: int
    """The tasks with a solver that is right on all demonstrations."""
    offspring: int
    runs: int
    saved: int


class EvolveBest(TypedDict):
    """The best solver of a task."""

    task: str
    hash: str
    origin: str
    """How it was found: the kind of mutation, or `donor` for a known solver."""
    source: str
    score: Score
    solved: bool
    right_on_tests: bool | None
    """`None` if the task is not solved, or if the outputs of its tests are not known."""


class EvolveReport(EvolveProgress):
    """The report of an evolution."""

    best: list[EvolveBest]
    stop: Literal["done", "generations", "deadline", "cancelled", "save-failed"]
    """Why it ended; `done` if all tasks are solved and simpler solvers are unlikely."""
    seconds: float
    archive: str | None
    save_error: str | None
    """Why the last solvers could not be saved."""
    right_on_tests: int | None


class ArchivedTask(TypedDict):
    """A task in an archive."""

    task: str
    solvers: int
    hash: str
    """The hash of the best solver."""
    solved: bool
    score: Score


class ArchivedSolver(TypedDict):
    """A solver in an archive, with its counts over all tasks."""

    hash: str
    mutation: str
    tasks: int
    solved: int
    demos_solved: int
    size: int


class LineageEntry(TypedDict):
    """A solver in a lineage."""

    depth: int
    hash: str
    mutation: str | None
    """`None` if the archive does not have the ancestor any more."""
    source: str | None
    repeated: bool
    """Whether its own ancestors are listed further up."""


class ImportReport(TypedDict):
    """The report of `Archive.add`."""

    tried: int
    kept: int
    known: int
    refused: int
    solving: int
    failing: int
    without_task: list[str]


class MergeReport(TypedDict):
    """The report of `Archive.merge`."""

    scores: int
    kept: int
    solvers: int
    evicted: int


class GarbageReport(TypedDict):
    """The report of `Archive.gc`: what was removed, and the size of the file."""

    scores: int
    solvers: int
    bytes_before: int
    bytes_after: int


# Submitting.


class SubmissionSummary(TypedDict):
    """The counts of `batt.submit`."""

    tasks: int
    outputs: int
    solvers: int
    runs: int
    tasks_solved: int
    """The tasks with a solver that is right on all demonstrations."""
    answered: int
    answered_twice: int
    outputs_solved: int


class SubmissionScore(TypedDict):
    """The scores of a submission by the three rules in use."""

    outputs: int
    outputs_right: int
    by_output: float
    """Kaggle's rule: the share of outputs that are right."""
    by_task_share: float
    """The mean over the tasks of the share of outputs that are right."""
    by_task: float
    """The share of tasks whose outputs are all right."""
    tasks: int
    tasks_solved: int
    solved: list[str]
    missing: list[str]
    """Tasks that the submission does not have. They count as wrong."""
    unknown: list[str]
    """Tasks with a test whose output is not known. They do not count."""
    findings: list[str]
    """What Kaggle would refuse, and answers to tasks that are not among these."""


# Devices.


class FoundDevice(TypedDict):
    """A GPU."""

    device: str
    """Its name as an argument: `cuda:0`."""
    name: str
    free_memory: int | None


class DeviceSurvey(TypedDict):
    """The report of `batt.devices`."""

    cores: int
    gpus: list[FoundDevice]
    driver: str | None
    compiler: str | None
    advice: list[str]
    """What is missing to use GPUs."""
