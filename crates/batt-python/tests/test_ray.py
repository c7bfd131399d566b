"""A cluster of three nodes on this machine gives what one machine gives, also if a node dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import batt
import pytest

ray: Any = pytest.importorskip("ray")
cluster_utils: Any = pytest.importorskip("ray.cluster_utils")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    head = {"num_cpus": 1, "include_dashboard": False}
    nodes = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    ray.init(address=nodes.address, logging_level="ERROR", log_to_driver=False)
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture(scope="module")
def work() -> tuple[batt.Solvers, batt.Tasks]:
    return batt.Solvers.embedded(), batt.Tasks.embedded()


def same(a: batt.Results, b: batt.Results) -> bool:
    """Returns whether two results are the same but for times."""

    def content(results: batt.Results) -> tuple[object, object]:
        columns = {name: cells for name, cells in results.columns().items() if name != "us"}
        return columns, [result.value for result in results]

    return content(a) == content(b)


@pytest.mark.usefixtures("cluster")
def test_a_cluster_gives_the_results_of_one_machine(
    work: tuple[batt.Solvers, batt.Tasks],
) -> None:
    import batt.ray

    solvers, tasks = work
    alone = batt.run(solvers, tasks, all_pairs=True, values="all")
    told: list[tuple[int, int]] = []
    together = batt.ray.run(
        solvers,
        tasks,
        all_pairs=True,
        values="all",
        units=7,
        progress=lambda done, total: told.append((done, total)),
    )
    assert same(alone, together)
    one: dict[str, object] = {**alone.summary()}
    other: dict[str, object] = {**together.summary()}
    keys = ("runs", "tasks_solved", "pairs_right", "kinds", "solved", "also_solved")
    assert [one[key] for key in keys] == [other[key] for key in keys]
    assert told[-1] == (7, 7)


@pytest.mark.usefixtures("cluster")
def test_a_mega_batch_is_the_file_of_one_machine_and_resumes(
    work: tuple[batt.Solvers, batt.Tasks], tmp_path: Path
) -> None:
    import batt.ray

    solvers, tasks = work
    merged = batt.card(solvers, tasks)
    batt.mega(merged, tasks, tmp_path / "alone.jsonl")
    target = tmp_path / "together.jsonl"

    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise StopError

    with pytest.raises(StopError):
        batt.ray.mega(merged, tasks, target, units=8, progress=stop)
    assert not target.exists()
    parts = tmp_path / "together.jsonl.parts"
    finished = len(list(parts.glob("part-*.jsonl")))
    assert finished >= 3
    with pytest.raises(batt.errors.RequestError):
        batt.ray.mega(merged, tasks, target)
    counts: list[int] = []
    summary = batt.ray.mega(
        merged, tasks, target, existing="resume", progress=lambda done, _: counts.append(done)
    )
    assert min(counts) > finished
    assert summary["tasks_solved"] == 65
    assert target.read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
    assert not parts.exists()


@pytest.mark.usefixtures("cluster")
def test_an_error_of_a_worker_arrives(work: tuple[batt.Solvers, batt.Tasks]) -> None:
    import batt.ray

    solvers, _ = work
    with pytest.raises(batt.errors.RequestError, match="named after a task"):
        batt.ray.run(solvers, "examples/tasks", units=2)


@pytest.mark.usefixtures("cluster")
def test_islands_share_one_archive_and_are_reproducible(
    work: tuple[batt.Solvers, batt.Tasks], tmp_path: Path
) -> None:
    import batt.ray

    solvers, tasks = work

    def search(name: str, workers: int) -> list[tuple[str, str]]:
        found = batt.ray.evolve(
            tasks[:6],
            solvers[6:],
            tmp_path / name,
            rounds=2,
            generations=3,
            offspring=100,
            islands=3,
            seed=5,
            workers=workers,
        )
        return [(task["task"], task["hash"]) for task in found]

    first = search("a.sqlite", 3)
    assert len(first) == 6
    assert first == search("b.sqlite", 2)
    assert batt.Archive(tmp_path / "a.sqlite").check() == []


@pytest.mark.usefixtures("cluster")
def test_workers_that_never_start_end_the_work(
    work: tuple[batt.Solvers, batt.Tasks], monkeypatch: pytest.MonkeyPatch
) -> None:
    import batt.ray

    class Broken:
        def __init__(self, job: object) -> None:
            raise ModuleNotFoundError("No module named 'batt'")

        def ready(self) -> None: ...

    monkeypatch.setattr("batt.ray._Worker", Broken)
    with pytest.raises(batt.errors.BattError, match=r"did not start: .*No module named") as found:
        batt.ray.run(*work, units=2)
    assert "on every machine" in (found.value.hint or "")


@pytest.mark.usefixtures("cluster")
def test_slow_workers_are_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import batt.ray

    parts: Any = batt.ray

    class Slow:
        def __init__(self, job: object) -> None: ...

        def ready(self) -> None: ...

        def work(self, unit: int, sleeping: str) -> int:
            if unit == 0 and not Path(sleeping).exists():
                Path(sleeping).touch()
                time.sleep(600)
            return unit * unit

    monkeypatch.setattr("batt.ray._Worker", Slow)
    started = time.monotonic()
    units = {unit: (unit, str(tmp_path / "sleeping")) for unit in range(40)}
    with parts._Pool(parts._Job(batt.Tasks(), {}), 2, 1, 0) as pool:
        results = dict(pool.map("work", units))
    assert results == {unit: unit * unit for unit in range(40)}
    assert (tmp_path / "sleeping").exists()
    assert time.monotonic() - started < 300


def test_a_lost_node_loses_nothing(cluster: Any, work: tuple[batt.Solvers, batt.Tasks]) -> None:
    """The last test of this file: the cluster has a node less after it."""
    import batt.ray

    solvers, tasks = work
    alone = batt.run(solvers, tasks, all_pairs=True, values="all")
    lost = threading.Event()
    doomed = cluster.list_all_nodes()[-1]

    def lose(done: int, total: int) -> None:
        if done >= 30 and not lost.is_set():
            lost.set()
            cluster.remove_node(doomed, allow_graceful=False)

    together = batt.ray.run(
        solvers, tasks, all_pairs=True, values="all", units=200, workers=3, progress=lose
    )
    assert lost.is_set()
    assert len(cluster.list_all_nodes()) == 2
    assert same(alone, together)
