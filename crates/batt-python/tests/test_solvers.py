"""Solvers: loading, finding, running, tracing, checking."""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import batt
import pytest
from batt import Limits, Solver, Solvers, errors

TEXT = """\
def solve_a(I):
    x1 = hmirror(I)
    return x1


def solve_b(I):
    return vmirror(I)
"""


@pytest.mark.usefixtures("root")
class TestLoading:
    def test_paths_of_all_kinds(self, root: Path) -> None:
        path = root / "examples" / "solvers.py"
        loaded = Solvers.load(path)
        assert loaded == Solvers.load("examples/solvers.py") == Solvers(path)
        name = "solve_d00d1e55"
        for solver in (
            loaded[name],
            Solver.load(path, name),
            Solver.load(f"{path}::{name}"),
            Solver.load(Path(f"{path}::{name}")),
            Solvers([f"{path}::{name}"])[0],
        ):
            assert solver == loaded[name]
            assert (solver.name, solver.file) == (name, solver.file)
        assert len(Solvers.load(path, "crates/batt-arc/corpus/solvers.py")) == 4 + 65

    def test_several_solvers_need_a_name(self) -> None:
        with pytest.raises(errors.SolverError, match="has 4 solvers") as found:
            Solver.load("examples/solvers.py")
        assert found.value.hint == "name one, such as 'solve_a1c0ffee'"
        assert found.value.file == "examples/solvers.py"
        with pytest.raises(errors.SolverError, match="did you mean 'solve_d00d1e55'"):
            Solver.load("examples/solvers.py", "solve_d00d1e5")

    def test_errors_of_others_do_not_matter(self) -> None:
        text = TEXT + "\n\ndef solve_c(I):\n    return hmiror(I)\n"
        assert Solver.parse(text, "solve_a").name == "solve_a"
        with pytest.raises(errors.SolverError) as found:
            Solver.parse(text, "solve_c")
        assert [finding.line for finding in found.value.diagnostics] == [11]

    def test_dialects(self) -> None:
        assert Solver.parse("def f(I): return I", dialect="re-arc").dialect == "re-arc"
        with pytest.raises(errors.RequestError, match="no dialect 'x'"):
            Solver.parse("def f(I): return I", dialect="x")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    def test_nothing(self) -> None:
        assert len(Solvers()) == len(Solvers([])) == 0
        with pytest.raises(errors.RequestError, match="no file is named"):
            Solvers.load()
        with pytest.raises(errors.RequestError, match="mixed"):
            Solvers([Solver.parse("def f(I): return I"), "a.py"])  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


class TestFinding:
    def test_by_name_number_slice_and_list(self, solvers: Solvers) -> None:
        name = solvers.names[3]
        assert solvers[name] == solvers[3] == solvers[3 - len(solvers)]
        assert solvers[1:4].names == solvers[[1, 2, 3]].names == solvers[solvers.names[1:4]].names
        assert name in solvers
        assert solvers[3] in solvers
        assert "nothing" not in solvers
        with pytest.raises(KeyError, match=r"did you mean 'solve_1673c3ec'"):
            solvers["1673c3ec"]

    def test_of_tasks(self, solvers: Solvers, tasks: batt.Tasks) -> None:
        assert solvers.of_task("1673c3ec").names == ["solve_1673c3ec"]
        assert solvers.of_task(tasks["1673c3ec"]).names == ["solve_1673c3ec"]
        assert len(solvers.of_task(tasks[:5])) == 5
        assert len(solvers.of_task("673c3ec")) == 0

    def test_solvers_are_a_sequence(self, solvers: Solvers) -> None:
        assert isinstance(solvers, Sequence)
        assert random.Random(1).choice(solvers) in solvers
        assert solvers.index(solvers[7]) == 7
        assert solvers.count(solvers[7]) == 1
        assert [solver.name for solver in solvers] == solvers.names

    def test_equality(self, solvers: Solvers) -> None:
        assert Solvers.embedded() == solvers
        assert hash(Solvers.embedded()) == hash(solvers)
        assert solvers[:2] != solvers
        a, b = Solvers.parse(TEXT)
        assert a != b
        assert a == Solver.parse(TEXT, "solve_a")
        assert len({a, b, Solver.parse(TEXT, "solve_a")}) == 2


