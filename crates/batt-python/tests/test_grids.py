"""Grids: everything that is one, everything that is none, and what a `Grid` can do."""

from __future__ import annotations

import pickle
from typing import Any

import batt
import numpy as np
import pytest
from batt import Grid
from hypothesis import given
from numpy.typing import NDArray
from strategies import Rows, grids

ROWS: Rows = [[0, 1, 2], [3, 4, 9]]
ARRAY: NDArray[np.uint8] = np.array(ROWS, np.uint8)
INTEGERS = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]


class Tensor:
    """A tensor of another library."""

    shape = (2, 3)

    def tolist(self) -> Rows:
        return ROWS


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        tuple(tuple(row) for row in ROWS),
        [np.array(row) for row in ROWS],
        [[np.int64(cell) for cell in row] for row in ROWS],
        "012/349",
        "012\n349",
        Grid(ROWS),
        *[ARRAY.astype(kind) for kind in INTEGERS],
        ARRAY.astype(object),
        np.asfortranarray(ARRAY),
        np.repeat(ARRAY, 2, axis=1)[:, ::2],
        ARRAY[::-1, ::-1][::-1, ::-1],
        Tensor(),
    ],
    ids=lambda data: f"{type(data).__name__}-{getattr(data, 'dtype', '')}",
)
def test_everything_that_is_a_grid(data: Any) -> None:
    grid = Grid(data)
    assert grid.to_list() == ROWS
    assert grid == Grid(ROWS)


NO_GRIDS: list[tuple[Any, str]] = [
    ([], "the grid has no rows"),
    ([[]], "row 0 has no cells"),
    ("", "the grid has no rows"),
    ([[1, 2], [3]], "row 1 has 1 cell, row 0 has 2"),
    ([[1, 10]], "row 0, column 1 is 10"),
    ([[1, -1]], "row 0, column 1 is -1"),
    ([[1, 10**30]], "row 0, column 1 is 1000"),
    ([[1, 2.0]], "row 0, column 1 is 2.0, colours are whole numbers"),
    ([[1, "2"]], "row 0, column 1 is '2'"),
    ([[1, None]], "row 0, column 1 is None"),
    ([1, 2], "row 0 is an int, not a list of colours"),
    (["12", "34"], "row 0 is a str"),
    ("12/3x", "'x' is no digit"),
    (np.zeros((2, 2)), "row 0, column 0 is 0.0"),
    (np.full((1, 1), np.nan), "row 0, column 0 is nan"),
    (np.zeros(3, np.uint8), r"an array of shape \(3,\)"),
    (np.zeros((2, 2, 2), np.uint8), r"an array of shape \(2, 2, 2\)"),
    (np.zeros((0, 3), np.uint8), "no rows"),
    (np.zeros((31, 1), np.uint8), "31x1"),
    (np.zeros((100_000, 100_000), np.bool_), "100000x100000"),
    ([[0] * 31], "1x31"),
    ([[0]] * 31, "31x1"),
]


@pytest.mark.parametrize(("data", "message"), NO_GRIDS)
def test_what_is_no_grid(data: Any, message: str) -> None:
    with pytest.raises(batt.errors.RequestError, match=message) as raised:
        Grid(data)
    assert raised.value.hint is not None


@pytest.mark.parametrize("data", [None, 5, 1.5, object(), {1: 2}, {1, 2}, iter([[1]]), len])
def test_what_is_of_another_type(data: Any) -> None:
    with pytest.raises(TypeError, match="is not a grid\nhint: "):
        Grid(data)


@given(grids())
def test_round_trips(rows: Rows) -> None:
    grid = Grid(rows)
    assert grid.shape == (grid.height, grid.width) == (len(rows), len(rows[0]))
    assert grid.to_list() == rows
    assert [list(row) for row in grid.to_tuple()] == rows
    assert grid.array.tolist() == rows
    assert np.asarray(grid).tolist() == rows
    assert [row.tolist() for row in grid] == rows
    for again in (grid.to_list(), grid.to_tuple(), grid.array, str(grid), grid.render()):
        assert Grid(again) == grid
    assert eval(repr(grid)) == grid
    copy = pickle.loads(pickle.dumps(grid))
    assert copy == grid
    assert hash(copy) == hash(grid)
    assert all(colour in grid for row in rows for colour in row)


def test_a_grid_is_never_changed_through_an_array() -> None:
    grid = Grid(ROWS)
    array = grid.array
    array[:] = 7
    next(iter(grid))[:] = 7
    grid[0][:] = 7
    assert grid.to_list() == ROWS
    source: NDArray[np.uint8] = np.array(ROWS, np.uint8)
    grid = Grid(source)
    source[:] = 7
    assert grid.to_list() == ROWS


def test_numpy_protocol() -> None:
    grid = Grid(ROWS)
    assert np.asarray(grid).dtype == np.uint8
    assert np.asarray(grid, np.int64).dtype == np.int64
    assert np.array(grid, copy=True).tolist() == ROWS
    with pytest.raises(ValueError, match="copy"):
        grid.__array__(copy=False)
    assert (np.stack([grid, grid]) == ARRAY).all()


def test_indexing_is_that_of_arrays() -> None:
    grid = Grid(ROWS)
    assert grid[1, 2] == 9
    assert grid[:, 0].tolist() == [0, 3]
    assert grid[-1].tolist() == [3, 4, 9]
    assert grid[ARRAY > 3].tolist() == [4, 9]
    with pytest.raises(IndexError):
        grid[2]


def test_comparison_and_membership() -> None:
    grid = Grid(ROWS)
    assert grid != Grid("0")
    assert grid != ROWS
    assert len({grid, Grid(ROWS), Grid("0")}) == 2
    assert 9 in grid
    assert 8 not in grid
    assert "9" not in grid
    assert -1 not in grid


def test_every_argument_that_is_a_grid_takes_all_forms() -> None:
    solve = batt.Solver.parse("def solve(I): return hmirror(I)")
    expected = Grid(ROWS[::-1])
    for data in (ROWS, ARRAY, ARRAY.astype(np.int64), Grid(ROWS), "012/349"):
        assert Grid(solve.output(data)) == expected
        assert solve(data) == expected.to_tuple()
