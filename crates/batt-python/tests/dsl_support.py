"""Support for the tests of `batt.dsl`: strict comparison, and values as the vectors write them."""

from __future__ import annotations

import math
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import batt.dsl
import batt.dsl.rearc
import batt.dsl.tokpidjin

MODULES: dict[str, ModuleType] = {
    "arc-dsl": batt.dsl,
    "re-arc": batt.dsl.rearc,
    "tokpidjin": batt.dsl.tokpidjin,
}

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("BATT_SHARED", ROOT.parent / "shared"))


class Function:
    """Stands for any function in a comparable value."""

    def __repr__(self) -> str:
        return "<function>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function)

    __hash__ = None  # type: ignore[assignment]


def exact(value: Any) -> Any:
    """Returns a value that is equal only for values of the same kind in the same order."""
    if value is None or isinstance(value, (bool, int)):
        return (type(value).__name__, value)
    if isinstance(value, float):
        return ("float", "nan" if math.isnan(value) else value)
    if isinstance(value, tuple):
        return ("tuple", [exact(item) for item in value])
    if isinstance(value, frozenset):
        return ("frozenset", [exact(item) for item in value])
    if callable(value):
        return ("function", None)
    raise TypeError(f"{value!r} is not a value of the DSL")


def decode(data: Any, names: dict[str, Any]) -> Any:
    """Reads a value of a vector. `names` are those of the dialect."""
    if not isinstance(data, dict):
        return data
    ((tag, inner),) = data.items()
    if tag == "t":
        return tuple(decode(item, names) for item in inner)
    if tag == "s":
        return frozenset([decode(item, names) for item in inner])
    if tag == "g":
        return tuple(tuple(int(cell) for cell in row) for row in inner)
    if tag == "f":
        return eval(inner, names)
    if tag == "x":
        return names["__nan__"] if inner == "nan" else float(inner)
    raise ValueError(f"unknown tag {tag}")


def outcome(call: Any) -> Any:
    """Returns the exact value of a call, or the name of the exception that Python would raise."""
    try:
        return exact(call())
    except Exception as error:
        return ("error", exception_name(error))


BUILTIN = (
    "RecursionError",
    "ZeroDivisionError",
    "StopIteration",
    "IndexError",
    "KeyError",
    "AttributeError",
    "TypeError",
    "OverflowError",
    "ValueError",
    "RuntimeError",
)


def exception_name(error: BaseException) -> str:
    """Returns the name of the first exception of Python among the classes of an exception."""
    names = [base.__name__ for base in type(error).__mro__]
    for name in names:
        if name in BUILTIN:
            return name
    return names[0]
