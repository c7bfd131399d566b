"""Pickles: of every class that has state of its own, also in processes that start anew."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import batt
import public
import pytest
from batt import errors

# What belongs to one process: a search that runs, an open archive's rows, steps of one run.
HERE_ONLY = {"Evolution", "ArchiveEntry", "Trace", "TraceStep"}


def broken(_: Path) -> batt.Diagnostic:
    return batt.Solvers.parse("def f(I): return hmiror(I)", "a.py").diagnostics[0]


def merged(_: Path) -> batt.Batt:
    return batt.card(batt.Solvers.embedded()[:5], batt.Tasks.embedded())


def ran(_: Path) -> batt.Results:
    text = """
def right_a(I): return I
def wrong_a(I): return replace(I, ONE, TWO)
def larger_a(I): return hconcat(I, I)
def nothing_a(I): return size(I)
def function_a(I): return hmirror
def failing_a(I): return add(I, hmirror)
def limited_a(I): return objects(I, T, F, F)
"""
    task = batt.Task("a", [("12/34", "12/34")], [("11", None)])
    return batt.run(batt.Solvers.parse(text), task, values="all", limits=batt.Limits(steps=20))


def event(_: Path) -> batt.EvolveEvent:
    events = batt.evolve(batt.Tasks.embedded()[:2], generations=2, offspring=50)
    return next(event for event in events if event.kind == "improved")


UNKNOWN_TASK = '[[0, 0, "train[0]", ["right"], null, 1]]'

MADE: dict[str, Callable[[Path], Any]] = {
    "Archive": lambda folder: batt.Archive(folder / "a.sqlite"),
    "Batt": merged,
    "Diagnostic": broken,
    "EvolveEvent": event,
    "Grid": lambda _: batt.Grid("12/34"),
    "Limits": lambda _: batt.Limits(steps=5, time=0.25),
    "MegaResult": lambda folder: batt.mega(merged(folder), batt.Tasks.embedded())[7],
    "MegaResults": lambda folder: batt.mega(merged(folder), batt.Tasks.embedded()),
    "Picture": lambda _: batt.picture(batt.Grid("12/34"), theme="dark", cell=9),
    "Result": lambda folder: ran(folder)[-3],
    "Results": ran,
    "ReturnedFunction": lambda _: batt.Solver.parse("def f(I): return hmirror")("1"),
    "Solver": lambda _: batt.Solvers.embedded()[3],
    "Solvers": lambda _: batt.Solvers.embedded(),
    "Submission": lambda _: batt.submit(batt.Tasks.embedded(), batt.Solvers.embedded()[:9]),
    "Task": lambda _: batt.Task("a", [("1", "2")], [("3", None)], name="A", description="?"),
    "Tasks": lambda _: batt.Tasks.embedded(),
}


def facts(thing: Any) -> Any:
    """Returns what an object says of itself, to compare it with its copy."""
    match thing:
        case batt.Results():
            return thing.columns(), thing.summary(), [facts(result) for result in thing]
        case batt.Result():
            value = thing.value
            shown = repr(value) if isinstance(value, batt.ReturnedFunction) else value
            return repr(thing), thing.us, shown, thing.solver, thing.task, thing.render()
        case batt.MegaResults():
            return thing.columns(), thing.summary(), list(thing)
        case batt.Batt():
            return thing.source, thing.name, thing.stats, thing.donors
        case batt.Submission():
            return thing.to_json(), thing.summary(), list(thing)
        case batt.EvolveEvent():
            return thing.kind, thing.task, thing.solver, thing.facts
        case batt.Archive():
            return thing.path, len(thing), thing.tasks()
        case batt.Solvers():
            return thing, thing.format(), thing.diagnostics
        case batt.Solver():
            return thing, thing.name, thing.file, thing.line, thing.dialect, thing.source
        case batt.Tasks():
            return thing, list(thing), thing.content_hash
        case batt.Task():
            return thing, thing.name, thing.description, thing.to_dict()
        case batt.Picture():
            return thing.svg, thing.width, thing.height
        case batt.ReturnedFunction():
            return repr(thing)
        case _:
            return thing, repr(thing), str(thing)


def test_every_class_is_tested() -> None:
    classes = {
        name.rpartition(".")[2]
        for name, thing in public.things()
        if inspect.isclass(thing) and name.startswith("batt.") and name.count(".") == 1
    }
    ours = {name for name in classes if not issubclass(getattr(batt, name), Exception)}
    assert ours == MADE.keys() | HERE_ONLY


@pytest.mark.parametrize("name", MADE)
def test_copies(name: str, tmp_path: Path) -> None:
    thing = MADE[name](tmp_path)
    assert type(thing).__name__ == name
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(thing, protocol))
        assert type(again) is type(thing)
        assert facts(again) == facts(thing)
    assert facts(copy.copy(thing)) == facts(copy.deepcopy(thing)) == facts(thing)


@pytest.mark.parametrize("name", sorted(HERE_ONLY))
def test_what_belongs_to_one_process(name: str, tmp_path: Path) -> None:
    solver = batt.Solvers.embedded()[0]
    archive = batt.Archive(tmp_path / "a.sqlite")
    archive.add(solver, batt.Tasks.embedded())
    things: dict[str, Any] = {
        "Evolution": batt.evolve(batt.Tasks.embedded()),
        "ArchiveEntry": archive.best("002e3123")[0],
        "Trace": solver.trace("12/34"),
        "TraceStep": solver.trace("12/34")[0],
    }
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(things[name])


def test_selections_of_solvers_keep_their_files() -> None:
    some = batt.Solvers.parse("def a(I):\n    return I\n\ndef b(I):\n    return I\n", "ab.py")[1:]
    [again] = pickle.loads(pickle.dumps(some))
    assert (again.name, again.file, again.line) == ("b", "ab.py", 4)


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (batt.Grid, (1, 1, b"\x0b")),
        (batt.Grid, (1, 2, b"\x01")),
        (batt.Task, ("[]",)),
        (batt.Task, ("{",)),
        (batt.Tasks, ('[["a", null, null, [[false, "x", null]]]]',)),
        (batt.Results, (batt.Solvers(), batt.Tasks(), UNKNOWN_TASK, "{}")),
        (batt.Results, (batt.Solvers(), batt.Tasks(), "[[0]]", "{}")),
        (batt.MegaResults, ("[[1]]", "{}")),
        (batt.Submission, ("{}", ["a"], "{}")),
        (batt.Diagnostic, ((1, 1, 1, 1), ("bad", "", "", "", "", None, None))),
        (batt.EvolveEvent, ("bad", None, None, "{}")),
        (batt.Solver, ("", "a", "arc-dsl", "a.py")),
    ],
)  # fmt: skip
def test_damaged_pickles_are_refused(kind: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises((errors.BattError, RuntimeError)):
        kind._restore(*arguments)


def work(job: tuple[batt.Solvers, batt.Tasks, batt.Limits]) -> tuple[batt.Results, object]:
    """Runs in another process."""
    solvers, tasks, limits = job
    results = batt.run(solvers, tasks, limits=limits, jobs=1, values="all")
    try:
        solvers[0]("1", limits=batt.Limits(steps=1))
    except errors.BattError as error:
        return results, error
    return results, None


@pytest.mark.skipif(
    "spawn" not in multiprocessing.get_all_start_methods(), reason="processes cannot be spawned"
)
def test_a_pool_of_processes(solvers: batt.Solvers, tasks: batt.Tasks) -> None:
    parts = [tasks[at::2] for at in range(2)]
    jobs = [(solvers, part, batt.Limits(steps=10**6)) for part in parts]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        done = list(pool.map(work, jobs))
    whole = batt.run(solvers, tasks, values="all")
    found = {
        (result.solver.name, result.pair): result.value for results, _ in done for result in results
    }
    assert found == {(result.solver.name, result.pair): result.value for result in whole}
    for _, error in done:
        assert isinstance(error, errors.StepLimit)
