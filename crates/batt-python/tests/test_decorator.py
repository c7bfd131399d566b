"""The decorator `solver`: in files, in notebooks, under and above other decorators."""

from __future__ import annotations

import functools
import importlib.util
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import batt
import pytest
from batt import errors

Write = Callable[[str], ModuleType]


@pytest.fixture
def module(tmp_path: Path) -> Write:
    """Writes a file and imports it."""

    def write(text: str) -> ModuleType:
        path = tmp_path / "mine.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("mine", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return write


def test_in_a_file(module: Write, tmp_path: Path) -> None:
    mine = module("""\
        import batt

        @batt.solver
        def solve_flip(I):
            # A comment.
            x1 = hmirror(I)  # another
            return vmirror(x1)
    """)
    solver: batt.Solver = mine.solve_flip
    assert isinstance(solver, batt.Solver)
    assert solver.__name__ == solver.name == "solve_flip"
    assert (solver.file, solver.line) == (str(tmp_path / "mine.py"), 4)
    assert solver("12/34") == ((4, 3), (2, 1))
    assert [step.line for step in solver.trace("12/34")] == [6, 7]


def test_line_numbers_of_errors_are_those_of_the_file(module: Write, tmp_path: Path) -> None:
    mine = module("""\
        import batt


        @batt.solver(
            dialect="arc-dsl",
        )
        def solve(I):
            x1 = hmirror(I)
            return add(x1, hmirror)
    """)
    with pytest.raises(errors.TypeFault) as fault:
        mine.solve("12/34")
    assert (fault.value.file, fault.value.line) == (str(tmp_path / "mine.py"), 9)
    with pytest.raises(errors.SolverError) as error:
        module("""\
            import batt

            @batt.solver
            def solve(I):
                x1 = hmirror(I)
                return vmiror(x1)
        """)
    assert (error.value.file, error.value.line) == (str(tmp_path / "mine.py"), 6)
    assert "6 |     return vmiror(x1)" in str(error.value)


def test_indented_functions(module: Write) -> None:
    mine = module('''\
        import batt

        class Kept:
            if True:
                @staticmethod
                @batt.solver
                def solve(I):
                    """A text
        that begins further left."""
        # So does this comment.
                    x1 = hmirror(I)
                    return x1

        def make():
            @batt.solver
            def solve(I): return vmirror(I)
            return solve
    ''')
    kept: batt.Solver = mine.Kept.solve
    assert kept("12/34") == ((3, 4), (1, 2))
    assert (kept.line, kept.trace("12")[0].line) == (7, 11)
    assert mine.make()("12/34") == ((2, 1), (4, 3))


def test_other_decorators(module: Write) -> None:
    mine = module("""\
        import functools
        import batt

        def named(text):
            def decorate(function):
                @functools.wraps(function)
                def wrapper(*arguments):
                    return text, function(*arguments)
                return wrapper
            return decorate

        @named("def above(I): return 1")
        @batt.solver
        def above(I):
            return hmirror(I)

        @batt.solver
        @named("def below(I): return 2")
        def below(I):
            return vmirror(I)

        @functools.lru_cache
        @batt.solver
        def cached(I):
            return rot90(I)
    """)
    assert mine.above("12/34") == ("def above(I): return 1", ((3, 4), (1, 2)))
    # Only the text counts, so decorators below have no effect.
    assert mine.below("12/34") == ((2, 1), (4, 3))
    assert mine.below.line == 19
    assert mine.cached("12/34") == mine.cached("12/34") == ((3, 1), (4, 2))
    assert mine.cached.cache_info().hits == 1


def test_functions_with_the_demonstrations(module: Write, tasks: batt.Tasks) -> None:
    mine = module("""\
        import batt

        @batt.solver
        def solve(S, I, C):
            x1 = apply(first, S)
            x2 = first(x1)
            return hconcat(x2, I)
    """)
    solver: batt.Solver = mine.solve
    task = tasks[0]
    assert solver.parameters == ["S", "I", "C"]
    first = task.train[0][0]
    assert solver.output(first, task).tolist() == [[*row, *row] for row in first.tolist()]
    assert solver(first, task.train) == solver(first, task)
    with pytest.raises(errors.RequestError, match="a demonstration has no output"):
        solver("12", [("12", None)])


class Written:
    """Something that can be called but is no function."""

    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    "function",
    [
        len,
        functools.partial(int),
        eval("lambda grid: grid"),
        5,
        Written(),
    ],
    ids=["builtin", "partial", "evaluated", "number", "object"],
)
def test_functions_without_a_text(function: Any) -> None:
    with pytest.raises(errors.RequestError, match=r"the text of .* is not known") as found:
        batt.solver(function)
    assert "Solver.parse" in (found.value.hint or "")


def test_what_is_written_but_no_function() -> None:
    with pytest.raises(errors.RequestError, match="is not known"):
        batt.solver(lambda: None)
    with pytest.raises(errors.RequestError, match="is not known"):
        batt.solver(type("Empty", (), {}))


def test_loops_are_refused_with_their_line(module: Write) -> None:
    with pytest.raises(errors.SolverError) as found:
        module("""\
            import batt

            @batt.solver
            def solve(I):
                for x in I:
                    return x
        """)
    lines = {finding.code: finding.line for finding in found.value.diagnostics}
    assert lines["unsupported-statement"] == 5


def test_in_a_notebook() -> None:
    # In a process of its own: IPython changes the one that it runs in.
    pytest.importorskip("IPython")
    script = """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        def run(cell):
            result = shell.run_cell(cell, store_history=True)
            result.raise_error()
        run("import batt")
        run("# A comment\\n\\n@batt.solver\\ndef first(I):\\n    return hmirror(I)\\n")
        run("@batt.solver(dialect='arc-dsl')\\ndef second(I):\\n    return vmirror(I)\\n")
        run("assert first('12/34') == ((3, 4), (1, 2))")
        run("assert second('12/34') == ((2, 1), (4, 3))")
        run("assert (first.line, second.line) == (4, 2)")
        # A cell that is run again has another text.
        run("@batt.solver\\ndef first(I):\\n    return rot180(I)\\n")
        run("assert first('12/34') == ((4, 3), (2, 1))")
        result = shell.run_cell("@batt.solver\\ndef bad(I):\\n    return hmiror(I)\\n")
        error = result.error_in_exec
        assert isinstance(error, run.__globals__["shell"].user_ns["batt"].SolverError), error
        assert error.line == 3 and "hmirror" in str(error)
        print("done")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(batt.__file__).parents[1],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "done"
