"""Runs, mega-batches and evolution on a Ray cluster.

    driver                                     workers: actors on any machine
      units of work ── dealt out by Ray ────>    hold solvers, tasks and compiled programs
      results, in the order of one machine  <──  a unit is a part of the run, such as 3/64

A unit does not depend on who does it or how often, so a lost worker or machine loses nothing: its
units are done again by others. At the end, idle workers repeat the units that are still under way,
and the first result counts. The results are those of one machine.

    >>> import batt, batt.ray                                    # doctest: +SKIP
    >>> batt.ray.run("solvers.py", batt.load("data/training"))   # doctest: +SKIP
    <Results | 400 of 400 tasks solved | ...>

Needs Ray: `pip install "batt-arc[ray]"`. `docs/scaling.md` says how it scales.
"""

from __future__ import annotations

import hashlib
import importlib
import shutil
import tempfile
import time as clock
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from batt import _native
from batt._native import Archive, Batt, Limits, Results, Solvers, Tasks
from batt._progress import Bar, bar
from batt.errors import BattError, RequestError

if TYPE_CHECKING:
    from batt.types import (
        ArchivedTask,
        BattsLike,
        FilePath,
        MergeSummary,
        Progress,
        SolversLike,
        TasksLike,
    )

try:
    # What Ray says about its types is incomplete, so type checkers see nothing of it.
    ray: Any = importlib.import_module("ray")
except ImportError as _missing:
    raise ImportError("batt.ray needs Ray: pip install 'batt-arc[ray]'") from _missing

__all__ = ["evolve", "mega", "run"]

_LOST = (
    ray.exceptions.RayActorError,
    ray.exceptions.ObjectLostError,
    ray.exceptions.WorkerCrashedError,
)

# A worker has the next unit at hand while it returns the last result.
_AT_HAND = 2

# A unit that has taken so many workers with it will take the next one, too.
_MOST_LOSSES = 5

# If so many workers in a row do not start, none will: a machine may lack the package.
_MOST_FAILED_STARTS = 10

# Units for each worker. More even out what units take, fewer cost less to deal out.
_UNITS_EACH = 16


def run(
    solvers: SolversLike,
    tasks: TasksLike,
    *,
    all_pairs: bool = False,
    device: str = "cpu",
    limits: Limits | None = None,
    values: Literal["none", "wrong", "all"] = "wrong",
    workers: int | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    units: int | None = None,
    progress: Progress = None,
) -> Results:
    """Runs solvers on tasks on a cluster, as `batt.run` does on one machine.

    A worker takes `num_cpus` cores and `num_gpus` GPUs. By default there are as many workers as the
    cluster has room for. With GPUs, `device="cuda"` uses the GPU that Ray gives to a worker.

    >>> results = batt.ray.run("solvers.py", "data/training")  # doctest: +SKIP
    """
    chosen, tasks = Solvers(solvers), Tasks(tasks)
    options = {
        "all_pairs": all_pairs,
        "device": device,
        "limits": limits,
        "values": values,
    }
    started = clock.monotonic()
    job = _Job(solvers=chosen, tasks=tasks, options=options)
    with _Pool(job, workers, num_cpus, num_gpus) as pool, bar("running", progress) as shown:
        parts = pool.parts("run", units, shown)
    seconds = clock.monotonic() - started
    return _native._together(chosen, tasks, parts, all_pairs, seconds, pool.size)


