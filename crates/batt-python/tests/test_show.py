"""Showing grids, tasks and results: as text, in colour, in a notebook."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import batt
import pytest
from batt import Grid, Task

COLOURED = "\x1b["


@pytest.fixture
def task() -> Task:
    return Task("flip", [("12", "21")], [("30", None)])


@pytest.fixture
def result(task: Task) -> batt.Result:
    return batt.run(batt.Solvers.parse("def solve_flip(I): return I"), task)[0]


def test_text(task: Task, result: batt.Result) -> None:
    assert Grid("12/34").render() == "12\n34"
    assert "train[0] input 1x2      output 1x2\n12                  ->  21" in task.render()
    assert task.render().endswith("?")
    assert result.render().splitlines() == [
        "solve_flip on flip train[0]: 2 of 2 cells wrong",
        "input 1x2  expected 1x2  got 1x2  diff 2 of 2",
        "12         21            12       xx",
    ]


def test_results_without_an_output(task: Task) -> None:
    failed = batt.run(batt.Solvers.parse("def solve_flip(I): return add(I, size)"), task)
    assert "got" not in failed[0].render()
    assert failed[0].render().startswith("solve_flip on flip train[0]: TypeError in add")
    assert "expected\n" in failed[1].render() or "expected" in failed[1].render()
    assert "?" in failed[1].render()


def test_colour_is_for_terminals(
    task: Task,
    result: batt.Result,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[Grid | Task | batt.Result] = [Grid("12/34"), task, result]
    for one in shown:
        one.show()
        assert capsys.readouterr().out == one.render() + "\n"
        assert COLOURED not in one.render()
        one.show(color=True)
        assert capsys.readouterr().out == one.render(color=True) + "\n"
        assert COLOURED in one.render(color=True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    Grid("1").show()
    assert COLOURED in capsys.readouterr().out
    Grid("1").show(color=False)
    assert COLOURED not in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    Grid("1").show()
    assert COLOURED not in capsys.readouterr().out


def test_notebooks_get_pictures() -> None:
    pytest.importorskip("IPython")
    script = """
        import batt, IPython
        from IPython.core.interactiveshell import InteractiveShell
        class ZMQInteractiveShell(InteractiveShell):
            pass
        shell = ZMQInteractiveShell.instance()
        displayed = []
        IPython.display.display = displayed.append
        grid = batt.Grid("12")
        grid.show(color=False)
        grid.show()
        # Where there is no picture, there is text in colour.
        has_picture = hasattr(grid, "_repr_svg_")
        assert displayed == ([grid] if has_picture else [])
        print("picture" if has_picture else "text")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(batt.__file__).parents[1],
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "12"
    assert lines[-1] == "picture" or COLOURED in lines[1]
