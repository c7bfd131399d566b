"""Runs, merges, evolves and submits ARC solvers, with the answers that CPython gives."""

from __future__ import annotations

from batt import errors
from batt._native import (
    Diagnostic,
    Grid,
    Limits,
    Solver,
    Solvers,
    Task,
    Tasks,
    Trace,
    TraceStep,
)
from batt._native import VERSION as __version__
from batt.errors import BattError, RunFault, SolverError

__all__ = [
    "BattError",
    "Diagnostic",
    "Grid",
    "Limits",
    "RunFault",
    "Solver",
    "SolverError",
    "Solvers",
    "Task",
    "Tasks",
    "Trace",
    "TraceStep",
    "__version__",
    "errors",
]