def mega(
    batts: BattsLike,
    tasks: Tasks,
    output: FilePath,
    *,
    existing: Literal["refuse", "resume", "overwrite"] = "refuse",
    full: bool = False,
    device: str = "cpu",
    limits: Limits | None = None,
    workers: int | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    units: int | None = None,
    progress: Progress = None,
) -> MergeSummary:
    """Runs batts on every pair of every task on a cluster, and writes the file of one machine.

    Finished parts are kept in the folder `OUTPUT.parts` until the file is complete. If the work is
    interrupted, `existing="resume"` continues with the parts that are missing.

    >>> batt.ray.mega("batt.py", "data/training", "results.jsonl")  # doctest: +SKIP
    """
    target = Path(output)
    folder = target.with_name(target.name + ".parts")
    if existing == "refuse" and (target.exists() or folder.exists()):
        raise RequestError(
            f"{target} or {folder} exists", 'pass existing="resume" or existing="overwrite"'
        )
    if existing == "overwrite":
        shutil.rmtree(folder, ignore_errors=True)
    listed = _native._batts(batts)
    options = {"full": full, "device": device, "limits": limits}
    job = _Job(batts=listed, tasks=Tasks(tasks), options=options)
    with _Pool(job, workers, num_cpus, num_gpus) as pool, bar("running", progress) as shown:
        folder.mkdir(parents=True, exist_ok=True)
        # The number of units decides what a part is, so a resumed run keeps it.
        count = _kept_count(folder, units or pool.size * _UNITS_EACH)
        missing = {
            number: (f"{number}/{count}",)
            for number in range(1, count + 1)
            if not _part(folder, number).exists()
        }
        done = count - len(missing)
        for number, files in pool.map("mega", missing):
            for suffix, content in sorted(files.items(), reverse=True):
                _write(_part(folder, number, suffix), content)
            done += 1
            shown(done, count)
    parts = [_part(folder, number) for number in range(1, count + 1)]
    summary = _native.merge_results(parts, target)
    shutil.rmtree(folder, ignore_errors=True)
    return summary


def evolve(
    tasks: Tasks,
    solvers: SolversLike | None,
    archive: FilePath,
    *,
    rounds: int | None = None,
    generations: int = 20,
    time: float | None = None,
    seed: int = 0,
    islands: int | None = None,
    offspring: int | None = None,
    population: int | None = None,
    workers: int | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    device: str = "cpu",
    progress: Progress = None,
) -> list[ArchivedTask]:
    """Searches for new solvers on a cluster, and keeps them in one archive.

    In each round every island evolves its tasks for some generations, learning from the archive.
    Then the driver merges what they have found, so solvers migrate to all islands with the next
    round. If there are more islands than tasks, several islands evolve the same task with other
    seeds. The search ends after `rounds` rounds or after `time` seconds, or when all tasks are
    solved. The same seed, rounds, generations and islands give the same solvers on any cluster.

    Returns the tasks that have solvers, as `Archive.tasks` does.

    >>> batt.ray.evolve("data/evaluation", "solvers.py", "batt.sqlite", time=3600)  # doctest: +SKIP
    """
    if rounds is None and time is None:
        raise RequestError("the search has no end", "pass rounds or time")
    chosen = None if solvers is None else Solvers(solvers)
    kept, tasks = Archive(archive), Tasks(tasks)
    ids = [task.id for task in tasks]
    options = {
        "generations": generations,
        "offspring": offspring,
        "population": population,
        "device": device,
    }
    ends = None if time is None else clock.monotonic() + time
    job = _Job(solvers=chosen, tasks=tasks, options=options)
    with _Pool(job, workers, num_cpus, num_gpus) as pool, bar("evolving", progress) as shown:
        count = islands or pool.size
        number = 0
        while rounds is None or number < rounds:
            left = None if ends is None else ends - clock.monotonic()
            solved = {task["task"] for task in kept.tasks() if task["solved"]}
            open_tasks = [task for task in ids if task not in solved]
            if (left is not None and left <= 0) or not open_tasks:
                break
            content = ray.put(_snapshot(kept))
            units = {
                island: (content, open_tasks[island % len(open_tasks) :: count], seeds, left)
                for island in range(count)
                for seeds in [_seed(seed, number, island)]
            }
            found: dict[int, bytes] = {}
            try:
                for island, new in pool.map("evolve", units):
                    found[island] = new
                    shown(number * count + len(found), (rounds or 0) * count)
            finally:
                # In the order of the islands, so that the archive does not depend on their speed.
                for island in sorted(found):
                    _merge(kept, found[island])
            number += 1
    return kept.tasks()


@dataclass
class _Job:
    """What workers hold."""

    tasks: Tasks
    options: Mapping[str, Any]
    solvers: Solvers | None = None
    batts: list[Batt] | None = None


