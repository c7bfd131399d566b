"""Measures work on a Ray cluster, and says from which size on its driver cannot keep up.

    python crates/batt-python/benches/ray_scaling.py ../arc-dsl/solvers.py ../ARC-AGI/data/training

The nodes of the cluster are processes on this machine, with one core each. With more nodes than the
machine has cores, the times show what nodes cost, not what they gain. `docs/scaling.md` explains
the model at the end.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import batt
import batt.ray
import ray
from ray import cluster_utils

# What the model assumes of a cluster: the cores of a machine, and the bytes a second that the
# driver's network carries in each direction (10 Gbit/s).
CORES = 16
NETWORK = 1.25e9


@dataclass
class Item:
    """What one item of work costs: a run, or a run of a batt on one input."""

    core: float
    """Seconds of a worker's core."""
    driver: float
    """Seconds of the driver."""
    size: float
    """Bytes that come back."""


@contextmanager
def cluster(nodes: int) -> Iterator[None]:
    """A cluster of some nodes with one core each. The head has none: it only deals out work."""
    head = {"num_cpus": 0, "include_dashboard": False}
    made: Any = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    for _ in range(nodes):
        made.add_node(num_cpus=1)
    ray.init(address=made.address, logging_level="ERROR", log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()
        made.shutdown()


def timed(work: Callable[[], Any], rounds: int = 1) -> tuple[float, float]:
    """Returns the best time of some work in seconds, and that of this process's processor."""
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        wall, own = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - wall, time.process_time() - own))
    return min(times)


def costs(solvers: batt.Solvers, tasks: batt.Tasks, rounds: int) -> tuple[dict[str, Item], Item]:
    """Prints what travels between the driver and the workers, and what the driver does with it."""
    job = batt.ray._Job(solvers=solvers, tasks=tasks, options={})
    print(f"\nsolvers and tasks, once to each worker: {len(pickle.dumps(job)):,} bytes")
    items: dict[str, Item] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: list[str] = []
        options = {"all_pairs": True, "values": "none", "jobs": 1}
        results = [batt.run(solvers, tasks, shard=f"{at}/8", **options) for at in range(1, 9)]
        core = sum(result.summary()["seconds"] for result in results)
        count = sum(map(len, results))
        parts = [batt._native._rows(result) for result in results]
        del results
        together, _ = timed(
            lambda: batt._native._together(solvers, tasks, parts, True, 1.0, 1), rounds
        )
        size = sum(map(len, parts)) / count
        items["run"] = Item(core / count, together / count, size)
        merged = batt.card(solvers, tasks)
        for kind, full in (("mega", False), ("mega, full", True)):
            some = tasks[:: 10 if full else 1]
            files = [folder / f"{full}-{at}.jsonl" for at in range(1, 9)]
            core = 0.0
            for at, file in enumerate(files, 1):
                done = batt.mega(merged, some, file, shard=f"{at}/8", jobs=1, full=full)
                core += done.summary()["seconds"]
            out = folder / f"{full}.jsonl"
            together, _ = timed(lambda: batt.merge_results(files, out), rounds)
            count, size = some.pair_count, out.stat().st_size
            items[kind] = Item(core / count, together / count, size / count)
        print(f"{'item':<12}{'core':>12}{'bytes back':>12}{'driver':>12}")
        for kind, item in items.items():
            core, own = f"{item.core * 1e6:,.1f} us", f"{item.driver * 1e6:,.2f} us"
            print(f"{kind:<12}{core:>12}{item.size:>12,.0f}{own:>12}")
        archive = batt.Archive(folder / "a.sqlite")
        archive.add(solvers, tasks)
        content = batt.ray._snapshot(archive)
        merging, _ = timed(lambda: batt.ray._merge(archive, content), rounds)
        print(
            f"evolve: an archive of {len(solvers)} solvers has {len(content):,} bytes; "
            f"merging one takes {merging * 1e3:.1f} ms"
        )
    return items, Item(0.0, merging, len(content))


