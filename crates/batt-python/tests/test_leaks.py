"""Memory: a process that works for long does not grow."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import batt
import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is read from /proc"
)

# What a process may grow in the second half of its work, in MiB. Allocators alone make 3 at times.
MOST = 5.0

SETUP = """
import gc, sys, tempfile
import batt

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20

def grows(work, rounds, warm_up):
    for at in range(warm_up):
        work(at)
    sizes = []
    for part in range(10):
        for at in range(rounds // 10):
            work(part * rounds + at)
        sizes.append(resident())
    # Allocators keep large blocks now and then, so only the smallest sizes can be compared.
    print(min(sizes[5:]) - min(sizes[:5]), sizes)

tasks, solvers = batt.Tasks.embedded(), batt.Solvers.embedded()
task = tasks["1673c3ec"]
solve, grid = solvers["solve_1673c3ec"], task.train[0][0]
folder = tempfile.mkdtemp()
"""

WORK = {
    "100,000 calls of a solver": """
        grows(lambda at: [solve(grid) for _ in range(1000)], 100, 10)
    """,
    "100,000 calls that fail": """
        bad = batt.Solver.parse("def f(I): return add(I, hmirror)")
        def work(_):
            for _ in range(1000):
                try:
                    bad(grid)
                except TypeError as error:
                    assert error.line == 1
        grows(work, 100, 10)
    """,
    "100,000 conversions": """
        def work(_):
            for _ in range(1000):
                batt.Grid(grid.tolist()).array
                task.train
                batt.Grid("12/34").to_tuple()
        grows(work, 100, 10)
    """,
    "100 short evolutions": """
        def work(at):
            batt.evolve(tasks, solvers, hold_out=3, generations=2, offspring=100, seed=at).run()
        grows(work, 100, 20)
    """,
    "100 evolutions that are left": """
        def work(at):
            with batt.evolve(tasks[:3], offspring=100, seed=at) as search:
                next(search)
            next(batt.evolve(tasks[:3], archive=folder + "/a.sqlite", offspring=100, seed=at))
        grows(work, 100, 20)
    """,
    "100 runs, batts, tables and pickles": """
        import pickle
        def work(at):
            results = batt.run(solvers, tasks[:20], all_pairs=True)
            results.columns(), list(results)[:10]
            results.__arrow_c_stream__()
            pickle.loads(pickle.dumps(results))
            merged = batt.card(solvers, tasks)
            batt.mega(merged, tasks[:5], folder + "/r.jsonl", existing="overwrite").columns()
            batt.score(batt.submit(tasks, solvers, output=folder + "/s.json"), tasks)
        grows(work, 100, 20)
    """,
    "1,000 archives": """
        archive = batt.Archive(folder + "/a.sqlite")
        archive.add(solvers, tasks)
        def work(at):
            for _ in range(10):
                archive.best("1673c3ec")[0].solver
                archive.tasks()
                batt.Archive(folder + "/a.sqlite").top()
        grows(work, 100, 10)
    """,
    "30,000 errors and tasks": """
        def work(at):
            for _ in range(300):
                try:
                    batt.Solver.parse("def f(I): return hmiror(I)")
                except batt.SolverError:
                    pass
                try:
                    batt.Grid([[11]])
                except ValueError:
                    pass
                batt.Tasks([task])[0].to_dict()
        grows(work, 100, 10)
    """,
}


@pytest.mark.parametrize("name", WORK)
def test_memory_does_not_grow(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SETUP + textwrap.dedent(WORK[name])],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(batt.__file__).parents[1],
        # The allocator otherwise keeps freed memory of ended threads for a while, 50 MB at times.
        env={**os.environ, "MIMALLOC_PURGE_DELAY": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[0]) < MOST, done.stdout
