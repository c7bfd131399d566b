"""The decorators that bind declarations to native primitives."""

from __future__ import annotations

import collections.abc
from typing import Any, TypeVar, cast

from batt._native import Primitive

F = TypeVar("F", bound=collections.abc.Callable[..., Any])


def arc_dsl(function: F) -> F:
    """Binds the name of a function to the primitive of arc-dsl with that name."""
    return cast("F", Primitive.declare("arc-dsl", function))


def re_arc(function: F) -> F:
    """Binds the name of a function to the primitive of RE-ARC with that name."""
    return cast("F", Primitive.declare("re-arc", function))


def tokpidjin(function: F) -> F:
    """Binds the name of a function to the primitive of tokpidjin with that name."""
    return cast("F", Primitive.declare("tokpidjin", function))
