"""Running, merging, evolving, archiving, submitting and scoring, against each other."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path

import batt
import numpy as np
import pytest
from batt import Archive, Batt, Solvers, Tasks, errors

BROKEN = """\
def solve_{id}(I):
    x1 = hmirror(I)
    return add(x1, hmirror)
"""


class TestRun:
    def test_results_are_those_of_single_runs(self, solvers: Solvers, tasks: Tasks) -> None:
        few = tasks[:5]
        results = batt.run(solvers[:10], few, all_pairs=True, values="all")
        assert len(results) == 10 * few.pair_count
        for result in results:
            try:
                value = result.solver(result.input, result.task)
            except errors.RunFault as fault:
                assert result.right is False
                assert result.value is None
                assert errors.fault(result.error or "") is type(fault)
                assert (result.op, result.line) == (fault.op, fault.line)
                assert result.reason == fault.message
            else:
                assert result.value == value
                assert result.error is None
                expected = result.expected
                assert expected is not None
                is_right = value == tuple(tuple(row) for row in expected.tolist())
                assert result.right is is_right
                assert (result.reason is None) is is_right
                if result.output is not None and result.output.shape == expected.shape:
                    wrong = int((result.output != expected).sum())
                    assert result.wrong_cells == wrong

    def test_the_summary_counts_the_results(self, solvers: Solvers, tasks: Tasks) -> None:
        results = batt.run(solvers, tasks[:20], all_pairs=True)
        summary = results.summary()
        columns = results.columns()
        assert summary["runs"] == summary["planned"] == len(results)
        assert summary["kinds"]["right"] == columns["right"].count(True)
        assert sum(summary["kinds"].values()) == len(results)
        assert summary["tasks"] == summary["tasks_solved"] == len(summary["solved"]) == 20
        assert len(results.failures()) == columns["right"].count(False)
        right = {
            (task, pair)
            for task, pair, right in zip(columns["task"], columns["pair"], columns["right"])
            if right
        }
        assert summary["pairs_right"] == len(right)

    def test_solved_tasks_are_named(self, root: Path) -> None:
        folder = root / "examples"
        results = batt.run(folder / "solvers.py", folder / "tasks")
        summary = results.summary()
        assert summary["solved"] == ["a1c0ffee", "b0a710ad", "c0de5eed"]
        assert summary["tasks_solved"] == 3
        by_task = dict.fromkeys(results.tasks.ids, True)
        for result in results:
            by_task[result.task.id] &= result.right is True
        assert [id for id, solved in by_task.items() if solved] == summary["solved"]

    def test_results_do_not_depend_on_threads(self, solvers: Solvers, tasks: Tasks) -> None:
        def of(jobs: int) -> dict[str, list[object]]:
            columns = batt.run(solvers, tasks, all_pairs=True, jobs=jobs).columns()
            del columns["us"]
            return columns

        assert of(1) == of(7)

    def test_values_are_kept_on_request(self, solvers: Solvers, tasks: Tasks) -> None:
        few, others = solvers[:3], tasks[:3]
        kept = {
            values: {
                result.value is not None
                for result in batt.run(few, others, all_pairs=True, values=values)
                if result.right
            }
            for values in ("none", "wrong", "all")
        }
        assert kept == {"none": {False}, "wrong": {False}, "all": {True}}

    @pytest.mark.parametrize(
        "value",
        [
            "canvas(THREE, (2, 5))",
            "canvas(NINE, (40, 50))",
            "astuple((1, 255), (0, 3))",
            # These look like rectangles of small numbers and are none.
            "astuple((T, 0), (0, 3))",
            "astuple((1, 256), (0, 3))",
            "astuple((1, -1), (0, 3))",
            "astuple((1, 2), (3,))",
            "astuple((), ())",
            "(1, 2)",
            "asindices(I)",
            "None",
        ],
    )
    def test_values_are_kept_exactly(self, value: str, tasks: Tasks) -> None:
        task = tasks[0]
        solver = batt.Solver.parse(f"def solve_{task.id}(I): return {value}")
        for result in batt.run(solver, task, values="all"):
            wanted = solver(result.input)
            assert repr(result.value) == repr(wanted)
            again: batt.Result = pickle.loads(pickle.dumps(result))
            assert repr(again.value) == repr(wanted)
            is_grid = value.startswith(("canvas(THREE", "astuple((T"))
            assert (result.output is not None) == is_grid

    def test_unknown_outputs_are_neither_right_nor_wrong(self, solvers: Solvers) -> None:
        task = batt.Tasks.embedded()["1673c3ec"]
        unknown = batt.Task(task.id, task.train, [(task.test[0][0], None)])
        results = batt.run(solvers.of_task(task), unknown)
        assert [result.right for result in results] == [True, True, True, None]
        assert results[-1].verdict == "without a known output"
        assert results[-1].expected is None
        assert not results.failures()
        assert results.summary()["pairs"] == 3

    def test_a_result_in_words(self, tasks: Tasks) -> None:
        id = tasks[0].id
        results = batt.run(Solvers.parse(BROKEN.format(id=id), "b.py"), tasks)
        first = results[0]
        assert repr(first).startswith(f"<Result solve_{id} train[0] | TypeError in add, b.py:3: ")
        assert (first.error, first.op, first.line) == ("TypeError", "add", 3)
        assert first.verdict == "TypeError"

    def test_jsonl(self, solvers: Solvers, tasks: Tasks, tmp_path: Path) -> None:
        path = tmp_path / "results.jsonl"
        results = batt.run(solvers, tasks, values="all")
        results.write_jsonl(path)
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert [line["solver"] for line in lines] == results.columns()["solver"]
        assert all(line["ok"] for line in lines)

    def test_time(self, solvers: Solvers, tasks: Tasks) -> None:
        results = batt.run(solvers, tasks, time=0)
        assert len(results) == 0
        assert results.summary()["planned"] == 260

    def test_solvers_without_tasks_are_named(self, tasks: Tasks) -> None:
        text = "def solve_1673c3ec(I): return I\n\ndef solve_x(I): return I\n"
        summary = batt.run(Solvers.parse(text), tasks).summary()
        assert summary["without_task"] == ["solve_x"]

    def test_other_solvers_of_a_task_are_named(self, tasks: Tasks) -> None:
        solver = Solvers.embedded()["solve_1673c3ec"]
        text = solver.source.replace(solver.name, "solve_a")
        summary = batt.run(Solvers.parse(text), tasks["1673c3ec"], all_pairs=True).summary()
        assert summary["also_solved"] == [{"task": "1673c3ec", "solver": "solve_a"}]


class TestMega:
    def test_a_batt_computes_what_its_solvers_compute(self, solvers: Solvers, tasks: Tasks) -> None:
        merged = batt.card(solvers, tasks)
        assert sorted(merged.donors) == sorted(tasks.ids)
        assert len(merged) == len(solvers)
        few = tasks[:10]
        results = batt.mega(merged, few)
        single = batt.run(solvers, few, all_pairs=True)
        right: dict[tuple[str, str], set[str]] = {}
        for result in single:
            if result.right:
                name = result.solver.name.removeprefix("solve_")
                right.setdefault((result.task.id, result.pair), set()).add(name)
        assert {(row.task, row.pair): set(row.right) for row in results} == right
        assert results.summary()["right"] == sum(map(len, right.values()))

    def test_steps_are_shared(self, solvers: Solvers, tasks: Tasks) -> None:
        merged = batt.card(solvers, tasks)
        stats = merged.stats
        assert stats is not None
        assert stats["solvers"] == 65
        assert stats["steps"] == merged.steps < stats["steps_shared"] < stats["steps_before"]
        assert batt.card(solvers, tasks, differs=False).steps < merged.steps

    def test_seeds(self, solvers: Solvers, tasks: Tasks) -> None:
        def source(seed: int) -> str:
            return batt.card(solvers, tasks, count=5, mutants=3, seed=seed).source

        assert source(1) == source(1)
        assert source(1) != source(2)
        merged = batt.card(solvers, tasks, count=5, mutants=3, seed=1)
        assert len(merged) == 8

    def test_files(self, solvers: Solvers, tasks: Tasks, tmp_path: Path) -> None:
        merged = batt.card(solvers, tasks)
        path = tmp_path / "batt.py"
        merged.save(path)
        loaded = Batt.load(path)
        assert loaded.source == merged.source == path.read_text(encoding="utf-8")
        assert path.with_suffix(".json").exists()
        assert loaded.name == str(path)
        assert loaded.stats is None
        assert loaded.donors == merged.donors
        for form in (path, str(path), [path], loaded, [loaded]):
            assert batt.mega(form, tasks[:3]).summary()["tasks_solved"] == 3
        with pytest.raises(errors.RequestError, match="mixed"):
            batt.mega([path, loaded], tasks)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        with pytest.raises(errors.RequestError, match="no batt to run"):
            batt.mega([], tasks)

    def test_files_without_a_batt(self, root: Path, tasks: Tasks) -> None:
        path = root / "examples" / "solvers.py"
        for call in (lambda: Batt.load(path), lambda: batt.mega(path, tasks)):
            with pytest.raises(errors.BattError, match="batt"):
                call()

    def test_solvers_are_cut_out(self, solvers: Solvers, tasks: Tasks) -> None:
        merged = batt.card(solvers, tasks)
        for task in tasks[:10]:
            cut = merged.extract(task.id)
            assert cut.name == f"solve_{task.id}"
            assert batt.run(cut, task).summary()["tasks_solved"] == 1
        assert merged.extract("1673c3ec", name="mine").name == "mine"
        assert merged.extract(step=3).steps <= 3
        for arguments in ({}, {"donor": "1673c3ec", "step": 1}):
            with pytest.raises(errors.RequestError, match="either a donor or a step"):
                merged.extract(**arguments)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        with pytest.raises(errors.RequestError, match="did you mean '1673c3ec'"):
            merged.extract("1673c3e")

    def test_output_files(self, solvers: Solvers, tasks: Tasks, tmp_path: Path) -> None:
        merged, few = batt.card(solvers, tasks), tasks[:10]
        path = tmp_path / "results.jsonl"
        first = batt.mega(merged, few, path)
        summary = first.summary()
        assert summary["output"] == str(path)
        assert summary["bytes"] == path.stat().st_size
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert len(lines) == len(first) == few.pair_count
        # A finished file is left alone, and its counts are returned.
        before = path.stat().st_mtime_ns
        again = batt.mega(merged, few, path, existing="resume")
        assert path.stat().st_mtime_ns == before
        assert again.summary()["resumed"] == few.pair_count
        assert again.summary()["solved"] == summary["solved"]
        assert len(again) == 0
        assert repr(again).endswith(f"| {few.pair_count} resumed>")
        with pytest.raises(errors.ResultsError) as found:
            batt.mega(merged, tasks[:9], path, existing="resume")
        assert "tasks changed" in found.value.message
        assert batt.mega(merged, tasks[:9], path, existing="overwrite").summary()["tasks"] == 9

    def test_interrupted_runs_resume_to_the_same_bytes(
        self, solvers: Solvers, tasks: Tasks, tmp_path: Path
    ) -> None:
        merged = batt.card(solvers, tasks)
        whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
        batt.mega(merged, tasks, whole)
        stopped = batt.mega(merged, tasks, parts, time=0.02, jobs=1)
        assert not parts.exists()
        if stopped.summary()["runs"] < stopped.summary()["planned"]:
            with pytest.raises(errors.ResultsError, match="unfinished") as found:
                batt.mega(merged, tasks, parts)
            assert "existing='resume'" in (found.value.hint or "")
        resumed = batt.mega(merged, tasks, parts, existing="resume")
        assert resumed.summary()["resumed"] == stopped.summary()["runs"]
        assert parts.read_bytes() == whole.read_bytes()

    def test_parquet(self, solvers: Solvers, tasks: Tasks, tmp_path: Path) -> None:
        polars = pytest.importorskip("polars")
        path = tmp_path / "results.parquet"
        results = batt.mega(batt.card(solvers, tasks), tasks[:5], path)
        frame = polars.read_parquet(path)
        # The table has a row for each candidate.
        assert frame["task"].unique(maintain_order=True).to_list() == tasks[:5].ids
        assert len(frame) > len(results)


class TestEvolve:
    def test_a_search(self, solvers: Solvers, tasks: Tasks, tmp_path: Path) -> None:
        path = tmp_path / "solvers.sqlite"
        search = batt.evolve(tasks, solvers, path, hold_out=3, generations=4, offspring=400, seed=1)
        assert repr(search) == "<Evolution | not begun>"
        events = list(search)
        assert repr(search) == "<Evolution | ended>"
        assert next(search, None) is None
        assert events[0].kind == "started"
        assert events[0].facts["held_out"] == 3
        generations = [event for event in events if event.kind == "generation"]
        assert [event.facts["generation"] for event in generations] == list(range(5))
        report = search.report()
        assert report["generation"] == 4
        assert report["stop"] == "generations"
        assert report["tasks"] == 3
        assert report["archive"] == str(path)
        # What the report and the events say is what the archive has.
        archive = Archive(path, must_exist=True)
        best = {entry["task"]: entry for entry in report["best"]}
        stored = {entry["task"]: entry for entry in archive.tasks()}
        assert {task: entry["hash"] for task, entry in best.items()} == {
            task: stored[task]["hash"] for task in best
        }
        improved = [event for event in events if event.kind == "improved"]
        assert improved
        for event in improved:
            assert event.task in tasks
            assert event.solver is not None
            assert event.solver.hash == event.facts["hash"]
            assert event.facts["saved"] is True
        # What counts as solved is right on the demonstrations.
        for id, entry in best.items():
            solver = batt.Solver.parse(entry["source"], dialect="arc-dsl")
            right: list[bool] = []
            for grid, output in tasks[id].train:
                try:
                    found = solver(grid)
                except errors.RunFault:
                    found = None
                right.append(found == tuple(tuple(row) for row in output.tolist()))
            assert sum(right) == entry["score"]["demos_solved"]
            assert all(right) is entry["solved"]

    def test_seeds_and_threads(self, solvers: Solvers, tasks: Tasks) -> None:
        def best(seed: int, jobs: int) -> list[tuple[str, str]]:
            search = batt.evolve(
                tasks, solvers, hold_out=3, generations=3, offspring=200, seed=seed, jobs=jobs
            )
            return [(entry["task"], entry["hash"]) for entry in search.run()["best"]]

        assert best(1, 1) == best(1, 3)
        assert best(1, 1) != best(2, 1)

    def test_resuming(self, solvers: Solvers, tasks: Tasks, tmp_path: Path) -> None:
        def search(path: Path, generations: int, resume: bool = False) -> batt.Evolution:
            return batt.evolve(
                tasks,
                solvers,
                path,
                hold_out=2,
                generations=generations,
                offspring=200,
                seed=3,
                resume=resume,
            )

        path = tmp_path / "solvers.sqlite"
        first = search(path, 2).run()
        resumed = search(path, 2, resume=True)
        assert next(resumed).facts["resumed"] is True
        report = resumed.run()
        assert report["generation"] == 4
        # It goes on from what it had.
        before = {entry["task"]: entry["score"]["closeness"] for entry in first["best"]}
        after = {entry["task"]: entry["score"]["closeness"] for entry in report["best"]}
        assert before.keys() <= after.keys()
        assert all(after[task] >= closeness for task, closeness in before.items())

    def test_only_some_tasks(self, solvers: Solvers, tasks: Tasks) -> None:
        for only in ("1673c3ec", tasks["1673c3ec"], [tasks["1673c3ec"]], tasks[["1673c3ec"]]):
            search = batt.evolve(tasks, solvers, only=only, generations=1, offspring=20)
            assert search.run()["tasks"] == 1

    def test_leaving_a_with_block_ends_the_search(self, tasks: Tasks, tmp_path: Path) -> None:
        path = tmp_path / "solvers.sqlite"
        with batt.evolve(tasks[:5], archive=path, offspring=200) as search:
            for event in search:
                if event.kind == "improved":
                    break
        assert search.report()["stop"] == "cancelled"
        assert len(Archive(path)) > 0

    def test_cancelling(self, tasks: Tasks) -> None:
        search = batt.evolve(tasks[:5], offspring=200)
        search.cancel()
        assert next(search).kind == "started"
        search.cancel()
        assert search.run()["stop"] == "cancelled"

    def test_time(self, tasks: Tasks) -> None:
        report = batt.evolve(tasks[:5], time=0.3, offspring=200).run()
        assert report["stop"] == "deadline"
        assert report["generation"] > 0

    def test_a_report_needs_an_end(self, tasks: Tasks) -> None:
        search = batt.evolve(tasks[:2], generations=1, offspring=20)
        for _ in range(2):
            with pytest.raises(errors.RequestError, match="has not ended"):
                search.report()
            next(search)
        search.run()
        assert search.report() == search.report()

    def test_a_search_that_cannot_begin(self, tasks: Tasks) -> None:
        search = batt.evolve(tasks, only="nothing")
        with pytest.raises(errors.EvolveError, match="there is no task 'nothing'"):
            search.run()
        assert repr(search) == "<Evolution | failed>"
        with pytest.raises(errors.RequestError, match="has failed"):
            search.report()
        assert list(search) == []


class TestArchive:
    @pytest.fixture
    def archive(self, solvers: Solvers, tasks: Tasks, tmp_path: Path) -> Archive:
        archive = Archive(tmp_path / "solvers.sqlite")
        report = archive.add(solvers[:20], tasks)
        assert (report["tried"], report["kept"], report["solving"]) == (20, 20, 20)
        return archive

    def test_what_it_has(self, archive: Archive, solvers: Solvers, tasks: Tasks) -> None:
        assert len(archive) == 20
        assert archive.path.name == "solvers.sqlite"
        listed = archive.tasks()
        assert all(entry["solved"] and entry["solvers"] == 1 for entry in listed)
        for entry in listed:
            [best] = archive.best(entry["task"])
            assert archive.best(tasks[entry["task"]])[0].hash == best.hash == entry["hash"]
            assert best.solved
            assert best.score == entry["score"]
            [known] = solvers.of_task(entry["task"])
            assert best.solver.hash == known.hash == best.hash
            assert archive.solver(best.hash[:10]) == archive.solver(best.hash)
            assert archive.lineage(best.hash)[0]["hash"] == best.hash
        assert archive.best("nothing") == []
        assert {entry["hash"] for entry in archive.top(100)} == {entry["hash"] for entry in listed}
        assert len(archive.top(3)) == 3
        assert archive.check() == []

    def test_what_it_has_not(self, archive: Archive) -> None:
        for call in (archive.solver, archive.lineage):
            with pytest.raises(errors.RequestError, match="no solver 'xyz'"):
                call("xyz")
            with pytest.raises(errors.RequestError, match="several solvers"):
                call("")

    def test_solvers_come_back(self, archive: Archive, tasks: Tasks) -> None:
        back = archive.solvers()
        assert len(back) == 20
        assert batt.run(back, tasks).summary()["tasks_solved"] == 20
        id = archive.tasks()[0]["task"]
        assert archive.solvers(tasks=id).names == [f"solve_{id}"]
        few = tasks[[entry["task"] for entry in archive.tasks()[:5]]]
        assert len(archive.solvers(best=True, solved=True, tasks=few)) == 5
        with pytest.raises(errors.ArchiveError, match="has no task"):
            archive.solvers(tasks=tasks)

    def test_merging(
        self, archive: Archive, solvers: Solvers, tasks: Tasks, tmp_path: Path
    ) -> None:
        other = Archive(tmp_path / "other.sqlite")
        other.add(solvers[10:30], tasks)
        report = archive.merge(other.path)
        assert report["solvers"] == 10
        assert len(archive) == 30
        assert archive.merge(other.path)["solvers"] == 0

    def test_keeping_few(self, tasks: Tasks, tmp_path: Path) -> None:
        archive = Archive(tmp_path / "few.sqlite")
        id = tasks[0].id
        many = Solvers.parse(
            "\n\n".join(
                f"def s{at}_{id}(I):\n    x1 = {op}(I)\n    return x1"
                for at, op in enumerate(["hmirror", "vmirror", "rot90", "rot180", "trim"])
            )
        )
        assert archive.add(many, tasks, keep=2)["tried"] == 5
        assert len(archive.best(id)) == 2
        assert archive.gc(keep=1)["scores"] == 1
        assert len(archive.best(id)) == 1
        with pytest.raises(errors.RequestError, match="does not say what to keep"):
            archive.gc(keep="some")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    def test_other_files(self, tmp_path: Path) -> None:
        path = tmp_path / "a.sqlite"
        path.write_text("no archive", encoding="utf-8")
        with pytest.raises(errors.ArchiveError, match="not an archive") as found:
            Archive(path)
        assert found.value.file == str(path)
        assert path.read_text(encoding="utf-8") == "no archive"
        with pytest.raises(errors.ArchiveError, match="folder of the archive does not exist"):
            Archive(tmp_path / "no" / "a.sqlite")


class TestSubmit:
    def test_answers_and_scores(self, solvers: Solvers, tasks: Tasks, tmp_path: Path) -> None:
        path = tmp_path / "submission.json"
        submission = batt.submit(tasks, solvers, output=path)
        assert submission.to_json().strip() == path.read_text(encoding="utf-8").strip()
        plain = json.loads(submission.to_json())
        assert list(plain) == tasks.ids
        for task in tasks:
            for (first, second), (_, expected) in zip(submission[task.id], task.test):
                assert expected is not None
                assert (first == expected).all()
                assert second.dtype == np.uint8
        for given in (submission, path, str(path)):
            score = batt.score(given, tasks)
            assert score["by_output"] == score["by_task"] == score["by_task_share"] == 1.0
            assert score["solved"] == tasks.ids
            assert score["findings"] == []

    def test_the_summary_agrees_with_the_score(self, solvers: Solvers, tasks: Tasks) -> None:
        submission = batt.submit(tasks, solvers[:30])
        summary = submission.summary()
        assert summary is not None
        score = batt.score(submission, tasks)
        assert summary["answered"] == score["outputs_right"] == 30
        assert score["by_output"] == pytest.approx(30 / 65)
        assert (score["tasks"], score["tasks_solved"]) == (65, 30)

    def test_archives_answer_like_their_solvers(
        self, solvers: Solvers, tasks: Tasks, tmp_path: Path
    ) -> None:
        path = tmp_path / "solvers.sqlite"
        Archive(path).add(solvers, tasks)
        archived = batt.submit(tasks, archive=path)
        assert archived.to_json() == batt.submit(tasks, solvers).to_json()
        with pytest.raises(errors.ArchiveError, match="no such archive"):
            batt.submit(tasks, archive=tmp_path / "no.sqlite")

    def test_fillers(self, tasks: Tasks) -> None:
        fillers = batt.Submission.fillers(tasks)
        assert fillers.summary() is None
        assert batt.score(fillers, tasks)["outputs_right"] == 0
        assert batt.submit(tasks).to_json() == fillers.to_json()
        assert all(
            answer.tolist() == [[0, 0], [0, 0]]
            for answers in fillers.values()
            for attempts in answers
            for answer in attempts
        )

    def test_a_submission_is_a_mapping(self, solvers: Solvers, tasks: Tasks) -> None:
        submission = batt.submit(tasks, solvers)
        assert isinstance(submission, Mapping)
        assert list(submission) == list(submission.keys()) == tasks.ids
        assert len(submission) == len(tasks)
        plain = dict(submission)
        assert len(plain) == len(tasks)
        for id, answers in submission.items():
            assert answers[0][0].tolist() == submission[id][0][0].tolist()
        assert "nothing" not in submission
        assert submission.get("nothing") is None
        assert submission.keys() & {"1673c3ec", "nothing"} == {"1673c3ec"}
        with pytest.raises(KeyError, match="did you mean '1673c3ec'"):
            submission["1673c3e"]

    def test_findings(self, solvers: Solvers, tasks: Tasks, tmp_path: Path) -> None:
        path = tmp_path / "submission.json"
        batt.submit(tasks[:5], solvers).save(path)
        score = batt.score(path, tasks)
        assert score["missing"] == tasks.ids[5:]
        assert len(score["findings"]) == 60
        assert f"task {tasks[0].id}: there is no such task" in "".join(
            batt.score(path, tasks[1:5])["findings"]
        )
        unknown = batt.Task("a", tasks[0].train, [(tasks[0].test[0][0], None)])
        assert batt.score(path, [unknown, *tasks])["unknown"] == ["a"]
        with pytest.raises(errors.RequestError, match="known test output"):
            batt.score(path, unknown)
        path.write_text("[]", encoding="utf-8")
        with pytest.raises(errors.TasksError, match="not a submission") as found:
            batt.score(path, tasks)
        assert found.value.file == str(path)


def test_devices() -> None:
    survey = batt.devices()
    assert survey["cores"] >= 1
    # A machine without a GPU says what is missing.
    assert survey["gpus"] or survey["advice"]


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    summary = batt.demo().summary()
    assert summary["tasks_solved"] == summary["tasks"] == 65
    # `python -c "import batt; batt.demo()"` shows only what is printed.
    solved, speed = capsys.readouterr().out.splitlines()
    assert solved == "solved 65 of 65 tasks, 260 of 260 pairs"
    assert speed.endswith(" runs per second")
