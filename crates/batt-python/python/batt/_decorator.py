"""Solvers from ordinary Python functions."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from batt._native import Solver
from batt.errors import RequestError

if TYPE_CHECKING:
    from batt.types import Dialect

__all__ = ["solver"]


@overload
def solver(function: Callable[..., Any], /) -> Solver: ...
@overload
def solver(
    function: None = None, /, *, dialect: Dialect | None = None
) -> Callable[[Callable[..., Any]], Solver]: ...
def solver(
    function: Callable[..., Any] | None = None, /, *, dialect: Dialect | None = None
) -> Solver | Callable[[Callable[..., Any]], Solver]:
    """Compiles an ordinary Python function that is written in the DSL.

    The function must be straight-line code: assignments, calls and a return. Its text is read from
    its file or notebook cell, so it need not be able to run in Python. Decorators below this one
    have no effect.

    >>> @solver
    ... def solve_flip(I):
    ...     x1 = hmirror(I)
    ...     O = vmirror(x1)
    ...     return O
    >>> solve_flip(((1, 2), (3, 4)))
    ((4, 3), (2, 1))
    """
    if function is not None:
        return _compile(function, dialect)

    def decorate(function: Callable[..., Any]) -> Solver:
        return _compile(function, dialect)

    return decorate


def _compile(function: Callable[..., Any], dialect: Dialect | None) -> Solver:
    name = getattr(function, "__name__", repr(function))
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<python>"
        above, text = _definition(lines)
    except (OSError, TypeError, SyntaxError) as error:
        raise RequestError(
            f"the text of {name} is not known",
            "write it as a function in a file or a notebook cell, or use Solver.parse(text)",
        ) from error
    # Empty lines in the place of what stands before the function keep its line numbers.
    blank = "\n" * (max(first, 1) - 1 + above)
    return Solver.parse(blank + text, name=name, dialect=dialect, file=file)


def _definition(lines: list[str]) -> tuple[int, str]:
    """Returns the number of lines above a function's `def`, and its text without indentation."""
    indented = lines[0][:1].isspace()
    tree = ast.parse("if 1:\n" + "".join(lines) if indented else "".join(lines))
    body = tree.body
    if indented and isinstance(body[0], ast.If):
        body = body[0].body
    function = body[0]
    if not isinstance(function, ast.FunctionDef):
        raise SyntaxError("this is not a function")
    start = function.lineno - 1 - indented
    end = (function.end_lineno or function.lineno) - indented
    margin = function.col_offset
    # A comment or a text may begin further left than the function.
    own = [line[margin:] if line[:margin].isspace() else line for line in lines[start:end]]
    return start, "".join(own)
