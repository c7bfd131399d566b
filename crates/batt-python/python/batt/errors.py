r"""The exceptions of Batt. They form one tree, with `BattError` at its root.

    BattError
    ├── TasksError          tasks or a submission cannot be loaded
    ├── SolverError         a solver cannot be loaded; `diagnostics` has all reasons
    ├── CardError           solvers cannot be merged
    ├── ResultsError        results cannot be written or resumed
    ├── ArchiveError        an archive cannot be opened, read or written
    ├── EvolveError         an evolution cannot start or continue
    ├── DeviceError         a device cannot be opened
    ├── FileError           a file cannot be read or written (also an OSError)
    │   └── MissingFileError    it does not exist (also a FileNotFoundError)
    ├── RequestError        the arguments of a call do not fit (also a ValueError)
    ├── RunFault            a run of a solver failed; `op` and `line` say where
    │   ├── TypeFault ...   as CPython fails (also the exception that CPython raises)
    │   └── RunLimit        a run reached a limit
    └── InternalError       a bug in Batt

    SolverWarning           some functions of a file were left out (a UserWarning)

An argument of the wrong type is a `TypeError`, and an index that does not exist an `IndexError` or
a `KeyError`, as everywhere in Python. A missing optional package is an `ImportError`.

    >>> import batt
    >>> try:
    ...     batt.Solver.parse("def solve(I):\n    return hmiror(I)\n", file="a.py")
    ... except batt.SolverError as error:
    ...     print(error.file, error.line, error.diagnostics[0].hint)
    a.py 2 did you mean 'hmirror'?
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from batt._native import Diagnostic

__all__ = [
    "ArchiveError",
    "AttributeFault",
    "BattError",
    "CardError",
    "DeviceError",
    "EmptyFault",
    "EvolveError",
    "FileError",
    "IndexFault",
    "IntegerOverflow",
    "InternalError",
    "KeyFault",
    "MemoryLimit",
    "MissingFileError",
    "RecursionFault",
    "RequestError",
    "ResultsError",
    "RunFault",
    "RunLimit",
    "RuntimeFault",
    "SizeLimit",
    "SolverError",
    "SolverWarning",
    "StepLimit",
    "StopIterationFault",
    "TasksError",
    "TimeLimit",
    "TypeFault",
    "ValueFault",
    "ZeroDivisionFault",
    "call_fault",
    "fault",
]


class BattError(Exception):
    """An error of Batt. `hint` says what to do; `file` and `line` say where, if they are known."""

    def __init__(
        self,
        message: str = "",
        hint: str | None = None,
        *,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or None
        self.file = file
        self.line = line

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class TasksError(BattError):
    """Tasks or a submission cannot be loaded."""


class SolverError(BattError):
    """A solver cannot be loaded. `diagnostics` has all reasons, `line` is that of the first."""

    def __init__(
        self,
        message: str = "",
        hint: str | None = None,
        *,
        diagnostics: Iterable[Diagnostic] = (),
        file: str | None = None,
    ) -> None:
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0] if self.diagnostics else None
        super().__init__(
            message, hint, file=first.file if first else file, line=first.line if first else None
        )


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
    """A file cannot be read or written. `errno` and `filename` are those of an `OSError`."""

    def __init__(
        self,
        message: str = "",
        hint: str | None = None,
        *,
        file: str | None = None,
        errno: int | None = None,
    ) -> None:
        super().__init__(message, hint, file=file)
        self.errno = errno
        self.filename = file

    def __reduce__(self) -> tuple[Any, ...]:
        # OSError keeps these two outside of the dictionary.
        state = {**self.__dict__, "errno": self.errno, "filename": self.filename}
        return type(self), self.args, state


class MissingFileError(FileError, builtins.FileNotFoundError):
    """A file does not exist."""


class RequestError(BattError, builtins.ValueError):
    """The arguments of a call do not fit."""


class InternalError(BattError):
    """A bug in Batt."""


class SolverWarning(UserWarning):
    """Some functions of a solver file cannot be loaded and were left out."""


class RunFault(BattError):
    """A run that failed. `op` is what was called, `line` its line in the solver's file."""

    def __init__(
        self,
        message: str = "",
        hint: str | None = None,
        *,
        op: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message, hint, file=file, line=line)
        self.op = op


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


class StopIterationFault(RunFault):
    """There is no first element.

    This is the one fault that is not the exception that CPython raises: a `StopIteration` would
    silently end the loop that calls the solver, such as `list(map(solver, grids))`.
    """


class EmptyFault(StopIterationFault, builtins.StopIteration):
    """`batt.dsl.first` of nothing: a call from Python raises what CPython raises."""


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


def call_fault(kind: str) -> type[RunFault]:
    """Returns the class of a fault of a single call, as `batt.dsl` raises it.

    >>> issubclass(call_fault("StopIteration"), StopIteration)
    True
    """
    return EmptyFault if kind == "StopIteration" else fault(kind)