class _Worker:
    """An actor that does units of work. Programs are compiled once, when they run first."""

    def __init__(self, job: _Job) -> None:
        self._job = job
        # A worker has as many cores as Ray has given it.
        cores = ray.get_runtime_context().get_assigned_resources().get("CPU", 1)
        self._jobs = max(1, int(cores))

    def ready(self) -> None:
        """Returns when the worker has started."""

    def run(self, shard: str) -> str:
        """Runs a part of the solvers' runs and returns its rows."""
        job = self._job
        assert job.solvers is not None
        results = _native.run(job.solvers, job.tasks, jobs=self._jobs, shard=shard, **job.options)
        return _native._rows(results)

    def mega(self, shard: str) -> dict[str, bytes]:
        """Runs a part of a mega-batch and returns its files by the end of their names."""
        job = self._job
        assert job.batts is not None
        with tempfile.TemporaryDirectory(prefix="batt-") as folder:
            path = Path(folder) / "part.jsonl"
            _native.mega(job.batts, job.tasks, path, jobs=self._jobs, shard=shard, **job.options)
            start = len(path.name)
            return {file.name[start:]: file.read_bytes() for file in Path(folder).iterdir()}

    def evolve(self, archive: bytes, only: list[str], seed: int, time: float | None) -> bytes:
        """Evolves some tasks, learning from an archive, and returns what it has become."""
        job = self._job
        with tempfile.TemporaryDirectory(prefix="batt-") as folder:
            path = Path(folder) / "island.sqlite"
            path.write_bytes(archive)
            search = _native.evolve(
                job.tasks,
                job.solvers,
                path,
                only=only,
                seed=seed,
                time=time,
                jobs=self._jobs,
                **job.options,
            )
            search.run()
            return path.read_bytes()


