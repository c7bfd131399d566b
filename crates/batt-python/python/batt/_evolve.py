"""Evolution with a progress bar."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from batt import _native
from batt._native import EvolveEvent
from batt._progress import bar

if TYPE_CHECKING:
    from batt.types import EvolveReport, Progress

__all__ = ["Evolution"]


class Evolution:
    """A search for new solvers: an iterator of its events. It begins with the first event.

    `batt.evolve` makes it. Ctrl-C, or the stop button of a notebook, ends the search, saves what it
    has found, and then raises `KeyboardInterrupt`. Leaving a `with` block ends the search, too.

    >>> import batt
    >>> tasks, solvers = batt.Tasks.embedded(), batt.Solvers.embedded()
    >>> with batt.evolve(tasks, solvers, hold_out=2, offspring=200) as search:
    ...     for event in search:
    ...         if event.kind == "generation" and event.facts["generation"] == 3:
    ...             break
    >>> search.report()["stop"]
    'cancelled'
    """

    def __init__(self, search: _native.Evolution, progress: Progress) -> None:
        self._search = search
        self._bar = bar("evolving", progress)

    def __iter__(self) -> Evolution:
        return self

    def __next__(self) -> EvolveEvent:
        try:
            event = next(self._search)
            if event.kind == "generation":
                at = event.facts
                solved = f"{at['solved']} of {at['tasks']} tasks solved"
                self._bar(at["generation"], 0, f"{solved}, {at['offspring']:,} offspring")
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return event

    def run(self) -> EvolveReport:
        """Goes through all events and returns the report.

        >>> import batt
        >>> tasks = batt.Tasks.embedded()[:1]
        >>> batt.evolve(tasks, generations=2, offspring=50).run()["generation"]
        2
        """
        for _ in self:
            pass
        return self.report()

    def report(self) -> EvolveReport:
        """Returns the report of a search that has ended."""
        return self._search.report()

    def cancel(self) -> None:
        """Ends the search. What it has found is saved; the iterator ends soon."""
        self._search.cancel()

    def __enter__(self) -> Evolution:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._search.__exit__(kind, value, traceback)
        self._bar.__exit__(kind, value, traceback)

    def __repr__(self) -> str:
        return repr(self._search)
