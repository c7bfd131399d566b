"""What is public in the package."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import batt


def modules() -> Iterator[Any]:
    """Returns the public modules."""
    yield batt
    for found in pkgutil.iter_modules(batt.__path__, "batt."):
        if not found.name.rpartition(".")[2].startswith("_"):
            yield importlib.import_module(found.name)


def things() -> Iterator[tuple[str, Any]]:
    """Returns the public functions and classes by their full names."""
    for module in modules():
        for name in module.__all__:
            thing = getattr(module, name)
            # An alias such as `Boolean` is Python's own class.
            ours = not inspect.isclass(thing) or thing.__module__.startswith("batt")
            if ours and (inspect.isclass(thing) or inspect.isroutine(thing)):
                yield f"{module.__name__}.{name}", thing


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Returns the public methods and properties of a class, without those of its bases."""
    for name in vars(kind):
        if not name.startswith("_"):
            yield name, inspect.getattr_static(kind, name)
