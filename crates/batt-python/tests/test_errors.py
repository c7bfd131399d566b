"""Exceptions: each one comes from something real, and is what it claims to be."""

from __future__ import annotations

import builtins
import copy
import errno
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import batt
import pytest
from batt import dsl, errors

Call = Callable[[Path], object]


def solver(*body: str, dialect: Any = None) -> batt.Solver:
    text = "def solve(I):\n" + "".join(f"    {line}\n" for line in body)
    return batt.Solver.parse(text, file="a.py", dialect=dialect)


def running(*body: str, grid: str = "12/34", **limits: Any) -> Call:
    """Returns a call that runs a solver."""
    return lambda _: solver(*body)(grid, limits=batt.Limits(**limits))


def composed(depth: int) -> list[str]:
    steps = [f"x{at} = compose(x{at - 1}, hmirror)" for at in range(2, depth)]
    return ["x1 = compose(hmirror, vmirror)", *steps, f"x{depth} = x{depth - 1}(I)"]


def squared(times: int) -> list[str]:
    return ["x1 = TEN", *(f"x{at} = multiply(x{at - 1}, x{at - 1})" for at in range(2, times))]


EMPTY = ["x1 = initset(ZERO)", "x2 = remove(ZERO, x1)"]
FULL = "/".join(["0123456789"] * 10)
CUBE = ["x1 = asobject(I)", "x2 = product(x1, x1)", "x3 = product(x2, x1)", "return x3"]

FAULTS: dict[type[errors.RunFault], Call] = {
    errors.TypeFault: running("return add(I, hmirror)"),
    errors.IndexFault: running(*EMPTY, "x3 = totuple(x2)", "return canvas(ZERO, x3)"),
    errors.KeyFault: running("return urcorner(I)", grid="123/456"),
    errors.AttributeFault: running("return insert(ONE, I)"),
    errors.ValueFault: running(*EMPTY, "return argmax(x2, size)"),
    errors.StopIterationFault: running(*EMPTY, "return first(x2)"),
    errors.RuntimeFault: running(*EMPTY, "x3 = initset(x2)", "return apply(first, x3)"),
    errors.ZeroDivisionFault: running("return divide(ONE, ZERO)"),
    errors.RecursionFault: running(*composed(1200), "return x1200"),
    errors.IntegerOverflow: running(*squared(9), "return x8"),
    errors.StepLimit: running("x1 = objects(I, T, F, F)", "return x1", grid=FULL, steps=500),
    errors.SizeLimit: running(*CUBE, grid=FULL, size=50),
    errors.MemoryLimit: running(*CUBE, grid=FULL, memory=5000),
    # Within the default limits, so that no machine runs out of memory.
    errors.TimeLimit: running(*CUBE, grid=FULL, time=1e-6),
}


def other_run(folder: Path) -> object:
    tasks, path = batt.Tasks.embedded(), folder / "results.jsonl"
    merged = batt.card(batt.Solvers.embedded()[:2], tasks)
    batt.mega(merged, tasks[:3], path)
    return batt.mega(merged, tasks[:4], path, existing="resume")


def mixed(_: Path) -> object:
    foreign = batt.Solver.parse("def solve_b(I): return I", dialect="tokpidjin")
    return batt.card([solver("return I"), foreign])


def missing_archive(folder: Path) -> object:
    return batt.Archive(folder / "no.sqlite", must_exist=True)


RAISED: dict[type[errors.BattError], Call] = {
    **dict(FAULTS.items()),
    errors.TasksError: lambda _: batt.Tasks.parse("{"),
    errors.SolverError: lambda _: solver("return hmiror(I)"),
    errors.CardError: mixed,
    errors.ResultsError: other_run,
    errors.ArchiveError: missing_archive,
    errors.EvolveError: lambda _: batt.evolve(batt.Tasks.embedded(), only="nothing").run(),
    errors.DeviceError: lambda _: batt.run(
        batt.Solvers.embedded(), batt.Tasks.embedded(), device="cuda:77"
    ),
    errors.FileError: lambda folder: batt.Solvers.load(folder),
    errors.MissingFileError: lambda folder: batt.load(folder / "no.json"),
    errors.EmptyFault: lambda _: dsl.first(()),
    errors.RequestError: lambda _: batt.Limits(steps=0),
}

