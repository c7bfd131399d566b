"""Threads: everything at once, and without the GIL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import batt
import pytest
from test_progress import many


def test_ten_threads_use_everything_at_once(
    solvers: batt.Solvers, tasks: batt.Tasks, tmp_path: Path
) -> None:
    merged = batt.card(solvers, tasks)
    archive = batt.Archive(tmp_path / "shared.sqlite")
    few = tasks[:10]
    start = threading.Barrier(10)

    def work(number: int) -> dict[str, Any]:
        start.wait()
        own = tmp_path / str(number)
        own.mkdir()
        found: dict[str, Any] = {}
        found["outputs"] = [
            solvers.of_task(task)[0].output(grid).tolist() for task in few for grid, _ in task.test
        ]
        found["run"] = batt.run(solvers, few, all_pairs=True).summary()["kinds"]
        found["mega"] = batt.mega(merged, few, own / "results.jsonl").summary()["right"]
        found["file"] = (own / "results.jsonl").read_bytes()
        archive.add(solvers[number : number + 3], tasks)
        search = batt.evolve(
            few, solvers, own / "a.sqlite", hold_out=1, generations=2, offspring=50, seed=number % 2
        )
        found[f"evolve {number % 2}"] = [best["hash"] for best in search.run()["best"]]
        found["submit"] = batt.submit(few, solvers, output=own / "submission.json").to_json()
        found["card"] = batt.card(solvers, tasks, count=5, seed=1).source
        found["trace"] = str(solvers[0].trace(few[0].train[0][0]))
        found["check"] = str(batt.Solvers.embedded().check())
        with pytest.raises(batt.SolverError):
            batt.Solver.parse("def f(I): return hmiror(I)")
        return found

    with ThreadPoolExecutor(10) as pool:
        everything = list(pool.map(work, range(10)))
    for key in {key for found in everything for key in found}:
        values = [found[key] for found in everything if key in found]
        assert all(value == values[0] for value in values), key
    assert len(archive) == 12
    assert archive.check() == []


def test_one_search_in_several_threads(tasks: batt.Tasks) -> None:
    search = batt.evolve(tasks[:5], generations=10, offspring=50)
    seen: list[int] = []

    def read() -> None:
        for event in search:
            if event.kind == "generation":
                seen.append(event.facts["generation"])

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(30)
        assert not reader.is_alive()
    assert sorted(seen) == list(range(11))
    assert search.report()["stop"] == "generations"


def test_a_search_is_cancelled_from_another_thread(tasks: batt.Tasks) -> None:
    search = batt.evolve(tasks[:5], offspring=50)
    threading.Timer(0.2, search.cancel).start()
    started = time.monotonic()
    assert search.run()["stop"] == "cancelled"
    assert time.monotonic() - started < 5


class Ticking:
    """Counts how often this process's other thread gets the GIL."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.ticks = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._tick)

    def _tick(self) -> None:
        last = time.monotonic()
        while not self._end.is_set():
            time.sleep(0.001)
            now = time.monotonic()
            self.longest = max(self.longest, now - last)
            self.ticks += 1
            last = now

    def __enter__(self) -> Ticking:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


HEAVY = """
def heavy(I):
    x1 = asobject(I)
    x2 = product(x1, x1)
    x3 = apply(first, x2)
    x4 = product(x2, x3)
    return size(x4)
"""


@pytest.mark.parametrize("kind", ["run", "mega", "evolve", "solver"])
def test_other_threads_go_on(kind: str, solvers: batt.Solvers, tasks: batt.Tasks) -> None:
    seconds = 1.0
    heavy = batt.Solver.parse(HEAVY)
    largest = "/".join(["0123456789" * 3] * 30)
    limits = batt.Limits(steps=10**12, size=10**12, memory=10**10, time=seconds)

    def solver() -> object:
        with pytest.raises(batt.RunFault):
            heavy(largest, limits=limits)
        return None

    works: dict[str, Callable[[], object]] = {
        "run": lambda: batt.run(solvers, many(tasks, 10), all_pairs=True, jobs=1, time=seconds),
        "mega": lambda: batt.mega(batt.card(solvers, tasks), many(tasks, 5), jobs=1, time=seconds),
        "evolve": lambda: batt.evolve(tasks, jobs=1, time=seconds).run(),
        "solver": solver,
    }
    started = time.monotonic()
    with Ticking() as ticking:
        works[kind]()
    took = time.monotonic() - started
    # With the GIL held there would be hardly one tick. A busy machine delays some of them.
    assert ticking.ticks > 100 * min(took, seconds) / 4
    assert ticking.longest < 0.5 * max(took, 0.2)