class _Pool:
    """Workers on a cluster. Ray places them, and starts others where a machine is lost."""

    def __init__(self, job: _Job, workers: int | None, num_cpus: float, num_gpus: float) -> None:
        if not ray.is_initialized():
            ray.init()
        self.size = workers or _room(num_cpus, num_gpus)
        self._make = ray.remote(num_cpus=num_cpus, num_gpus=num_gpus)(_Worker)
        self._job = ray.put(job)
        self._starting: dict[Any, Any] = {}
        self._failed_starts = 0
        self._workers: list[Any] = []

    def __enter__(self) -> _Pool:
        for _ in range(self.size):
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in [*self._workers, *self._starting.values()]:
            ray.kill(worker)

    def _start(self) -> None:
        worker = self._make.remote(self._job)
        self._starting[worker.ready.remote()] = worker

    def parts(self, method: str, units: int | None, shown: Bar) -> list[str]:
        """Does all parts of a run and returns their results, in the order of the parts."""
        count = units or self.size * _UNITS_EACH
        parts: dict[int, str] = {}
        shards = {number: (f"{number}/{count}",) for number in range(1, count + 1)}
        for number, part in self.map(method, shards):
            parts[number] = part
            shown(len(parts), count)
        return [parts[number] for number in range(1, count + 1)]

    def map(self, method: str, units: Mapping[int, tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Does all units and yields their results as they come."""
        waiting = deque(units)
        running: dict[Any, tuple[int, Any]] = {}
        losses: dict[int, int] = {}
        done: set[int] = set()
        # Each worker is in the queue once for every unit that it has room for.
        free = deque(self._workers * _AT_HAND)
        load = dict.fromkeys(self._workers, 0)
        copies: dict[int, int] = {}

        def give(unit: int, worker: Any) -> None:
            running[getattr(worker, method).remote(*units[unit])] = (unit, worker)
            load[worker] += 1
            copies[unit] = copies.get(unit, 0) + 1

        while len(done) < len(units):
            while waiting and free:
                worker = free.popleft()
                if load.get(worker, _AT_HAND) < _AT_HAND:
                    give(waiting.popleft(), worker)
            if not waiting:
                # Idle workers repeat the units under way, the oldest first, so that nobody waits
                # for a slow machine. Two copies are enough.
                late = [
                    unit for unit, _ in running.values() if copies[unit] < 2 and unit not in done
                ]
                idle = [worker for worker, count in load.items() if count == 0]
                for unit, worker in zip(late, idle):
                    give(unit, worker)
            for ref in _ready([*running, *self._starting]):
                if ref in self._starting:
                    worker = self._started(ref)
                    if worker is not None:
                        load[worker] = 0
                        free.extend([worker] * _AT_HAND)
                    continue
                unit, worker = running.pop(ref)
                copies[unit] -= 1
                try:
                    result = ray.get(ref)
                except _LOST:
                    if load.pop(worker, None) is not None:
                        self._lost(worker)
                    losses[unit] = losses.get(unit, 0) + 1
                    if losses[unit] >= _MOST_LOSSES:
                        raise BattError(
                            f"a unit of work was lost with its worker {losses[unit]} times",
                            "look at the logs of Ray; a worker may lack memory",
                        ) from None
                    if unit not in done and unit not in waiting:
                        waiting.appendleft(unit)
                    continue
                if worker in load:
                    load[worker] -= 1
                    free.append(worker)
                if unit not in done:
                    done.add(unit)
                    yield unit, result

    def _started(self, ref: Any) -> Any:
        """Takes a worker that has started, and returns it unless it is lost already."""
        worker = self._starting.pop(ref)
        try:
            ray.get(ref)
        except _LOST as error:
            self._failed_starts += 1
            if self._failed_starts >= _MOST_FAILED_STARTS:
                raise BattError(
                    f"{self._failed_starts} workers in a row did not start: {_cause(error)}",
                    "install the same version of batt-arc on every machine",
                ) from None
            # Ray places the next one when there is room.
            self._start()
            return None
        self._failed_starts = 0
        self._workers.append(worker)
        return worker

    def _lost(self, worker: Any) -> None:
        if worker in self._workers:
            self._workers.remove(worker)
            self._start()


def _cause(error: Exception) -> str:
    """Returns the line of an error of Ray that says most: the last one, that of the exception."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _ready(refs: list[Any]) -> list[Any]:
    """Waits for results, a second at most, and returns all that have come.

    To ask takes longer the more results are awaited. So the driver of a large cluster must not ask
    for each one.
    """
    first: list[Any]
    first, rest = ray.wait(refs, timeout=1.0)
    more: list[Any] = []
    if first and rest:
        more, _ = ray.wait(rest, num_returns=len(rest), timeout=0)
    return first + more


def _room(num_cpus: float, num_gpus: float) -> int:
    """Returns how many workers the cluster has room for."""
    resources = ray.cluster_resources()
    room = [resources.get("CPU", 0) // num_cpus if num_cpus else float("inf")]
    if num_gpus:
        room.append(resources.get("GPU", 0) // num_gpus)
    size = min(room)
    if size == float("inf"):
        size = len(ray.nodes())
    if size < 1:
        raise RequestError(
            f"the cluster has no room for a worker with {num_cpus} cores and {num_gpus} GPUs",
            f"it has {resources.get('CPU', 0):.0f} cores and {resources.get('GPU', 0):.0f} GPUs",
        )
    return int(size)


def _part(folder: Path, number: int, suffix: str = "") -> Path:
    return folder / f"part-{number:06}.jsonl{suffix}"


def _kept_count(folder: Path, count: int) -> int:
    """Returns the number of parts of an interrupted run, or begins a run of `count` parts."""
    kept = folder / "count"
    if kept.exists():
        return int(kept.read_text())
    _write(kept, str(count).encode())
    return count


def _write(path: Path, content: bytes) -> None:
    """Writes a file that is complete or not there."""
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(content)
    beside.replace(path)


def _seed(seed: int, round: int, island: int) -> int:
    """Returns the seed of an island in a round."""
    digest = hashlib.sha256(f"{seed}/{round}/{island}".encode()).digest()
    return int.from_bytes(digest[:7], "big")


def _snapshot(archive: Archive) -> bytes:
    """Returns the contents of an archive as a file of its own."""
    with tempfile.TemporaryDirectory(prefix="batt-") as folder:
        path = Path(folder) / "snapshot.sqlite"
        copy = Archive(path)
        copy.merge(archive.path)
        del copy
        return path.read_bytes()


def _merge(archive: Archive, content: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="batt-") as folder:
        path = Path(folder) / "island.sqlite"
        path.write_bytes(content)
        archive.merge(path)
