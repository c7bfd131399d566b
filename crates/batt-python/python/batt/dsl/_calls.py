"""The primitives that call functions, in plain Python.

Primitives are native, and so are the functions that they make. Where a caller passes a function of
another kind, such as a lambda, the primitives that call it run here, at Python's speed. They accept
any objects, not only values of the DSL.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from batt.dsl._sets import LaidOutSet
from batt.errors import RunLimit

Function = Callable[..., Any]


def like(container: Any, elements: Iterable[Any]) -> Any:
    """Makes a container of the same kind."""
    if isinstance(container, LaidOutSet):
        return frozenset(elements)
    return type(container)(elements)


def merge(containers: Any) -> Any:
    return like(containers, (element for container in containers for element in container))


def order(container: Any, compfunc: Function) -> Any:
    return tuple(sorted(container, key=compfunc))


def valmax(container: Any, compfunc: Function) -> Any:
    return compfunc(max(container, key=compfunc, default=0))


def valmin(container: Any, compfunc: Function) -> Any:
    return compfunc(min(container, key=compfunc, default=0))


def argmax(container: Any, compfunc: Function) -> Any:
    return max(container, key=compfunc)


def argmin(container: Any, compfunc: Function) -> Any:
    return min(container, key=compfunc)


def argmax_or_none(container: Any, compfunc: Function) -> Any:
    return max(container, key=compfunc, default=None)


def argmin_or_none(container: Any, compfunc: Function) -> Any:
    return min(container, key=compfunc, default=None)


def sfilter(container: Any, condition: Function) -> Any:
    return like(container, (element for element in container if condition(element)))


def mfilter(container: Any, function: Function) -> Any:
    return merge(sfilter(container, function))


def extract(container: Any, condition: Function) -> Any:
    return next(element for element in container if condition(element))


def apply(function: Function, container: Any) -> Any:
    return like(container, (function(element) for element in container))


def rapply(functions: Any, value: Any) -> Any:
    return like(functions, (function(value) for function in functions))


def mapply(function: Function, container: Any) -> Any:
    return merge(apply(function, container))


def papply(function: Function, a: Any, b: Any) -> Any:
    return tuple(function(x, y) for x, y in zip(a, b))


def mpapply(function: Function, a: Any, b: Any) -> Any:
    return merge(papply(function, a, b))


def prapply(function: Function, a: Any, b: Any) -> Any:
    return frozenset(function(x, y) for y in b for x in a)


_SHARED = (
    order,
    valmax,
    valmin,
    argmax,
    argmin,
    sfilter,
    mfilter,
    extract,
    apply,
    rapply,
    mapply,
    papply,
    mpapply,
    prapply,
)

ARC_DSL: dict[str, Function] = {function.__name__: function for function in _SHARED}

RE_ARC: dict[str, Function] = ARC_DSL | {"argmax": argmax_or_none, "argmin": argmin_or_none}


# tokpidjin: a function that fails gives a fallback, also inside of another one.


def default_function(*args: Any) -> Any:
    """Takes anything and gives `()`."""
    return ()


def find_default_function() -> Any:
    """Returns the native primitive that stands for `default_function`."""
    from batt.dsl import tokpidjin

    return tokpidjin.lbind(0, 0)  # type: ignore[arg-type]


def safe(fallback: Any) -> Callable[[Function], Function]:
    """Makes a function give the fallback instead of failing, except for the limits of runs."""

    def wrap(function: Function) -> Function:
        @functools.wraps(function)
        def call(*args: Any) -> Any:
            try:
                return function(*args)
            except RunLimit:
                raise
            except Exception:
                return fallback

        return call

    return wrap


EMPTY: frozenset[Any] = frozenset()

safe_merge = safe(())(merge)
safe_sfilter = safe(())(sfilter)
safe_apply = safe(())(apply)
safe_apply_f = safe(EMPTY)(apply)
safe_papply = safe(())(papply)


@safe(())
def sfilter_t(container: Any, condition: Function) -> Any:
    return tuple(element for element in container if condition(element))


@safe(EMPTY)
def sfilter_f(container: Any, condition: Function) -> Any:
    return frozenset(element for element in container if condition(element))


@safe(EMPTY)
def safe_mfilter(container: Any, function: Function) -> Any:
    return safe_merge(safe_sfilter(container, function))


@safe(())
def extract_or_empty(container: Any, condition: Function) -> Any:
    return next((element for element in container if condition(element)), EMPTY)


@safe(())
def get_nth_by_key_t(container: Any, rank: Any, key: Any = None) -> Any:
    ranked = sorted(container, key=key)
    return ranked[rank] if ranked else None


@safe(())
def get_nth_by_key_f(container: Any, rank: Any, key: Any = None) -> Any:
    ranked = iter(sorted(container, key=key))
    for _ in range(rank):
        next(ranked, None)
    return next(ranked, None)


def _get_arg_rank(container: Any, compfunc: Function, rank: Any, missing: Any) -> Any:
    ranked = sorted(container, key=compfunc, reverse=True)
    return ranked[rank] if -len(ranked) <= rank < len(ranked) else missing


@safe(())
def get_arg_rank(container: Any, compfunc: Function, rank: Any) -> Any:
    return _get_arg_rank(container, compfunc, rank, like(container, ()))


@safe(())
def get_arg_rank_t(container: Any, compfunc: Function, rank: Any) -> Any:
    return _get_arg_rank(container, compfunc, rank, ())


@safe(())
def get_arg_rank_f(container: Any, compfunc: Function, rank: Any) -> Any:
    return _get_arg_rank(container, compfunc, rank, EMPTY)


@safe(())
def get_val_rank(container: Any, compfunc: Function, rank: Any) -> Any:
    ranked = sorted(container, key=compfunc)
    return compfunc(ranked[rank] if -len(ranked) <= rank < len(ranked) else 0)


@safe(())
def apply_t(function: Function, container: Any) -> Any:
    return tuple(function(element) for element in container)


@safe(())
def rapply_t(functions: Any, value: Any) -> Any:
    return tuple(function(value) for function in functions)


@safe(EMPTY)
def safe_mapply(function: Function, container: Any) -> Any:
    return safe_merge(safe_apply(function, container))


@safe(())
def mapply_t(function: Function, container: Any) -> Any:
    return safe_merge(apply_t(function, container))


@safe(EMPTY)
def mapply_f(function: Function, container: Any) -> Any:
    return safe_merge(safe_apply_f(function, container))


@safe(())
def safe_mpapply(function: Function, a: Any, b: Any) -> Any:
    return safe_merge(safe_papply(function, a, b))


@safe(())
def first(container: Any) -> Any:
    return next(iter(container), None)


@safe(())
def second(container: Any) -> Any:
    elements = iter(container)
    next(elements)
    return next(elements, None)


def _values(samples: Any, function: Function, side: Function) -> Any:
    """Returns the distinct values of a function on all inputs or all outputs."""
    values = mapply_t(function, safe_apply(side, samples))
    return [value for k, value in enumerate(values) if value not in values[:k]]


@safe(())
def c_iz(S: Any, function: Function) -> Any:
    inputs, outputs = _values(S, function, first), _values(S, function, second)
    return tuple(value for value in inputs if value not in outputs)


@safe(())
def c_zo(S: Any, function: Function) -> Any:
    inputs, outputs = _values(S, function, first), _values(S, function, second)
    return tuple(value for value in outputs if value not in inputs)


@safe(0)
def c_iz_n(S: Any, function: Function, pick: Function) -> Any:
    return pick(c_iz(S, function))


@safe(0)
def c_zo_n(S: Any, function: Function, pick: Function) -> Any:
    return pick(c_zo(S, function))


def _variants(name: str, function: Function) -> dict[str, Function]:
    """Returns a function under its name and the names of its variants."""
    return {name + suffix: function for suffix in ("", "_t", "_f")}


TOKPIDJIN: dict[str, Function] = {
    **_variants("valmax", safe(0)(valmax)),
    **_variants("valmin", safe(0)(valmin)),
    **_variants("argmax", safe(())(argmax)),
    **_variants("argmin", safe(())(argmin)),
    **_variants("get_val_rank", get_val_rank),
    "order": safe(())(order),
    "sfilter": safe_sfilter,
    "sfilter_t": sfilter_t,
    "sfilter_f": sfilter_f,
    "mfilter": safe_mfilter,
    "mfilter_t": sfilter_f,
    "mfilter_f": safe_mfilter,
    "extract": extract_or_empty,
    "get_nth_by_key_t": get_nth_by_key_t,
    "get_nth_by_key_f": get_nth_by_key_f,
    "get_arg_rank": get_arg_rank,
    "get_arg_rank_t": get_arg_rank_t,
    "get_arg_rank_f": get_arg_rank_f,
    "apply": safe_apply,
    "apply_t": apply_t,
    "apply_f": safe_apply_f,
    "rapply": safe(())(rapply),
    "rapply_t": rapply_t,
    "rapply_f": safe(EMPTY)(rapply),
    "mapply": safe_mapply,
    "mapply_t": mapply_t,
    "mapply_f": mapply_f,
    "papply": safe_papply,
    "mpapply": safe_mpapply,
    "prapply": safe(EMPTY)(prapply),
    "c_iz": c_iz,
    "c_zo": c_zo,
    "c_iz_n": c_iz_n,
    "c_zo_n": c_zo_n,
}
