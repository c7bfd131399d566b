"""The types that the primitives of tokpidjin speak of. Nothing checks them at run time.

A search reads more into a hint than its type: `C_` is a colour, `FL` a rank from either end. The
hints `R4`, `R8`, `A4` and `A8` are `R4_`, `R8_`, `A4_` and `A8_` here, because constants have those
names.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from batt.dsl.types import (
    Boolean,
    Callable,
    Container,
    ContainerContainer,
    FrozenSet,
    Grid,
    Indices,
    IndicesSet,
    Integer,
    IntegerSet,
    IntegerTuple,
    Numerical,
    Tuple,
    TupleTuple,
)

__all__ = [
    "A4_",
    "A8_",
    "FL",
    "IJ",
    "Boolean",
    "C_",
    "Callable",
    "Cell",
    "Container",
    "ContainerContainer",
    "Element",
    "F_",
    "FrozenSet",
    "Grid",
    "I_",
    "Indices",
    "IndicesSet",
    "Integer",
    "IntegerSet",
    "IntegerTuple",
    "J_",
    "L_",
    "Numerical",
    "Object",
    "Objects",
    "Patch",
    "Piece",
    "R4_",
    "R8_",
    "R_",
    "Samples",
    "TTT_iii",
    "Tuple",
    "TupleTuple",
]

IJ: TypeAlias = IntegerTuple
#: `(row, column, colour)`
Cell: TypeAlias = tuple[int, int, int]
Object: TypeAlias = frozenset[Cell]
Objects: TypeAlias = frozenset[Object]
Patch: TypeAlias = Union[Object, Indices]
Element: TypeAlias = Union[Object, Grid]
Piece: TypeAlias = Union[Grid, Patch]
#: The demonstrations: pairs of an input and an output
Samples: TypeAlias = tuple[tuple[Grid, Grid], ...]
#: Objects as tuples of cells
TTT_iii: TypeAlias = tuple[tuple[Cell, ...], ...]
#: A rank from either end, from the first, from the last
FL: TypeAlias = int
F_: TypeAlias = int
L_: TypeAlias = int
#: A symbol with 10, 4, 8 values
R_: TypeAlias = int
R4_: TypeAlias = int
R8_: TypeAlias = int
#: A mirror or rotation, of 4 or 8
A4_: TypeAlias = int
A8_: TypeAlias = int
#: A colour, a row, a column
C_: TypeAlias = int
I_: TypeAlias = int
J_: TypeAlias = int
