"""Random grids, pairs and tasks."""

from __future__ import annotations

import batt
from hypothesis import strategies as st

Rows = list[list[int]]


def grids(side: int = 30) -> st.SearchStrategy[Rows]:
    """Grids as lists."""
    shapes = st.tuples(st.integers(1, side), st.integers(1, side))
    colours = st.integers(0, 9)
    return shapes.flatmap(
        lambda shape: st.lists(
            st.lists(colours, min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        )
    )


SMALL = grids(4)
DEMONSTRATION = st.tuples(SMALL, SMALL)
TEST = st.tuples(SMALL, st.none() | SMALL)


def ids() -> st.SearchStrategy[str]:
    """Ids of tasks, also unusual ones."""
    return st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=8)


def tasks() -> st.SearchStrategy[list[batt.Task]]:
    """Tasks with different ids."""
    task = st.builds(
        batt.Task,
        ids(),
        st.lists(DEMONSTRATION, min_size=1, max_size=3),
        st.lists(TEST, min_size=1, max_size=2),
    )
    return st.lists(task, max_size=3, unique_by=lambda task: task.id)
