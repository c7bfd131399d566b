"""Every primitive called through Python equals the engine, and foreign callables equal native ones.

The engine runs the same expression as a program of one line, in which no value passes through
Python.
"""

from __future__ import annotations

import ast
import os
from typing import Any

import batt
import batt.errors
import pytest
from batt.dsl import _calls
from dsl_expressions import GRID, Expressions, foreign
from dsl_support import MODULES, exact, outcome
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

EXPRESSIONS = {dialect: Expressions(dialect) for dialect in MODULES}
NAMES = [
    pytest.param(dialect, name, id=f"{dialect}-{name}")
    for dialect, module in MODULES.items()
    for name, value in vars(module).items()
    if type(value).__name__ == "Primitive" and (dialect != "re-arc" or name[:3] == "arg")
]
TABLES = {"arc-dsl": _calls.ARC_DSL, "re-arc": _calls.RE_ARC, "tokpidjin": _calls.TOKPIDJIN}
CALLERS = [
    pytest.param(dialect, name, id=f"{dialect}-{name}")
    for dialect, table in TABLES.items()
    for name in table
]

#: More examples find more, in minutes.
EXAMPLES = 150 if os.environ.get("BATT_HEAVY") == "1" else 15

# Hypothesis warns about the size of the description of strategies.
pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")

checked = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def run(dialect: str, text: str) -> Any:
    """Returns what the engine gives for an expression."""
    parameters = "S, I, C" if dialect == "tokpidjin" else "I"
    program = f"def solve({parameters}):\n    return {text}\n"
    return batt.Solver.parse(program, dialect=dialect)(GRID)


def unordered(value: Any) -> Any:
    """Returns the exact value, but for the order of sets and for functions."""
    if isinstance(value, tuple):
        return ("tuple", [unordered(item) for item in value])
    if isinstance(value, frozenset):
        return ("frozenset", sorted(map(repr, map(unordered, value))))
    if type(value).__name__ == "ReturnedFunction" or callable(value):
        return "function"
    return exact(value)


def contains_address_hashes(value: Any) -> bool:
    """Returns whether a set has elements that hash by address, so that its order is arbitrary."""
    if isinstance(value, tuple):
        return any(map(contains_address_hashes, value))
    if isinstance(value, frozenset):
        return any(hashes_by_address(item) or contains_address_hashes(item) for item in value)
    return False


def hashes_by_address(value: Any) -> bool:
    if isinstance(value, (tuple, frozenset)):
        return any(map(hashes_by_address, value))
    return value is None or callable(value) or value != value


def listings(text: str, value: Any) -> list[tuple[str, Any]]:
    """Returns programs that list the elements of sets in order, and what Python says."""
    found: list[tuple[str, Any]] = []
    if isinstance(value, frozenset):
        found.append((f"totuple({text})", tuple(value)))
        if value and all(isinstance(item, frozenset) for item in value):
            found.append((f"apply(totuple, totuple({text}))", tuple(map(tuple, value))))
    if isinstance(value, tuple) and value and all(isinstance(item, frozenset) for item in value):
        found.append((f"apply(totuple, {text})", tuple(map(tuple, value))))
    return found


def is_limit(error: Exception) -> bool:
    """Returns whether an exception is a limit on the work of a run, which differs between the two
    sides: a program has one budget for all its calls.
    """
    overflow = batt.errors.IntegerOverflow
    return isinstance(error, batt.errors.RunLimit) and not isinstance(error, overflow)


class ArbitraryOrder(Exception):
    """An expression has a set whose order differs between processes."""


def evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    """Evaluates an expression call by call."""
    if isinstance(node, ast.Call):
        function, *args = [evaluate(part, names) for part in (node.func, *node.args)]
        value = function(*args)
        if contains_address_hashes(value):
            raise ArbitraryOrder
        return value
    if isinstance(node, ast.Tuple):
        return tuple(evaluate(item, names) for item in node.elts)
    return eval(compile(ast.Expression(node), "<expression>", "eval"), names)


def compare(dialect: str, text: str) -> None:
    """Compares an expression evaluated by Python, call by call, with the engine."""
    names = dict(vars(MODULES[dialect]), I=GRID)
    value, fault = None, None
    try:
        value = evaluate(ast.parse(text, mode="eval").body, names)
    except ArbitraryOrder:
        return
    except batt.errors.RunFault as error:
        if is_limit(error):
            return
        fault = error
    try:
        computed = run(dialect, text)
    except batt.errors.RunFault as error:
        # A single call raises what CPython raises; the run of a solver must not end a loop.
        is_empty = type(error) is batt.errors.StopIterationFault
        wanted = batt.errors.EmptyFault if is_empty else type(error)
        assert is_limit(error) or type(fault) is wanted
        return
    assert fault is None
    assert unordered(computed) == unordered(value)
    for program, listed in listings(text, value):
        assert run(dialect, program) == listed


@pytest.mark.parametrize(("dialect", "name"), NAMES)
def test_a_call_equals_the_engine(dialect: str, name: str) -> None:
    @checked
    @given(EXPRESSIONS[dialect].calls_of(name))
    def check(args: list[str]) -> None:
        compare(dialect, f"{name}({', '.join(args)})")

    check()


@pytest.mark.parametrize("dialect", ["arc-dsl", "tokpidjin"])
def test_nested_functions_equal_the_engine(dialect: str) -> None:
    kinds = EXPRESSIONS[dialect]

    @settings(checked, max_examples=20 * EXAMPLES)
    @given(kinds.function, kinds.any)
    def check(function: str, value: str) -> None:
        compare(dialect, f"{function}({value})")

    check()


@pytest.mark.parametrize(("dialect", "name"), CALLERS)
def test_foreign_functions_equal_native_ones(dialect: str, name: str) -> None:
    names = dict(vars(MODULES[dialect]), I=GRID)
    primitive = names[name]

    @settings(checked, max_examples=2 * EXAMPLES)
    @given(EXPRESSIONS[dialect].calls_of(name))
    def check(args: list[str]) -> None:
        try:
            values = [evaluate(ast.parse(arg, mode="eval").body, names) for arg in args]
        except Exception:
            return
        native = outcome(lambda: primitive(*values))
        wrapped = [foreign(value) for value in values]
        assert outcome(lambda: primitive(*wrapped)) == native

    check()


@pytest.mark.parametrize("dialect", MODULES)
def test_sets_of_any_table_equal_the_engine(dialect: str) -> None:
    """Chains of set operations, whose tables have many sizes and collisions."""
    step = st.tuples(
        st.sampled_from(["insert", "remove", "combine", "difference", "intersection", "delta"]),
        st.integers(-9, 9).map(lambda n: n * 64),
        st.integers(0, 60),
    )

    @settings(checked, max_examples=10 * EXAMPLES)
    @given(st.lists(step, min_size=1, max_size=6))
    @example([("insert", 0, 5)])
    def check(steps: list[tuple[str, int, int]]) -> None:
        text = "initset(ORIGIN)"
        for name, far, count in steps:
            line = f"connect(({far}, 0), ({far}, {count}))"
            text = {
                "insert": f"insert(({far}, {count}), {text})",
                "remove": f"remove(({far}, {count // 2}), {text})",
                "combine": f"combine({text}, {line})",
                "difference": f"difference({text}, {line})",
                "intersection": f"intersection(combine({line}, {text}), {text})",
                "delta": f"delta(insert(({count // 8}, 9), initset((0, {count // 4}))))",
            }[name]
        compare(dialect, text)

    check()
