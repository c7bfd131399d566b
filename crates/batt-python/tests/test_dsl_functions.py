"""Functions in `batt.dsl`: calls, closures, foreign callables, pickling, threads."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import threading
import weakref
from typing import Any

import batt.errors
import pytest
from batt import dsl
from batt._native import Function, Primitive
from batt.dsl import rearc, tokpidjin
from dsl_support import MODULES, exact, outcome

GRID = ((0, 0, 2, 2), (1, 1, 2, 0), (0, 1, 0, 5))
OBJECTS = dsl.objects(GRID, True, False, True)


def test_keyword_arguments() -> None:
    assert dsl.crop(grid=GRID, start=(0, 1), dims=(1, 2)) == ((0, 2),)
    assert dsl.crop(GRID, dims=(1, 2), start=(0, 1)) == ((0, 2),)
    assert dsl.fill(GRID, patch=frozenset(), value=3) == GRID
    closure = dsl.rbind(dsl.subtract, 1)
    assert closure(x=5) == 4
    assert dsl.lbind(dsl.fill, GRID)(y=frozenset(), x=4) == GRID
    by_size = tokpidjin.get_nth_by_key_t(container=((1,), (), (2, 3)), rank=0, key=tokpidjin.size)
    assert by_size == ()
    assert tokpidjin.get_nth_by_key_t((3, 1), 0) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: dsl.add(1),
        lambda: dsl.add(1, 2, 3),
        lambda: dsl.add(),
        lambda: dsl.add(1, 2, 3, 4, 5, 6),
        lambda: dsl.add(1, c=2),
        lambda: dsl.add(1, a=2),
        lambda: dsl.add(b=2),
        lambda: dsl.compose(dsl.size),
        lambda: dsl.compose(dsl.size, dsl.first)(),
        lambda: dsl.compose(dsl.size, dsl.first)(1, 2),
        lambda: dsl.compose(dsl.size, dsl.first)(y=1),
        lambda: dsl.rbind(dsl.size, 1)((1,)),
        lambda: dsl.identity([1])[0] + dsl.size([1]),
        lambda: dsl.size("abc"),
        lambda: dsl.merge(("a", "b")),
        lambda: dsl.hmirror([[1]]),
    ],
)
def test_wrong_arguments_are_a_type_error(call: Any) -> None:
    with pytest.raises(TypeError) as raised:
        call()
    assert isinstance(raised.value, batt.errors.TypeFault)
    assert raised.value.op


def test_wrong_arguments_give_the_fallback_in_tokpidjin() -> None:
    assert tokpidjin.add(1) == ()
    assert tokpidjin.size(1, 2, 3, 4, 5, 6, 7) == 0
    assert tokpidjin.size(wrong=1) == 0
    assert tokpidjin.first(1) == ()
    fallback = tokpidjin.lbind(3, 4)
    assert fallback(1, 2, 3) == ()
    assert tokpidjin.lbind(len, 4) is fallback
    assert tokpidjin.rbind(fallback, 1).__code__.co_argcount == 3
    with pytest.raises(batt.errors.TypeFault):
        tokpidjin.compose(tokpidjin.size, tokpidjin.first)(1, 2)


def test_faults_are_also_exceptions_of_python() -> None:
    cases = {
        TypeError: lambda: dsl.add(1, None),
        IndexError: lambda: dsl.add((1,), (2, 3)),
        StopIteration: lambda: dsl.first(()),
        RuntimeError: lambda: dsl.apply(dsl.first, ((),)),
        ValueError: lambda: dsl.argmax((), dsl.size),
        AttributeError: lambda: dsl.lbind(3, 4),
        ZeroDivisionError: lambda: dsl.divide(1, 0),
        RecursionError: lambda: dsl.power(dsl.size, 0),
        OverflowError: lambda: dsl.multiply(2**40, 2**40),
    }
    for kind, call in cases.items():
        with pytest.raises(kind) as raised:
            call()
        assert isinstance(raised.value, batt.errors.RunFault)
        assert raised.value.op in str(raised.value)


def test_integers_beyond_64_bits_overflow() -> None:
    for call in (
        lambda: dsl.increment(2**63),
        lambda: dsl.increment(2**63 - 1),
        lambda: dsl.apply(dsl.increment, (10**30,)),
        lambda: dsl.maximum((1, -(2**70))),
        lambda: tokpidjin.increment(2**64),
    ):
        with pytest.raises(batt.errors.IntegerOverflow):
            call()
    assert dsl.decrement(2**63 - 1) == 2**63 - 2
    assert dsl.decrement(1 - 2**63) == -(2**63)


def test_limits_end_a_call() -> None:
    with pytest.raises(batt.errors.SizeLimit):
        dsl.repeat(1, 10**9)
    with pytest.raises(batt.errors.RunLimit):
        dsl.canvas(1, (3000, 3000))
    with pytest.raises(batt.errors.RunLimit):
        tokpidjin.canvas(1, (3000, 3000))


def test_arguments_and_their_parts_come_back_as_the_same_objects() -> None:
    a, b = frozenset({(5, 6), (7, 8)}), frozenset({(70, 80), (1, 2)})
    deep = ((a, (b, None)), 3)
    assert dsl.identity(a) is a
    assert dsl.branch(True, deep, a) is deep
    assert dsl.first((a, b)) is a
    assert dsl.argmax((a, b), dsl.uppermost) is a
    assert dsl.order((b, a), dsl.leftmost)[0] is b
    assert dsl.compose(dsl.identity, dsl.first)(deep) is deep[0]
    assert {id(x) for x in dsl.sfilter(OBJECTS, dsl.identity)} == {id(x) for x in OBJECTS}
    assert dsl.repeat(a, 2)[1] is a
    pair = dsl.fork(dsl.astuple, dsl.asindices, dsl.asindices)(GRID)
    assert pair[0] == pair[1]
    twice = dsl.compose(dsl.fork(dsl.astuple, dsl.identity, dsl.identity), dsl.asindices)(GRID)
    assert twice[0] is twice[1]


def test_a_value_that_contains_another_one_many_times_is_small() -> None:
    double = dsl.fork(dsl.astuple, dsl.identity, dsl.identity)
    value = dsl.power(double, 60)(((1, 2), 3))
    for _ in range(60):
        assert value[0] is value[1]
        value = value[0]
    assert value == ((1, 2), 3)


def test_the_same_set_twice_is_one_object() -> None:
    """Python copies a set when it is intersected with itself."""
    a = frozenset((0, 8, 16, 24, 32))
    same = frozenset(list(a))
    itself = dsl.fork(dsl.intersection, dsl.first, dsl.last)
    assert list(itself((a, a))) == list(a & a) == [0, 32, 16, 8, 24]
    assert list(itself((a, same))) == list(a & same) == [0, 32, 8, 16, 24]
    assert list(dsl.lbind(dsl.intersection, a)(a)) == list(a & a)


def test_functions_know_how_they_were_made() -> None:
    inner = dsl.rbind(dsl.greater, 3)
    function = dsl.fork(dsl.both, inner, dsl.compose(dsl.even, dsl.identity))
    assert isinstance(function, Function)
    assert function.func is dsl.fork
    assert function.args[1] is inner
    assert repr(inner) == "rbind(greater, 3)"
    assert repr(function) == "fork(both, rbind(greater, 3), compose(even, identity))"
    assert list(inspect.signature(function).parameters) == ["x"]
    bound = dsl.lbind(dsl.objects, GRID)
    assert list(inspect.signature(bound).parameters) == ["x", "y", "z"]
    assert bound.__code__.co_argcount == 3
    assert "(...)" in repr(dsl.lbind(dsl.objects, GRID * 9))
    power = dsl.power(dsl.increment, 4)
    assert power.args == (dsl.increment, 4)
    assert power(3) == 7
    assert dsl.power(inner, 1) is inner
    assert inner == inner
    assert inner != dsl.rbind(dsl.greater, 3)


def test_functions_made_inside_of_a_call_come_back() -> None:
    adders = dsl.apply(dsl.lbind(dsl.lbind, dsl.add), (1, 2, 3))
    assert [adder(10) for adder in adders] == [11, 12, 13]
    assert dsl.rapply(adders, 5) == (6, 7, 8)
    functions = dsl.apply(dsl.fork(dsl.compose, dsl.first, dsl.last), ((dsl.size, dsl.first),))
    assert functions[0](((1, 2), 3)) == 2
    assert dsl.apply(dsl.identity, (dsl.size, dsl.first)) == (dsl.size, dsl.first)


FOREIGN: list[Any] = [
    lambda x: dsl.size(x),
    functools.partial(dsl.identity),
    len,
]


@pytest.mark.parametrize("size", FOREIGN[:1] + FOREIGN[2:])
def test_foreign_callables_are_called(size: Any) -> None:
    patches = (frozenset({(1, 2)}), frozenset({(3, 4), (5, 6)}), frozenset())
    assert dsl.argmax(patches, size) is patches[1]
    assert dsl.order(patches, size) == (patches[2], patches[0], patches[1])
    assert dsl.apply(size, patches) == (1, 2, 0)
    assert dsl.compose(dsl.increment, size)(patches) == 4
    assert dsl.matcher(size, 1)(patches[0]) is True
    assert dsl.fork(dsl.add, size, dsl.size)(patches) == 6
    assert dsl.chain(dsl.increment, dsl.double, size)(patches) == 7
    assert dsl.sfilter(patches, dsl.compose(dsl.flip, size)) == (patches[2],)
    assert dsl.rapply((size, dsl.size), patches) == (3, 3)
    assert dsl.mapply(lambda n: (n, size(patches)), (1, 2)) == (1, 3, 2, 3)
    assert dsl.power(lambda n: n + size(patches), 3)(1) == 10
    assert dsl.extract(patches, dsl.matcher(size, 2)) is patches[1]


def test_foreign_callables_are_bound_by_their_number_of_parameters() -> None:
    assert dsl.lbind(lambda a, b: a - b, 5)(3) == 2
    assert dsl.rbind(lambda a, b: a - b, 5)(3) == -2
    assert dsl.rbind(lambda a, b, c: (a, b, c), 5)(3, 4) == (3, 4, 5)
    assert dsl.lbind(lambda a, b, c, d: (a, b, c, d), 5)(3, 4, 6) == (5, 3, 4, 6)
    with pytest.raises(AttributeError):
        dsl.lbind(len, 5)


def test_foreign_callables_are_values() -> None:
    def mine(x: Any) -> Any:
        return x

    assert dsl.branch(False, dsl.size, mine) is mine
    assert dsl.astuple(mine, dsl.size) == (mine, dsl.size)
    assert dsl.first(dsl.totuple(dsl.initset(mine))) is mine
    assert dsl.contained(mine, (dsl.size, mine))
    assert dsl.mostcommon((mine, dsl.size, mine)) is mine
    assert dsl.repeat(mine, 2) == (mine, mine)
    assert dsl.equality(mine, mine)


def test_foreign_callables_may_return_anything() -> None:
    words = ("pear", "fig", "banana")
    assert dsl.order((1, 2, 0), lambda k: words[k]) == (2, 1, 0)
    assert dsl.argmax((1, 2, 0), lambda k: len(words[k]) / 2) == 2
    assert dsl.apply(lambda k: words[k], (0, 1)) == ("pear", "fig")
    assert dsl.apply(len, words) == (4, 3, 6)


def test_exceptions_of_foreign_callables_pass_through() -> None:
    class Mine(Exception):
        pass

    def fails(x: Any) -> Any:
        raise Mine(x)

    for call in (
        lambda: dsl.apply(fails, (1, 2)),
        lambda: dsl.compose(dsl.size, fails)(1),
        lambda: dsl.argmin(OBJECTS, fails),
    ):
        with pytest.raises(Mine):
            call()
    assert tokpidjin.apply(fails, (1, 2)) == ()
    with pytest.raises(batt.errors.RunLimit):
        tokpidjin.apply(lambda x: tokpidjin.canvas(1, (x, x)), (5000,))


def test_primitives_can_be_called_inside_of_calls() -> None:
    class Odd:
        """Calls a primitive when it is compared or hashed."""

        def __init__(self) -> None:
            self.calls = 0

        def __call__(self) -> None: ...

        def __hash__(self) -> int:
            self.calls += 1
            return dsl.size(dsl.asindices(GRID))

        def __eq__(self, other: object) -> bool:
            self.calls += 1
            return bool(dsl.even(dsl.size(dsl.hmirror(GRID))))

    odd = Odd()
    assert dsl.size(dsl.apply(dsl.identity, frozenset({odd}))) == 1
    assert len(dsl.product((odd,), (1, 2))) == 2
    assert odd.calls > 2


def test_other_dialects_are_foreign() -> None:
    assert dsl.apply(tokpidjin.size, ((1, 2), (3,))) == (2, 1)
    assert rearc.apply(dsl.lbind(dsl.add, 1), (1, 2)) == (2, 3)
    assert tokpidjin.compose(dsl.increment, tokpidjin.size)((1, 2)) == 3


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_primitives_are_pickled_by_name(module: Any) -> None:
    for value in vars(module).values():
        if isinstance(value, Primitive):
            assert pickle.loads(pickle.dumps(value)) is value
            assert copy.deepcopy(value) is value


def test_functions_are_pickled() -> None:
    functions = [
        (dsl.compose(dsl.size, dsl.rbind(dsl.colorfilter, 2)), (OBJECTS,)),
        (dsl.fork(dsl.add, dsl.size, dsl.chain(dsl.size, dsl.first, dsl.identity)), (OBJECTS,)),
        (dsl.lbind(dsl.fill, GRID), (3, frozenset({(0, 0)}))),
        (dsl.matcher(dsl.size, 3), (OBJECTS,)),
        (dsl.power(dsl.double, 5), (3,)),
        (tokpidjin.lbind(3, 4), ()),
    ]
    for function, args in functions:
        again = pickle.loads(pickle.dumps(function))
        assert exact(again(*args)) == exact(function(*args))
    assert pickle.loads(pickle.dumps(tokpidjin.lbind(3, 4))) is tokpidjin.lbind(3, 4)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(dsl.compose(dsl.size, lambda x: x))


def test_weak_references_and_cycles() -> None:
    holder: dict[str, Any] = {}
    holder["f"] = dsl.compose(dsl.identity, lambda x: holder["f"])
    alive = weakref.ref(holder["f"])
    assert holder["f"](1) is holder["f"]
    del holder
    gc.collect()
    assert alive() is None


def test_threads() -> None:
    function = dsl.compose(dsl.merge, dsl.rbind(dsl.colorfilter, 1))
    expected = exact(function(dsl.objects(GRID, True, False, True)))
    foreign = exact(dsl.apply(dsl.size, dsl.totuple(OBJECTS)))
    wrong = []

    def work() -> None:
        for k in range(2000):
            if exact(function(dsl.objects(GRID, True, False, True))) != expected:
                wrong.append(k)
            if exact(dsl.apply(lambda x: dsl.size(x), dsl.totuple(OBJECTS))) != foreign:
                wrong.append(k)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_numbers_of_numpy_are_integers() -> None:
    numpy = pytest.importorskip("numpy")
    grid = tuple(tuple(row) for row in numpy.array(GRID))
    assert exact(dsl.hmirror(dsl.replace(grid, 2, numpy.int64(7)))) == exact(
        dsl.hmirror(dsl.replace(GRID, 2, 7))
    )
    assert outcome(lambda: dsl.size(numpy.zeros((2, 2)))) == ("error", "TypeError")


def test_subclasses_are_read_as_their_base_classes() -> None:
    class Row(tuple[int, ...]): ...

    class Patch(frozenset[Any]): ...

    grid = Row(map(Row, GRID))
    assert exact(dsl.dmirror(grid)) == exact(dsl.dmirror(GRID))
    patch = Patch({(1, 2), (3, 4)})
    assert exact(dsl.shift(patch, (1, 1))) == exact(dsl.shift(frozenset(patch), (1, 1)))
    assert exact(dsl.shift({(1, 2), (3, 4)}, (1, 1))) == exact(dsl.shift(frozenset(patch), (1, 1)))
    assert exact(dsl.toindices(Patch({(1, (3, 4))}))) == exact(frozenset({(3, 4)}))


def test_deeply_nested_values() -> None:
    value: Any = ()
    for _ in range(900):
        value = (value,)
    assert dsl.size(dsl.repeat(value, 2)) == 2
    for _ in range(5000):
        value = (value,)
    with pytest.raises(RecursionError):
        dsl.repeat(value, 2)
