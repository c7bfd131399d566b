"""The types that the primitives of arc-dsl speak of. Nothing checks them at run time."""

from __future__ import annotations

import collections.abc
from typing import Any, TypeAlias, Union

__all__ = [
    "Boolean",
    "Callable",
    "Cell",
    "Container",
    "ContainerContainer",
    "Element",
    "FrozenSet",
    "Grid",
    "Indices",
    "IndicesSet",
    "Integer",
    "IntegerSet",
    "IntegerTuple",
    "Numerical",
    "Object",
    "Objects",
    "Patch",
    "Piece",
    "Tuple",
    "TupleTuple",
]

Boolean: TypeAlias = bool
Integer: TypeAlias = int
IntegerTuple: TypeAlias = tuple[int, int]
Numerical: TypeAlias = Union[int, IntegerTuple]
IntegerSet: TypeAlias = frozenset[int]
#: Rows of colours, all of one length
Grid: TypeAlias = tuple[tuple[int, ...], ...]
#: `(colour, (row, column))`
Cell: TypeAlias = tuple[int, IntegerTuple]
Object: TypeAlias = frozenset[Cell]
Objects: TypeAlias = frozenset[Object]
Indices: TypeAlias = frozenset[IntegerTuple]
IndicesSet: TypeAlias = frozenset[Indices]
Patch: TypeAlias = Union[Object, Indices]
Element: TypeAlias = Union[Object, Grid]
Piece: TypeAlias = Union[Grid, Patch]
Tuple: TypeAlias = tuple[Any, ...]
TupleTuple: TypeAlias = tuple[tuple[Any, ...], ...]
FrozenSet: TypeAlias = frozenset[Any]
Container: TypeAlias = Union[tuple[Any, ...], frozenset[Any]]
ContainerContainer: TypeAlias = Union[tuple[Container, ...], frozenset[Container]]
Callable: TypeAlias = collections.abc.Callable[..., Any]
