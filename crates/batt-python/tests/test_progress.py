"""Progress: bars, functions, and functions that raise."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from typing import Any

import batt
import pytest
from batt._progress import bar

Call = Callable[[Any], object]


def many(tasks: batt.Tasks, copies: int) -> batt.Tasks:
    """Returns tasks that take long: copies with other ids."""
    return batt.Tasks(
        batt.Task(f"{task.id}_{at}", task.train, task.test)
        for task in tasks
        for at in range(copies)
    )


@pytest.fixture(scope="module")
def work(
    solvers: batt.Solvers, tasks: batt.Tasks, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Call]:
    """Long work of every kind, as functions of its progress."""
    path = tmp_path_factory.mktemp("archive") / "a.sqlite"
    more = many(tasks, 10)
    merged = batt.card(solvers, tasks)
    return {
        "run": lambda told: batt.run(solvers, more, all_pairs=True, progress=told),
        "mega": lambda told: batt.mega(merged, many(tasks, 5), progress=told),
        "submit": lambda told: batt.submit(tasks, solvers, progress=told),
        "add": lambda told: batt.Archive(path).add(solvers, tasks, progress=told),
        "evolve": lambda told: batt.evolve(tasks, generations=3, offspring=20, progress=told).run(),
    }


KINDS = ["run", "mega", "submit", "add", "evolve"]


@pytest.mark.parametrize("kind", KINDS)
def test_functions_are_told_the_end(work: dict[str, Call], kind: str) -> None:
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))

    work[kind](tell)
    assert told
    done, total = told[-1]
    assert [at for at, _ in told] == sorted(at for at, _ in told)
    if kind == "evolve":
        assert (done, total) == (3, 0)
    else:
        assert done == total > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_that_raises_ends_the_work(work: dict[str, Call], kind: str) -> None:
    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Stop(done, total)

    started = time.monotonic()
    with pytest.raises(Stop):
        work[kind](stop)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("progress", [5, "yes", [], object()])
def test_what_is_no_progress(work: dict[str, Call], kind: str, progress: object) -> None:
    with pytest.raises(TypeError, match="progress is True, False, None or a function"):
        work[kind](progress)


def test_a_search_that_was_ended_by_its_progress_has_a_report(tasks: batt.Tasks) -> None:
    def stop(_done: int, _total: int) -> None:
        raise ValueError("enough")

    search = batt.evolve(tasks[:3], offspring=50, progress=stop)
    with pytest.raises(ValueError, match="enough"):
        search.run()
    assert search.report()["stop"] == "cancelled"


def test_bars_are_drawn_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr("batt._progress._PAUSE", 0.0)
    with bar("running", True) as shown:
        shown(50, 100)
        shown(2000, 0, "more")
    text = written.getvalue()
    assert "[###############...............] running 50 of 100 | 0 s" in text
    assert "running 2,000 | 0 s | more" in text
    assert text.endswith("\r\x1b[2K")


def test_nothing_is_drawn_where_no_person_watches(
    work: dict[str, Call], capfd: pytest.CaptureFixture[str]
) -> None:
    for progress in (None, False):
        work["run"](progress)
    assert capfd.readouterr() == ("", "")


def test_a_bar_for_real_work(
    work: dict[str, Call], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batt._progress._PAUSE", 0.0)
    work["mega"](True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "running" in err
    assert err.endswith("\r\x1b[2K")