class TestProperties:
    def test_places(self) -> None:
        a, b = Solvers.parse(TEXT, "ab.py")
        assert [(a.file, a.line), (b.file, b.line)] == [("ab.py", 1), ("ab.py", 6)]
        assert (a.steps, a.parameters, a.dialect) == (1, ["I"], "arc-dsl")

    def test_the_hash_is_that_of_the_computation(self) -> None:
        one = Solver.parse("def f(I):\n    x1 = hmirror(I)\n    return vmirror(x1)\n")
        other = Solver.parse("def g(I): return vmirror(hmirror(I))")
        assert one.hash == other.hash
        assert one.hash != Solver.parse("def f(I): return hmirror(vmirror(I))").hash

    def test_the_source_is_a_solver_again(self, solvers: Solvers) -> None:
        for solver in solvers[:10]:
            assert Solver.parse(solver.source, dialect=solver.dialect).hash == solver.hash
        again = Solvers.parse(solvers.format())
        assert [solver.hash for solver in again] == [solver.hash for solver in solvers]


class TestRunning:
    def test_outputs_are_right(self, solvers: Solvers, tasks: batt.Tasks) -> None:
        for task in tasks:
            [solver] = solvers.of_task(task)
            for grid, output in [*task.train, *task.test]:
                assert output is not None
                assert solver.output(grid, task).tolist() == output.tolist()

    def test_values_have_their_kinds(self) -> None:
        def value(call: str) -> Any:
            return Solver.parse(f"def f(I): return {call}")("12/34")

        assert value("asindices(I)") == {(0, 0), (0, 1), (1, 0), (1, 1)}
        assert isinstance(value("asindices(I)"), frozenset)
        assert value("size(I)") == 2
        assert value("square(I)") is True
        assert value("index(I, astuple(TEN, TEN))") is None
        assert isinstance(value("hmirror"), batt.ReturnedFunction)

    def test_an_output_must_be_a_grid(self) -> None:
        with pytest.raises(errors.RequestError, match="f returned the integer 1"):
            Solver.parse("def f(I): return size(I)").output("12")

    def test_limits(self, solvers: Solvers) -> None:
        assert Limits(steps=5) == Limits(steps=5)
        assert len({Limits(steps=5), Limits(steps=5), Limits()}) == 2
        assert repr(Limits(steps=5, time=1.5)) == (
            "Limits(steps=5, size=4000000, memory=16777216, time=1.5)"
        )
        assert pickle.loads(pickle.dumps(Limits(time=0.5))) == Limits(time=0.5)
        for name in ("steps", "size", "memory"):
            for number in (0, -1, 2**70):
                with pytest.raises(errors.RequestError):
                    Limits(**{name: number})
        for time in (-1, float("nan"), 1e300):
            with pytest.raises(errors.RequestError, match="is not a time in seconds"):
                Limits(time=time)

    def test_traces(self) -> None:
        solver = Solver.parse(
            "def f(I):\n    x1 = hmirror(I)\n    x2 = add(x1, I)\n    return first(x2)\n",
            file="a.py",
        )
        trace = solver.trace("12/34")
        assert trace.error is None
        assert [step.name for step in trace] == ["x1", "x2", "return"]
        assert trace["x1"].value == ((3, 4), (1, 2))
        assert trace[-1].value == trace.value
        assert trace.solver == solver
        assert trace.input.tolist() == [[1, 2], [3, 4]]
        assert [step.name for step in trace[1:]] == ["x2", "return"]
        assert trace["x1"].call == "hmirror(I)"
        with pytest.raises(KeyError, match="there is no step 'x3'"):
            trace["x3"]

    def test_traces_of_failures(self) -> None:
        solver = Solver.parse(
            "def f(I):\n    x1 = hmirror(I)\n    return add(x1, hmirror)\n", file="a.py"
        )
        trace = solver.trace("12/34")
        assert trace.value is None
        assert trace.error is not None
        assert trace.error.startswith("TypeError in add, a.py:3")
        assert [step.name for step in trace] == ["x1"]
        assert repr(trace) == "<Trace f | 1 steps | failed>"


class TestChecks:
    def test_findings(self) -> None:
        findings = Solvers.parse("def f(I):\n    x1 = hmirror(I)\n    return I\n", "a.py").check()
        [finding] = findings
        assert (finding.severity, finding.code) == ("warning", "unused-step")
        assert (finding.file, finding.line, finding.column) == ("a.py", 2, 10)
        assert finding.function == "f"
        assert str(finding).startswith("a.py:2:10: warning[unused-step]")
        assert pickle.loads(pickle.dumps(finding)) == finding

    def test_findings_of_one_solver(self, root: Path) -> None:
        solvers = Solvers.load(root / "examples" / "solvers.py")
        of_all = [found for found in solvers.check() if found.function == "solve_d00d1e55"]
        assert solvers["solve_d00d1e55"].check() == of_all
