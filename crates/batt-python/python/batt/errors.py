"""The exceptions of Batt. They form one tree, with `BattError` at its root.

    BattError
    ├── TasksError          a file of tasks cannot be loaded
    ├── SolverError         a solver cannot be loaded; `diagnostics` has all reasons
    ├── CardError           solvers cannot be merged
    ├── ResultsError        results cannot be written or resumed
    ├── ArchiveError        an archive cannot be opened, read or written
    ├── EvolveError         an evolution cannot start or continue
    ├── DeviceError         a device cannot be opened
    ├── FileError           a file cannot be read or written (also an OSError)
    ├── RequestError        the arguments of a call do not fit (also a ValueError)
    ├── RunFault            a run of a solver failed; `op` and `line` say where
    │   ├── TypeFault ...   as CPython fails (also the exception that CPython raises)
    │   └── RunLimit        a run reached a limit
    └── InternalError       a bug in Batt
"""

from __future__ import annotations

import builtins
from typing import Any

__all__ = [
    "ArchiveError",
    "AttributeFault",
    "BattError",
    "CardError",
    "DeviceError",
    "EvolveError",
    "FileError",
    "IndexFault",
    "IntegerOverflow",
    "InternalError",
    "KeyFault",
    "MemoryLimit",
    "RecursionFault",
    "RequestError",
    "ResultsError",
    "RunFault",
    "RunLimit",
    "RuntimeFault",
    "SizeLimit",
    "SolverError",
    "StepLimit",
    "StopIterationFault",
    "TasksError",
    "TimeLimit",
    "TypeFault",
    "ValueFault",
    "ZeroDivisionFault",
    "fault",
]


class BattError(Exception):
    """An error of Batt. `hint` says what to do."""

    def __init__(self, message: str = "", hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or None

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class TasksError(BattError):
    """A file of tasks cannot be loaded."""


class SolverError(BattError):
    """A solver cannot be loaded. `file` and `line` name the first mistake."""

    def __init__(
        self, message: str = "", hint: str | None = None, diagnostics: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(message, hint)
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0] if self.diagnostics else None
        self.file: str | None = first.file if first else None
        self.line: int | None = first.line if first else None


class CardError(BattError):
    """Solvers cannot be merged."""


class ResultsError(BattError):
    """Results cannot be written or resumed."""


class ArchiveError(BattError):
    """An archive cannot be opened, read or written."""


class EvolveError(BattError):
    """An evolution cannot start or continue."""


class DeviceError(BattError):
    """A device cannot be opened."""


class FileError(BattError, builtins.OSError):
    """A file cannot be read or written."""


class RequestError(BattError, builtins.ValueError):
    """The arguments of a call do not fit."""


class InternalError(BattError):
    """A bug in Batt."""


class RunFault(BattError):
    """A run that failed. `op` is what was called, `line` its line in the solver's file."""

    def __init__(
        self,
        message: str = "",
        hint: str | None = None,
        *,
        op: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.op = op
        self.line = line


class TypeFault(RunFault, builtins.TypeError):
    """A value of the wrong kind, or a wrong number of arguments."""


class IndexFault(RunFault, builtins.IndexError):
    """A position outside a tuple."""


class KeyFault(RunFault, builtins.KeyError):
    """A corner that a grid does not have."""

    __str__ = BattError.__str__


class AttributeFault(RunFault, builtins.AttributeError):
    """A value without the requested method."""


class ValueFault(RunFault, builtins.ValueError):
    """An empty container, one of the wrong size, or a step of zero."""


class StopIterationFault(RunFault, builtins.StopIteration):
    """There is no first element."""


class RuntimeFault(RunFault, builtins.RuntimeError):
    """There is no first element, inside a loop."""


class ZeroDivisionFault(RunFault, builtins.ZeroDivisionError):
    """Division by zero."""


class RecursionFault(RunFault, builtins.RecursionError):
    """Calls or values that nest too deeply."""


class RunLimit(RunFault):
    """A run that reached a limit, where CPython would have gone on."""


class IntegerOverflow(RunLimit, builtins.OverflowError):
    """An integer left the 64-bit range."""


class StepLimit(RunLimit):
    """The run spent its steps."""


class SizeLimit(RunLimit):
    """A value grew past the size limit."""


class MemoryLimit(RunLimit):
    """The values of the run grew past the memory limit."""


class TimeLimit(RunLimit):
    """The run took longer than its time limit."""


_FAULTS: dict[str, type[RunFault]] = {
    "TypeError": TypeFault,
    "IndexError": IndexFault,
    "KeyError": KeyFault,
    "AttributeError": AttributeFault,
    "ValueError": ValueFault,
    "StopIteration": StopIterationFault,
    "RuntimeError": RuntimeFault,
    "ZeroDivisionError": ZeroDivisionFault,
    "RecursionError": RecursionFault,
    "IntegerOverflow": IntegerOverflow,
    "StepLimit": StepLimit,
    "SizeLimit": SizeLimit,
    "MemoryLimit": MemoryLimit,
    "TimeLimit": TimeLimit,
}


def fault(kind: str) -> type[RunFault]:
    """Returns the class of a fault by its name in results, such as `TypeError` or `StepLimit`.

    >>> fault("TypeError").__name__
    'TypeFault'
    """
    return _FAULTS[kind]
