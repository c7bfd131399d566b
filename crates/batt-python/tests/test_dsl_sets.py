"""The frozensets that `batt.dsl` returns and takes: their iteration order and their tables.

The size of a table is part of the contract, because later operations depend on it. Python shows it
as the size of the object.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterable
from typing import Any

import pytest
from batt import dsl
from batt._native import Primitive
from batt.dsl import tokpidjin
from batt.dsl._sets import LaidOutSet
from dsl_support import exact

Pair = tuple[int, int]


def same(made: Any, expected: frozenset[Any]) -> None:
    """Requires the elements, the order, the size of the table and the class."""
    assert list(made) == list(expected)
    assert type(made) is frozenset
    assert made.__sizeof__() == expected.__sizeof__()


def patches(seed: int) -> Iterable[frozenset[Pair]]:
    """Returns sets of locations that were made in different ways."""
    rng = random.Random(seed)

    def some(most: int) -> list[Pair]:
        side = rng.choice([4, 12, 40])
        count = rng.randrange(most)
        return [(rng.randrange(side), rng.randrange(-2, side)) for _ in range(count)]

    for _ in range(40):
        a, b = some(90), some(40)
        yield frozenset(a)
        yield frozenset(set(a))
        yield frozenset(a) | frozenset(b)
        yield frozenset(a) - frozenset(b[:3])
        yield frozenset(a) & frozenset(a[:20] + b)
        yield frozenset(dict.fromkeys(a))
        yield frozenset(a[:3]) | frozenset(a[:3])


@pytest.mark.parametrize("seed", range(5))
def test_operations_on_sets_of_any_table(seed: int) -> None:
    previous: frozenset[Pair] = frozenset()
    for patch in patches(seed):
        cells = frozenset((3, location) for location in patch)
        same(dsl.insert((7, 7), patch), patch | frozenset({(7, 7)}))
        same(dsl.combine(patch, previous), frozenset((*patch, *previous)))
        same(dsl.intersection(patch, patch), patch & patch)
        same(dsl.intersection(patch, previous), patch & previous)
        same(dsl.difference(patch, previous), frozenset(e for e in patch if e not in previous))
        same(dsl.remove((1, 1), patch), frozenset(e for e in patch if e != (1, 1)))
        same(dsl.shift(patch, (1, 2)), frozenset((i + 1, j + 2) for i, j in patch))
        same(dsl.recolor(3, patch), frozenset((3, location) for location in patch))
        same(dsl.toindices(cells), frozenset(location for _, location in cells))
        same(dsl.product((1, 2), patch), frozenset((k, e) for e in patch for k in (1, 2)))
        same(dsl.apply(dsl.first, patch), frozenset(i for i, _ in patch))
        same(tokpidjin.combine_f(patch, previous), patch | previous)
        # The same operations inside of functions, where no shortcut takes them.
        same(dsl.rbind(dsl.intersection, previous)(patch), patch & previous)
        same(dsl.lbind(dsl.insert, (7, 7))(patch), patch | frozenset({(7, 7)}))
        same(dsl.compose(dsl.merge, dsl.initset)(patch), frozenset(e for e in patch))
        assert dsl.totuple(patch) == tuple(patch)
        for difference in dsl.subtract((patch, patch), (previous, previous)):
            same(difference, patch - previous)
        previous = patch


@pytest.mark.parametrize("seed", range(5))
def test_sets_without_some_elements_keep_their_traces(seed: int) -> None:
    """A removed element leaves a trace in the table. A copy with other elements reveals it."""
    rng = random.Random(seed)
    for _ in range(100):
        place = (rng.randrange(20), rng.randrange(20))
        patch = frozenset({place, (place[0] + rng.randrange(5, 12), place[1] + 9)})
        box = frozenset(
            (i, j)
            for i in range(dsl.uppermost(patch), dsl.lowermost(patch) + 1)
            for j in range(dsl.leftmost(patch), dsl.rightmost(patch) + 1)
        )
        delta, expected = dsl.delta(patch), box - patch
        same(delta, expected)
        for value in ((3, 3), (50, 2), place):
            same(dsl.insert(value, delta), expected | frozenset({value}))
            same(dsl.lbind(dsl.insert, value)(delta), expected | frozenset({value}))
        same(
            dsl.compose(dsl.fork(dsl.intersection, dsl.first, dsl.last), dsl.identity)(
                (delta, delta)
            ),
            expected & expected,
        )
        del delta


def test_sets_of_sets() -> None:
    grid = tuple(tuple(random.Random(i).randrange(4) for _ in range(12)) for i in range(12))
    objects = dsl.objects(grid, True, False, False)
    again = frozenset(set(list(objects)))
    assert exact(dsl.apply(dsl.identity, objects)) == exact(frozenset(o for o in objects))
    assert exact(dsl.insert(frozenset(), objects)) == exact(objects | frozenset({frozenset()}))
    assert exact(dsl.merge(objects)) == exact(frozenset(c for o in objects for c in o))
    assert {o.__sizeof__() for o in dsl.sfilter(again, dsl.identity)} == {
        o.__sizeof__() for o in again
    }
    rows = dsl.mapply(dsl.toindices, objects)
    same(rows, frozenset(e for o in frozenset(map(dsl.toindices, objects)) for e in o))


def test_sets_with_equal_elements_of_different_kinds() -> None:
    same(dsl.combine(frozenset({1, 2}), (True, 3)), frozenset((1, 2, True, 3)))
    assert exact(dsl.combine(frozenset({True}), (1, 0))) == exact(frozenset((True, 1, 0)))
    assert exact(dsl.apply(dsl.identity, frozenset({(True, 0)}))) == exact(frozenset({(True, 0)}))
    assert exact(dsl.insert((1, 0), frozenset({(True, False)}))) == exact(
        frozenset({(True, False)}) | frozenset({(1, 0)})
    )


def test_sets_whose_order_is_arbitrary_keep_it() -> None:
    things = frozenset({dsl.size, dsl.first, dsl.last, None, dsl.increment, dsl.hmirror})
    assert dsl.totuple(things) == tuple(things)
    assert dsl.compose(dsl.totuple, dsl.identity)(things) == tuple(things)
    assert dsl.apply(dsl.identity, things) == things
    pairs = dsl.product((dsl.size, dsl.first), (dsl.last, None))
    assert dsl.apply(dsl.first, pairs) == {dsl.size, dsl.first}
    nan = tokpidjin.get_nth_t((), 0)
    assert nan != nan
    assert tokpidjin.get_nth_t((), 0) is nan
    assert tokpidjin.contained(nan, tokpidjin.initset(nan))
    other = float("nan")
    assert tokpidjin.first((other, 1)) is other
    assert tokpidjin.compose(tokpidjin.first, tokpidjin.identity)((other, nan)) is other


def test_this_python_lays_sets_out_as_the_simulation_does() -> None:
    assert Primitive._tables_agree()


class TestLaidOutSet:
    """Sets that carry their table. No primitive is known to need one; the tests make them."""

    elements = ((1, 2), (0, 0), (5, 5))
    made = LaidOutSet(elements, [2, 3, 6], 3, False)
    plain = frozenset(elements)

    def test_it_is_a_frozenset_with_an_order(self) -> None:
        assert self.made == self.plain
        assert self.plain == self.made
        assert hash(self.made) == hash(self.plain)
        assert list(self.made) == list(self.elements)
        assert repr(self.made) == "frozenset({(1, 2), (0, 0), (5, 5)})"
        assert self.made in {self.plain}
        assert (0, 0) in self.made
        assert len(self.made) == 3

    def test_it_is_pickled_and_copied(self) -> None:
        again = pickle.loads(pickle.dumps(self.made))
        assert list(again) == list(self.made)
        assert again._table == self.made._table
        assert self.made.copy() is self.made

    def test_operators_give_plain_sets(self) -> None:
        other = frozenset({(0, 0), (9, 9)})
        for made, expected in (
            (self.made | other, self.plain | other),
            (self.made & other, self.plain & other),
            (self.made - other, self.plain - other),
            (self.made ^ other, self.plain ^ other),
            (other | self.made, other | self.plain),
            (other & self.made, other & self.plain),
            (other - self.made, other - self.plain),
            (other ^ self.made, other ^ self.plain),
            (self.made.union(other), self.plain.union(other)),
            (self.made.intersection(other), self.plain.intersection(other)),
            (self.made.difference(other), self.plain.difference(other)),
            (self.made.symmetric_difference(other), self.plain.symmetric_difference(other)),
        ):
            assert made == expected
            assert type(made) is frozenset

    def test_primitives_see_its_order(self) -> None:
        assert dsl.first(self.made) == (1, 2)
        assert dsl.last(self.made) == (5, 5)
        assert dsl.totuple(self.made) == self.elements
        assert dsl.identity(self.made) is self.made
        assert dsl.apply(dsl.identity, ((self.made,),))[0][0] is self.made
        assert dsl.apply(lambda x: x, self.made) == self.plain
        assert dsl.order(self.made, None) == tuple(sorted(self.elements))
        same(dsl.shift(self.made, (1, 1)), frozenset((i + 1, j + 1) for i, j in self.elements))
        # A copy into a table of the same size keeps the slots.
        assert dsl.first(dsl.insert((1, 2), self.made)) == (1, 2)