# Roots of branches, and what only a bug can raise.
NEVER = {errors.BattError, errors.RunFault, errors.RunLimit, errors.InternalError}

CLASSES = [
    thing
    for name in errors.__all__
    if inspect.isclass(thing := getattr(errors, name)) and issubclass(thing, errors.BattError)
]


def raised(kind: type[errors.BattError], folder: Path) -> errors.BattError:
    with pytest.raises(errors.BattError) as found:
        RAISED[kind](folder)
    return found.value


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_is_raised(kind: type[errors.BattError], tmp_path: Path) -> None:
    if kind in NEVER:
        assert kind not in RAISED
        return
    error = raised(kind, tmp_path)
    assert type(error) is kind
    assert str(error).startswith(error.message)
    assert error.message
    if error.hint is not None:
        assert str(error).endswith(f"\nhint: {error.hint}")


@pytest.mark.parametrize("kind", RAISED)
def test_copies_are_equal(kind: type[errors.BattError], tmp_path: Path) -> None:
    error = raised(kind, tmp_path)
    for again in (
        pickle.loads(pickle.dumps(error)),
        copy.copy(error),
        copy.deepcopy(error),
    ):
        assert type(again) is kind
        assert str(again) == str(error)
        assert vars(again) == vars(error)
        assert again.args == error.args


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.FileError, OSError),
        (errors.MissingFileError, FileNotFoundError),
        (errors.RequestError, ValueError),
        (errors.TypeFault, TypeError),
        (errors.IndexFault, IndexError),
        (errors.KeyFault, KeyError),
        (errors.AttributeFault, AttributeError),
        (errors.ValueFault, ValueError),
        (errors.RuntimeFault, RuntimeError),
        (errors.ZeroDivisionFault, ZeroDivisionError),
        (errors.RecursionFault, RecursionError),
        (errors.IntegerOverflow, OverflowError),
    ],
)
def test_it_is_also_the_exception_of_python(
    kind: type[errors.BattError], builtin: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(builtin) as found:
        RAISED[kind](tmp_path)
    assert isinstance(found.value, kind)


@pytest.mark.parametrize("kind", FAULTS)
def test_faults_have_the_names_of_results(kind: type[errors.RunFault], tmp_path: Path) -> None:
    error = raised(kind, tmp_path)
    assert isinstance(error, errors.RunFault)
    name = error.message.split()[0].rstrip(":")
    assert errors.fault(name) is kind
    if not issubclass(kind, errors.RunLimit):
        assert inspect.isclass(getattr(builtins, name))


def test_a_fault_says_where(tmp_path: Path) -> None:
    error = raised(errors.TypeFault, tmp_path)
    assert isinstance(error, errors.RunFault)
    assert (error.op, error.file, error.line) == ("add", "a.py", 2)
    assert str(error).startswith("TypeError in add, a.py:2: ")


def test_stop_iteration_does_not_end_loops() -> None:
    fails = solver(*EMPTY, "return first(x2)")
    with pytest.raises(errors.StopIterationFault):
        list(map(fails, ["12", "34"]))
    with pytest.raises(errors.StopIterationFault):
        tuple(fails(grid) for grid in ["12"])


def test_errors_of_solvers_have_all_findings() -> None:
    text = "def solve_a(I):\n    return hmiror(I)\n\ndef solve_b(I):\n    return 1 + 1\n"
    with pytest.raises(errors.SolverError) as found:
        batt.Solver.parse(text, file="a.py")
    error = found.value
    assert (error.file, error.line) == ("a.py", 2)
    assert [found.line for found in error.diagnostics] == [2, 5]
    assert "did you mean 'hmirror'?" in str(error)
    assert error.diagnostics[0] == batt.Solvers.parse(text, "a.py").diagnostics[0]


def test_errors_of_files_are_those_of_the_system(tmp_path: Path) -> None:
    path = tmp_path / "no.json"
    calls: list[Callable[[], object]] = [
        lambda: batt.load(path),
        lambda: batt.Solvers.load(path),
        lambda: batt.Solver.load(path),
        lambda: batt.Batt.load(path),
        lambda: batt.score(path, batt.Tasks.embedded()),
        lambda: batt.run(path, batt.Tasks.embedded()),
        lambda: batt.submit(batt.Tasks.embedded(), output=path / "x.json"),
        lambda: batt.Submission.fillers(batt.Tasks.embedded()).save(path / "x.json"),
    ]
    for call in calls:
        with pytest.raises(FileNotFoundError) as found:
            call()
        error = found.value
        assert isinstance(error, errors.MissingFileError)
        assert error.errno == errno.ENOENT
        assert str(path) in str(error.filename)
        assert error.file == error.filename
        assert "os error" not in str(error)
    with pytest.raises(OSError, match="name a file") as folder:
        batt.Solvers.load(tmp_path)
    assert folder.value.errno == errno.EISDIR


def test_errors_of_tasks_say_where(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"train": [],\n "test": [}\n', encoding="utf-8")
    with pytest.raises(errors.TasksError) as found:
        batt.load(path)
    assert (found.value.file, found.value.line) == (str(path), 2)
    path.write_text('{"train": [{"input": [[1, 12]], "output": [[1]]}]}', encoding="utf-8")
    with pytest.raises(errors.TasksError, match=r"train\[0\].input: row 0, column 1 is 12"):
        batt.load(path)


@pytest.mark.usefixtures("root")
def test_hints_are_in_the_words_of_python(tmp_path: Path) -> None:
    tasks, solvers = batt.Tasks.embedded(), batt.Solvers.embedded()
    merged = batt.card(solvers[:2], tasks)
    path = tmp_path / "results.jsonl"
    batt.mega(merged, tasks, path)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: batt.run(solvers, tasks, device="cuda:77"), "device='cpu'"),
        (lambda: batt.run("examples/solvers.py", tasks), "all_pairs=True"),
        (lambda: batt.card(solvers, tasks, count=1000), "count"),
        (lambda: batt.evolve(tasks, hold_out=1000).run(), "hold_out"),
        (lambda: batt.evolve(tasks, resume=True).run(), "archive=FILE"),
        (lambda: missing_archive(tmp_path), "batt.evolve"),
        (lambda: mixed(tmp_path), "dialect"),
        (lambda: batt.mega(merged, tasks[:3], path, existing="resume"), "existing='overwrite'"),
        (lambda: batt.evolve(tasks, islands=10**9).run(), "islands="),
        (lambda: solver("return identity(F0)", dialect="arc-dsl"), "dialect='tokpidjin'"),
    ]
    for call, words in calls:
        with pytest.raises(errors.BattError) as found:
            call()
        assert words in str(found.value)
        assert "--" not in str(found.value)
        assert "`batt " not in str(found.value)


