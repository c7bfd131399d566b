"""Compares `batt.dsl` with the results that CPython recorded for the original libraries."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batt.dsl import _calls
from dsl_expressions import foreign
from dsl_support import MODULES, SHARED, decode, outcome

FOLDERS = {
    "arc-dsl": SHARED / "vectors" / "ops",
    "tokpidjin": SHARED / "vectors" / "tokpidjin" / "ops",
}
FILES = [
    pytest.param(dialect, path, id=f"{dialect}-{path.stem}")
    for dialect, folder in FOLDERS.items()
    for path in sorted(folder.glob("*.jsonl"))
]

MAKERS = ("compose", "chain", "fork", "lbind", "rbind", "matcher", "power")
CALLED = {"arc-dsl": _calls.ARC_DSL, "tokpidjin": _calls.TOKPIDJIN}
CALLERS = [param for param in FILES if param.values[1].stem in (*CALLED[param.values[0]], *MAKERS)]

pytestmark = pytest.mark.skipif(not FILES, reason=f"there are no vectors in {SHARED}")


def names_of(dialect: str) -> dict[str, Any]:
    names = dict(vars(MODULES[dialect]))
    # The nan of tokpidjin is one object.
    nan = names["get_nth_t"]((), 0) if dialect == "tokpidjin" else math.nan
    names["__nan__"] = nan
    return names


def expected(data: Any, names: dict[str, Any]) -> Any:
    """Returns the recorded outcome. The order of a recorded set is its order in the file."""
    if isinstance(data, dict):
        ((tag, inner),) = data.items()
        if tag == "err":
            return ("error", inner)
        if tag in "ts":
            kind = {"t": "tuple", "s": "frozenset"}[tag]
            return (kind, [expected(item, names) for item in inner])
        if tag == "f":
            return ("function", None)
    return outcome(lambda: decode(data, names))


def compare(dialect: str, path: Path, change: Callable[[Any], Any]) -> None:
    """Runs the recorded calls of a file, with changed arguments."""
    names = names_of(dialect)
    function = names[path.stem]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        case = json.loads(line)
        args = [change(decode(arg, names)) for arg in case["args"]]
        later = None
        if "call" in case:
            later = [decode(arg, names) for arg in case["call"]]

        def run(args: list[Any] = args, later: list[Any] | None = later) -> Any:
            value = function(*args)
            return value if later is None else value(*later)

        wanted = expected(case["out"], names)
        assert outcome(run) == wanted, f"{path.name}:{number}: {line[:500]}"


@pytest.mark.parametrize(("dialect", "path"), FILES)
def test_a_primitive_gives_what_cpython_recorded(dialect: str, path: Path) -> None:
    compare(dialect, path, lambda value: value)


@pytest.mark.parametrize(("dialect", "path"), CALLERS)
def test_foreign_callables_give_what_cpython_recorded(dialect: str, path: Path) -> None:
    compare(dialect, path, foreign)