def real_work(solvers: batt.Solvers, tasks: batt.Tasks, nodes: list[int], rounds: int) -> None:
    """Prints how long all solvers on all pairs take."""

    def alone() -> None:
        batt.run(solvers, tasks, all_pairs=True, jobs=1, values="none")

    def together() -> None:
        batt.ray.run(solvers, tasks, all_pairs=True, values="none", progress=False)

    base, _ = timed(alone, rounds)
    print(f"\nall solvers on all pairs; one core without Ray: {base:.1f} s")
    print(f"{'nodes':>6}{'units':>7}{'seconds':>10}{'faster':>9}{'driver, CPU s':>15}")
    for count in nodes:
        with cluster(count):
            wall, own = timed(together, rounds)
        units = count * batt.ray._UNITS_EACH
        print(f"{count:>6}{units:>7}{wall:>10.1f}{base / wall:>8.2f}x{own:>15.2f}")


def driver(under_way: list[int], units: int, workers: int) -> float:
    """Prints what the driver takes for units without work; returns the seconds of the last row."""
    job = batt.ray._Job(tasks=batt.Tasks.embedded()[:1], options={})
    at_hand, last = batt.ray._AT_HAND, 0.0
    print(f"\nunits without work, {workers} workers")
    print(f"{'under way':>10}{'units':>9}{'units a second':>16}{'driver, CPU ms a unit':>23}")
    with cluster(1):
        for count in under_way:
            batt.ray._AT_HAND = max(1, count // workers)
            with batt.ray._Pool(job, workers, 0.01, 0) as pool:
                # The first units wait for the workers to start.
                list(pool.map("ready", dict.fromkeys(range(4 * workers), ())))
                empty = dict.fromkeys(range(units), ())
                wall, own = timed(lambda: list(pool.map("ready", empty)))
            last = own / units
            print(f"{count:>10}{units:>9}{units / wall:>16,.0f}{last * 1e3:>23.2f}")
    batt.ray._AT_HAND = at_hand
    return last


def model(items: dict[str, Item], merge: Item, unit: float) -> None:
    """Prints how busy a driver is, with machines of `CORES` cores and one worker on each."""
    print(f"\nmodel: machines of {CORES} cores, one worker on each")
    print(f"{'machines':<26}{10:>10}{100:>10}{1000:>10}{'keeps up to':>14}")
    for kind, item in items.items():
        # In the time of one item on all machines, the driver has to read one item.
        busy = [count * CORES * item.driver / item.core for count in (10, 100, 1000)]
        most = item.core / item.driver / CORES
        shown = "".join(f"{share * 100:>8.1f} %" for share in busy)
        print(f"{kind + ': driver busy':<26}{shown}{most:>14,.0f}")
        wire = [count * CORES * item.size / item.core / 1e6 for count in (10, 100, 1000)]
        most = NETWORK / (CORES * item.size / item.core)
        shown = "".join(f"{rate:>10,.1f}" for rate in wire)
        print(f"{kind + ': MB/s back':<26}{shown}{most:>14,.0f}")
    units = [count * batt.ray._UNITS_EACH * unit for count in (10, 100, 1000)]
    print(f"{'dealing out units, s':<26}" + "".join(f"{each:>10.1f}" for each in units))
    rounds = [count * (merge.driver + 2 * merge.size / NETWORK) for count in (10, 100, 1000)]
    print(f"{'evolve: driver, s a round':<26}" + "".join(f"{each:>10.1f}" for each in rounds))


def main() -> None:
    """Runs the measurements."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("solvers", nargs="?", help="a solver file; the built-in ones if left out")
    parser.add_argument("tasks", nargs="?", help="tasks; the built-in ones if left out")
    parser.add_argument("--nodes", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3, help="measurements; the best counts")
    parser.add_argument("--under-way", type=int, nargs="*", default=[16, 256, 2048, 16384])
    parser.add_argument("--units", type=int, default=20000, help="units without work")
    parser.add_argument("--workers", type=int, default=8, help="workers that do no work")
    options = parser.parse_args()
    solvers = batt.Solvers(options.solvers) if options.solvers else batt.Solvers.embedded()
    tasks = batt.load(options.tasks) if options.tasks else batt.Tasks.embedded()
    print(f"{len(solvers)} solvers, {len(tasks)} tasks, {tasks.pair_count} pairs")
    if options.nodes:
        real_work(solvers, tasks, options.nodes, options.rounds)
    if options.under_way:
        items, merge = costs(solvers, tasks, options.rounds)
        unit = driver(options.under_way, options.units, options.workers)
        model(items, merge, unit)


if __name__ == "__main__":
    main()
