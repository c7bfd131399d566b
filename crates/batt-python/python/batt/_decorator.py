"""Solvers from ordinary Python functions."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, overload

from batt._native import Solver
from batt.errors import RequestError

__all__ = ["solver"]


@overload
def solver(function: Callable[..., Any], /) -> Solver: ...
@overload
def solver(*, dialect: str | None = None) -> Callable[[Callable[..., Any]], Solver]: ...
def solver(
    function: Callable[..., Any] | None = None, /, *, dialect: str | None = None
) -> Solver | Callable[[Callable[..., Any]], Solver]:
    """Compiles an ordinary Python function that is written in the DSL.

    The function must be straight-line code: assignments, calls and a return. Its text is read from
    its file or notebook cell, so it need not be able to run in Python.

    >>> @solver
    ... def solve_flip(I):
    ...     x1 = hmirror(I)
    ...     O = vmirror(x1)
    ...     return O
    >>> solve_flip(((1, 2), (3, 4)))
    ((4, 3), (2, 1))
    """
    if function is None:
        return lambda function: _compile(function, dialect)
    return _compile(function, dialect)


def _compile(function: Callable[..., Any], dialect: str | None) -> Solver:
    name = getattr(function, "__name__", repr(function))
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<python>"
    except (OSError, TypeError) as error:
        raise RequestError(
            f"the text of {name} is not known",
            "write it in a file or a notebook cell, or use Solver.parse(text)",
        ) from error
    text = textwrap.dedent("".join(lines))
    start = text.find("def ")
    # Empty lines in the place of what stands before the function keep its line numbers.
    before = first - 1 + text[:start].count("\n")
    return Solver.parse("\n" * before + text[start:], name=name, dialect=dialect, file=file)
