"""Compares the time of calls through `batt.dsl` with that of arc-dsl's own functions.

    python crates/batt-python/benches/dsl_calls.py ../arc-dsl ../ARC-AGI/data/training

The calls are those that arc-dsl's solvers make on the first input of each task, nested calls
included; a few primitives are called only by arc-dsl's tests. Both sides take turns in one process.
The second part runs whole solvers: in Python with arc-dsl, in Python with `batt.dsl`, and as
programs of the engine.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import random
import statistics
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import batt
import batt.dsl

#: Primitives that make functions. A profile says how each function was made; `power` composes.
MAKERS = ("compose", "chain", "matcher", "fork", "lbind", "rbind")

#: The time that one measurement takes at least, in seconds.
LEAST = 0.0002


class Recorder:
    """Records calls of arc-dsl's functions, a sample of limited size for each."""

    def __init__(self, dsl: types.ModuleType, most: int) -> None:
        self.names = {
            value.__code__: name for name, value in vars(dsl).items() if hasattr(value, "__code__")
        }
        self.most = most
        self.random = random.Random(7)
        self.seen: dict[str, int] = {}
        self.calls: dict[str, list[tuple[Any, ...]]] = {}
        self.made: dict[int, tuple[Any, str, tuple[Any, ...]]] = {}

    def event(self, frame: types.FrameType, event: str, value: Any) -> None:
        """Handles an event of `sys.setprofile`."""
        name = self.names.get(frame.f_code)
        if name is None or event not in ("call", "return"):
            return
        count = frame.f_code.co_argcount
        if event == "call":
            seen = self.seen[name] = self.seen.get(name, 0) + 1
            calls = self.calls.setdefault(name, [])
            at = len(calls) if len(calls) < self.most else self.random.randrange(seen)
            if at < self.most:
                args = tuple(frame.f_locals[arg] for arg in frame.f_code.co_varnames[:count])
                calls[at : at + 1] = [args]
        elif name in MAKERS and value is not None:
            args = tuple(frame.f_locals[arg] for arg in frame.f_code.co_varnames[:count])
            # The function is kept, so that its address stays unique.
            self.made[id(value)] = (value, name, args)

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Records all calls in a block."""
        sys.setprofile(self.event)
        try:
            yield
        finally:
            sys.setprofile(None)

    def translated(self, value: Any) -> Any:
        """Returns a value with Batt's functions in place of arc-dsl's."""
        if isinstance(value, tuple) and any(map(has_function, value)):
            return tuple(self.translated(item) for item in value)
        if isinstance(value, frozenset) and any(map(has_function, value)):
            return frozenset(self.translated(item) for item in value)
        if not callable(value):
            return value
        if id(value) in self.made:
            _, name, args = self.made[id(value)]
            return getattr(batt.dsl, name)(*map(self.translated, args))
        return getattr(batt.dsl, value.__name__)


def has_function(value: Any) -> bool:
    """Returns whether a value contains a function."""
    if isinstance(value, (tuple, frozenset)):
        return any(map(has_function, value))
    return callable(value)


def first_inputs(folder: Path) -> dict[str, Any]:
    """Returns the first input of each task as a tuple of tuples."""
    inputs = {}
    for path in sorted(folder.glob("*.json")):
        grid = json.loads(path.read_text())["train"][0]["input"]
        inputs[path.stem] = tuple(map(tuple, grid))
    return inputs


def attempt(call: Callable[[], Any]) -> bool:
    """Returns whether a call succeeds."""
    try:
        call()
    except Exception:
        return False
    return True


def seconds(function: Callable[..., Any], args: tuple[Any, ...], repeats: int) -> float:
    """Returns the time of one call, measured over some."""
    start = time.perf_counter()
    for _ in range(repeats):
        function(*args)
    return (time.perf_counter() - start) / repeats


def duel(sides: list[tuple[Callable[..., Any], tuple[Any, ...]]], rounds: int) -> list[float]:
    """Returns the best time of a call of each side, measured in turns."""
    repeats = []
    for function, args in sides:
        once = max(seconds(function, args, 1), 1e-8)
        repeats.append(max(1, min(1000, int(LEAST / once))))
    best = [float("inf")] * len(sides)
    for _ in range(rounds):
        for side, (function, args) in enumerate(sides):
            best[side] = min(best[side], seconds(function, args, repeats[side]))
    return best


def compare_calls(dsl: types.ModuleType, recorder: Recorder, rounds: int) -> None:
    """Prints the times of all primitives, the relatively slowest last."""
    rows = []
    for name, calls in sorted(recorder.calls.items()):
        ours, theirs = getattr(batt.dsl, name), getattr(dsl, name)
        times = [0.0, 0.0]
        for args in calls:
            translated = tuple(map(recorder.translated, args))
            if attempt(lambda: theirs(*args)):
                pair = duel([(theirs, args), (ours, translated)], rounds)
                times = [a + b for a, b in zip(times, pair)]
        if times[0]:
            rows.append((times[0] / times[1], name, recorder.seen[name], len(calls), *times))
    rows.sort(reverse=True)
    print(f"{'primitive':<14}{'calls':>9}{'arc-dsl':>12}{'batt.dsl':>12}{'faster':>9}")
    for ratio, name, seen, count, theirs, ours in rows:
        per_call = f"{theirs / count * 1e6:9.2f} us{ours / count * 1e6:9.2f} us"
        print(f"{name:<14}{seen:>9}{per_call}{ratio:>8.2f}x")
    ratios = [row[0] for row in rows]
    slower = [row[1] for row in rows if row[0] < 1]
    print(f"\n{len(rows)} primitives, median {statistics.median(ratios):.2f}x")
    print(f"slower than arc-dsl's: {len(slower)}: {', '.join(sorted(slower))}")


def compare_solvers(
    original: types.ModuleType, text: str, inputs: dict[str, Any], rounds: int
) -> None:
    """Prints how whole solvers compare."""
    replaced = types.ModuleType("replaced")
    sys.modules["dsl"], kept = batt.dsl, sys.modules["dsl"]
    exec(compile(text, "solvers.py", "exec"), vars(replaced))
    sys.modules["dsl"] = kept
    programs = batt.Solvers.parse(text, dialect="arc-dsl")
    times = []
    for task, grid in inputs.items():
        name = f"solve_{task}"
        theirs = getattr(original, name, None)
        if theirs is None or not attempt(lambda: theirs(grid)):
            continue
        sides = [theirs, getattr(replaced, name), programs[name]]
        times.append(duel([(side, (grid,)) for side in sides], rounds))
    print(f"\n{len(times)} solvers on the first input of their task")
    print(f"{'':<34}{'total':>11}{'median':>12}{'faster, median':>17}")
    for side, label in enumerate(
        ("Python with arc-dsl", "Python with batt.dsl", "programs of the engine")
    ):
        own = [row[side] for row in times]
        ratio = statistics.median(row[0] / row[side] for row in times)
        print(
            f"{label:<34}{sum(own) * 1e3:>8.1f} ms"
            f"{statistics.median(own) * 1e6:>9.1f} us{ratio:>16.2f}x"
        )


def main() -> None:
    """Runs the comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("arc_dsl", type=Path, help="a checkout of arc-dsl")
    parser.add_argument("tasks", type=Path, help="the folder of ARC-AGI-1's training tasks")
    parser.add_argument("--samples", type=int, default=30, help="calls of each primitive")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each call")
    parser.add_argument("--only", help="one primitive, or 'solvers'")
    options = parser.parse_args()
    sys.path.insert(0, str(options.arc_dsl))
    import dsl
    import solvers
    import tests

    inputs = first_inputs(options.tasks)
    recorder = Recorder(dsl, options.samples)
    if options.only != "solvers":
        with recorder.recording():
            for task, grid in inputs.items():
                solver = getattr(solvers, f"solve_{task}", None)
                if solver is not None:
                    attempt(lambda: solver(grid))
        missing = [name for name in batt.dsl.__all__ if name not in recorder.calls]
        with recorder.recording():
            for name in missing:
                test = getattr(tests, f"test_{name}", None)
                if test is not None:
                    attempt(test)
        recorder.calls = {name: recorder.calls[name] for name in sorted(recorder.calls)}
        if options.only:
            recorder.calls = {options.only: recorder.calls[options.only]}
        gc.disable()
        compare_calls(dsl, recorder, options.rounds)
    if options.only in (None, "solvers"):
        gc.disable()
        text = (options.arc_dsl / "solvers.py").read_text()
        compare_solvers(solvers, text, inputs, options.rounds)


if __name__ == "__main__":
    main()
