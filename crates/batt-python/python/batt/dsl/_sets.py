"""A frozenset that carries its table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Table = tuple[tuple[Any, ...], list[int], int, bool]


class LaidOutSet(frozenset[Any]):
    """A frozenset whose iteration order Python cannot be made to give.

    Primitives return one only where no sequence of set operations is known that leads to the same
    table, or where this version of Python orders sets in another way than CPython 3.11. It equals
    the plain frozenset of its elements, and hashes and prints like it. Loops and primitives see its
    own order; set operators of Python, such as `|`, use the order of the underlying frozenset and
    return plain frozensets.
    """

    __slots__ = ("_table",)

    _table: Table

    def __new__(
        cls, elements: tuple[Any, ...], slots: list[int], log2_size: int, dummies: bool
    ) -> LaidOutSet:
        made = super().__new__(cls, elements)
        # The elements in iteration order, the slot of each, the binary logarithm of the number of
        # slots, and whether there are traces of removed elements.
        made._table = (elements, slots, log2_size, dummies)
        return made

    def __iter__(self) -> Iterator[Any]:
        return iter(self._table[0])

    def __repr__(self) -> str:
        return f"frozenset({{{', '.join(map(repr, self))}}})"

    def __reduce__(self) -> tuple[type[LaidOutSet], Table]:
        return (LaidOutSet, self._table)

    def copy(self) -> LaidOutSet:
        """Returns the set itself, as `frozenset.copy` does."""
        return self

    def __and__(self, other: Any) -> Any:
        return self.plain() & _plain(other)

    def __or__(self, other: Any) -> Any:
        return self.plain() | _plain(other)

    def __sub__(self, other: Any) -> Any:
        return self.plain() - _plain(other)

    def __xor__(self, other: Any) -> Any:
        return self.plain() ^ _plain(other)

    def __rand__(self, other: Any) -> Any:
        return _plain(other) & self.plain()

    def __ror__(self, other: Any) -> Any:
        return _plain(other) | self.plain()

    def __rsub__(self, other: Any) -> Any:
        return _plain(other) - self.plain()

    def __rxor__(self, other: Any) -> Any:
        return _plain(other) ^ self.plain()

    def union(self, *others: Any) -> frozenset[Any]:
        """Returns the union as a plain frozenset."""
        return self.plain().union(*others)

    def intersection(self, *others: Any) -> frozenset[Any]:
        """Returns the intersection as a plain frozenset."""
        return self.plain().intersection(*others)

    def difference(self, *others: Any) -> frozenset[Any]:
        """Returns the difference as a plain frozenset."""
        return self.plain().difference(*others)

    def symmetric_difference(self, other: Any) -> frozenset[Any]:
        """Returns the symmetric difference as a plain frozenset."""
        return self.plain().symmetric_difference(other)

    def plain(self) -> frozenset[Any]:
        return frozenset(self._table[0])


def _plain(other: Any) -> Any:
    return other.plain() if isinstance(other, LaidOutSet) else other