@pytest.mark.usefixtures("root")
class TestFunctionsThatWereLeftOut:
    """Solvers that cannot be loaded do not get lost in silence."""

    def test_a_warning_names_the_first(self, tmp_path: Path, tasks: batt.Tasks) -> None:
        path = tmp_path / "a.py"
        path.write_text(
            "def solve_1673c3ec(I):\n    return I\n\ndef solve_b(I):\n    return hmiror(I)\n",
            encoding="utf-8",
        )
        for use in (
            lambda: batt.run(path, tasks),
            lambda: batt.run(batt.Solvers.load(path), tasks),
            lambda: batt.card(path, tasks),
            lambda: batt.submit(tasks, path),
            lambda: batt.evolve(tasks, path),
            lambda: batt.Archive(tmp_path / "a.sqlite").add(path, tasks),
        ):
            with pytest.warns(batt.SolverWarning, match=r"left out: .*a\.py:5:12.*'hmiror'"):
                use()
        assert repr(batt.Solvers.load(path)) == "<Solvers | 1 solvers | 1 error>"

    def test_nothing_at_all_is_an_error(self) -> None:
        with pytest.raises(errors.SolverError, match="no solver could be loaded") as found:
            batt.run("examples/misspelt.py", "examples/tasks")
        assert (found.value.file, found.value.line) == ("examples/misspelt.py", 8)

    def test_a_warning_can_be_an_error(self, tasks: batt.Tasks) -> None:
        text = "def solve_1673c3ec(I): return I\n\ndef solve_b(I): return hmiror(I)\n"
        with pytest.raises(batt.SolverWarning):
            batt.run(batt.Solvers.parse(text), tasks)
        # A selection has left nothing out.
        assert len(batt.run(batt.Solvers.parse(text)[:1], tasks)) == 4
