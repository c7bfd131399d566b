"""Random expressions of the DSL, as text that Python and the engine both read."""

from __future__ import annotations

import inspect
from typing import Any

import hypothesis.strategies as st
from dsl_support import MODULES

#: The input of all programs. It has ties, objects, a background and several colours.
GRID = (
    (0, 0, 2, 2, 0, 0),
    (1, 1, 2, 0, 0, 8),
    (0, 1, 0, 5, 0, 8),
    (3, 0, 0, 5, 5, 0),
)


def call(name: str, *args: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Returns calls of a primitive."""
    return st.tuples(*args).map(lambda args: f"{name}({', '.join(args)})")


class Expressions:
    """Strategies for the expressions of a dialect, by the kind of their value."""

    def __init__(self, dialect: str) -> None:
        self.names = vars(MODULES[dialect])
        self.dialect = dialect
        small = st.integers(-3, 12).map(str)
        self.integer = small | st.sampled_from(["ZERO", "TEN", "NEG_TWO", "-40", "300"])
        self.boolean = st.sampled_from(["T", "F"])
        self.pair = st.one_of(
            st.tuples(small, small).map(lambda p: f"({p[0]}, {p[1]})"),
            st.sampled_from(["UP", "ORIGIN", "DOWN_LEFT", "TWO_BY_TWO", "(T, 1)"]),
        )
        self.grid = st.deferred(lambda: self._grids())
        self.indices = st.deferred(lambda: self._indices())
        self.object = st.deferred(lambda: self._objects())
        self.objects = st.deferred(lambda: self._sets_of_objects())
        self.integers = st.deferred(lambda: self._integers())
        self.tuple = st.deferred(lambda: self._tuples())
        self.function = st.deferred(lambda: self._functions())
        self.any = st.deferred(
            lambda: st.one_of(
                self.integer,
                self.boolean,
                self.pair,
                self.grid,
                self.indices,
                self.object,
                self.objects,
                self.integers,
                self.tuple,
                self.function,
                st.sampled_from(
                    ["()", "None", "(1, 2, 3)", "((), (1,))", "((1, 2), (3,))", "(70000, 3)"]
                ),
            )
        )

    def named(self, *names: str) -> list[str]:
        """Returns those of the names that the dialect has."""
        return [name for name in names if name in self.names]

    def calls(
        self, names: list[str], *args: st.SearchStrategy[str]
    ) -> list[st.SearchStrategy[str]]:
        return [call(name, *args) for name in names]

    def _grids(self) -> st.SearchStrategy[str]:
        mirrors = self.named("hmirror", "rot90", "dmirror", "hmirror_t", "dmirror_t")
        return st.one_of(
            st.just("I"),
            st.just("I"),
            st.sampled_from(["((1, 2), (3, 4))", "((7,),)", "((1, 2, 3),)", "((1, 300), (0, -1))"]),
            *self.calls(mirrors, self.grid),
            call("crop", self.grid, self.pair, self.pair),
            call("canvas", self.integer, st.sampled_from(["(2, 3)", "UNITY", "(1, 9)"])),
            call("fill", self.grid, self.integer, self.indices),
            call("hconcat", self.grid, self.grid),
        )

    def _indices(self) -> st.SearchStrategy[str]:
        colors = self.named("ofcolor", "f_ofcolor")
        return st.one_of(
            call("asindices", self.grid),
            *self.calls(colors, self.grid, self.integer),
            *self.calls(["neighbors", "dneighbors", "vfrontier"], self.pair),
            *self.calls(["backdrop", "delta", "outbox", "toindices", "box"], self.object),
            call("connect", self.pair, self.pair),
            call("shift", self.indices, self.pair),
            call("insert", self.pair, self.indices),
            call("intersection", self.indices, self.indices),
            call("difference", self.indices, self.indices),
            call("combine", self.indices, self.indices),
            call("remove", self.pair, self.indices),
            call("initset", self.pair),
        )

    def _objects(self) -> st.SearchStrategy[str]:
        recolor = self.named("recolor", "recolor_i")
        return st.one_of(
            call("asobject", self.grid),
            *self.calls(recolor, self.integer, self.indices),
            call("toobject", self.indices, self.grid),
            *self.calls(["first", "merge"], self.objects),
            call("shift", self.object, self.pair),
            call("insert", self.any, self.object),
        )

    def _sets_of_objects(self) -> st.SearchStrategy[str]:
        flags = (self.boolean, self.boolean, self.boolean)
        return st.one_of(
            call("objects", self.grid, *flags),
            call("objects", self.grid, *flags),
            *self.calls(["partition", "fgpartition", "frontiers"], self.grid),
            call("sizefilter", self.objects, self.integer),
            call("apply", st.sampled_from(["identity", "toindices"]), self.objects),
            call("insert", self.object, self.objects),
            call("initset", self.object),
        )

    def _integers(self) -> st.SearchStrategy[str]:
        palettes = self.named("palette", "palette_t")
        return st.one_of(
            *self.calls(palettes, self.grid),
            call("apply", st.sampled_from(self.named("double", "sign", "even")), self.integers),
            call("insert", self.integer, self.integers),
            call("difference", self.integers, self.integers),
            call("initset", self.integer),
        )

    def _tuples(self) -> st.SearchStrategy[str]:
        containers = st.one_of(self.indices, self.object, self.objects, self.integers)
        return st.one_of(
            call("totuple", containers),
            call("interval", self.integer, self.integer, self.integer),
            call("astuple", self.any, self.any),
            call("repeat", self.any, st.sampled_from(["ZERO", "TWO", "THREE"])),
            call("order", containers, st.sampled_from(self.named("size", "first", "identity"))),
            call("pair", containers, containers),
        )

    def _functions(self) -> st.SearchStrategy[str]:
        two = st.sampled_from(
            self.named("add", "shift", "equality", "contained", "astuple", "insert", "intersection")
        )
        return st.one_of(
            self._named_functions(),
            self._named_functions(),
            call("compose", self.function, self.function),
            call("chain", self.function, self.function, self.function),
            call("fork", two, self.function, self.function),
            call("matcher", self.function, self.any),
            call("lbind", two, self.any),
            call("rbind", two, self.any),
            call("power", self.function, st.sampled_from(["ONE", "TWO", "FOUR", "ZERO"])),
        )

    def _named_functions(self) -> st.SearchStrategy[str]:
        return st.sampled_from(
            self.named(
                "identity", "size", "first", "last", "color", "toindices", "ulcorner", "leftmost",
                "increment", "even", "flip", "initset", "totuple", "neighbors", "normalize",
                "hmirror", "palette", "shape", "uppermost", "center", "asindices", "merge",
            )
        )  # fmt: skip

    def _of_hint(self, hint: str) -> st.SearchStrategy[str]:
        """Returns expressions of a type, as the declarations write it."""
        containers = st.one_of(
            self.tuple, self.indices, self.object, self.objects, self.integers, self.grid
        )
        by_hint = {
            "Boolean": self.boolean,
            "Numerical": self.integer | self.pair,
            "IntegerTuple": self.pair,
            "IJ": self.pair,
            "Grid": self.grid,
            "Object": self.object,
            "Objects": self.objects,
            "Indices": self.indices,
            "IndicesSet": self.objects,
            "IntegerSet": self.integers,
            "Patch": self.object | self.indices,
            "Element": self.object | self.grid,
            "Piece": self.object | self.indices | self.grid,
            "Tuple": self.tuple | self.grid,
            "TupleTuple": self.grid,
            "FrozenSet": self.indices | self.objects | self.integers,
            "Container": containers,
            "ContainerContainer": self.objects | self.grid,
            "Callable": self.function,
            "Cell": call("first", self.object),
            "Samples": st.just("((I, hmirror_t(I)), (I, I))"),
        }
        if hint == "Any":
            return self.any
        return by_hint.get(hint, self.integer)

    def calls_of(self, name: str) -> st.SearchStrategy[list[str]]:
        """Returns the arguments of calls of a primitive. About one in ten has a wrong kind."""
        parameters = inspect.signature(self.names[name]).parameters.values()
        usual = [self._of_hint(str(parameter.annotation)) for parameter in parameters]
        odd = st.integers(0, 9).flatmap
        args = [odd(lambda k, own=own: self.any if k == 0 else own) for own in usual]
        return st.tuples(*args).map(list)


class Foreign:
    """A callable that calls a native function. Only the native one knows its arguments."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__code__ = function.__code__

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


def foreign(value: Any) -> Any:
    """Returns a value with foreign callables in place of native functions."""
    if isinstance(value, tuple) and any(map(callable, value)):
        return tuple(map(foreign, value))
    return Foreign(value) if callable(value) else value
