"""Calls of `batt.dsl` keep no memory."""

from __future__ import annotations

import gc
import resource
import sys
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from batt import dsl
from batt.dsl import tokpidjin

GRID = tuple(tuple((i * j) % 7 for j in range(10)) for i in range(10))
OBJECTS = dsl.objects(GRID, True, False, True)
PATCH = dsl.asindices(GRID)


def failing(call: Callable[[], Any]) -> Callable[[], Any]:
    """Returns a call that ignores the exception."""

    def run() -> None:
        with pytest.raises(Exception):  # noqa: B017
            call()

    return run


CALLS: dict[str, Callable[[], Any]] = {
    "grids": lambda: dsl.vmirror(dsl.fill(GRID, 3, PATCH)),
    "sets": lambda: dsl.combine(dsl.shift(PATCH, (100, 100)), dsl.insert((9, 999), PATCH)),
    "objects": lambda: dsl.apply(dsl.normalize, OBJECTS),
    "functions": lambda: dsl.mapply(dsl.lbind(dsl.recolor, 4), dsl.initset(PATCH)),
    "made inside": lambda: dsl.apply(dsl.lbind(dsl.lbind, dsl.add), (1, 2, 3)),
    "foreign": lambda: dsl.apply(lambda x: (x, x), (1000, 2000)),
    "shortcuts": lambda: dsl.merge(dsl.colorfilter(OBJECTS, 3)),
    "removals": lambda: dsl.delta(frozenset({(3, 4), (11, 15)})),
    "numbers": lambda: dsl.multiply((1000, 2000), 3000),
    "new rows": lambda: dsl.canvas(7, (3, 40)),
    "floats": lambda: tokpidjin.astuple(tokpidjin.index(GRID, (50, 50)), float("nan")),
    "failures": failing(lambda: dsl.first(())),
    "unsupported": failing(lambda: dsl.size("text")),
    "half-read": failing(lambda: dsl.order((GRID, "text", PATCH), dsl.size)),
    "keywords": lambda: dsl.crop(grid=GRID, start=(0, 0), dims=(2, 2)),
}


@pytest.mark.skipif(sys.platform != "linux", reason="needs the unit of ru_maxrss")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_keep_no_memory(call: Callable[[], Any]) -> None:
    def peak() -> int:
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(3_000):
        call()
    before = peak()
    for _ in range(100_000 // len(CALLS)):
        call()
    # A leak of one small object for each call would be 300 KiB or more.
    assert peak() - before < 250


def test_calls_keep_no_references() -> None:
    class Patch(frozenset[Any]): ...

    def patch() -> Any:
        return Patch({(1, 2), (3, 4)})

    for call in (
        lambda: dsl.first((patch(),)),
        lambda: dsl.apply(dsl.identity, (patch(), patch())),
        lambda: dsl.lbind(dsl.shift, patch()),
        lambda: dsl.repeat(patch(), 3),
    ):
        made = call()
        kept = made.args[1] if hasattr(made, "args") else made
        alive = weakref.ref(kept if isinstance(kept, Patch) else kept[0])
        assert alive() is not None
        del made, kept
        gc.collect()
        assert alive() is None
    before = sys.getrefcount(PATCH)
    for _ in range(100):
        dsl.identity(PATCH)
        dsl.shift(PATCH, (1, 1))
        dsl.branch(True, PATCH, GRID)
        dsl.order((PATCH, PATCH), dsl.size)
    assert sys.getrefcount(PATCH) == before
