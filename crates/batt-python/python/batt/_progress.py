"""Progress bars: in a terminal on stderr, in a notebook as HTML, nowhere else."""

from __future__ import annotations

import html
import importlib
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from batt.types import Progress

__all__ = ["Bar", "bar", "display", "in_notebook"]

_PAUSE = 0.1
_WIDTH = 30


def in_notebook() -> bool:
    """Returns whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell: object = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def display() -> Any:
    """Returns the module that shows objects in a notebook."""
    return importlib.import_module("IPython.display")


class Bar:
    """A bar that a function of the number of done and all items draws. It goes at the end."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._started = time.monotonic()
        self._drawn = 0.0
        self._display: Any = None
        self._notebook = in_notebook()

    def __call__(self, done: int, total: int, more: str = "") -> None:
        now = time.monotonic()
        if now - self._drawn < _PAUSE:
            return
        self._drawn = now
        seconds = now - self._started
        text = f"{done:,} of {total:,}" if total else f"{done:,}"
        text = f"{self.title} {text} | {seconds:.0f} s{' | ' + more if more else ''}"
        if self._notebook:
            self._draw_html(done, total, text)
        else:
            share = min(done / total, 1.0) if total else 0.0
            full = int(share * _WIDTH)
            shown = f"[{'#' * full}{'.' * (_WIDTH - full)}] " if total else ""
            sys.stderr.write(f"\r\x1b[2K{shown}{text}")
            sys.stderr.flush()

    def _draw_html(self, done: int, total: int, text: str) -> None:
        shown = display()
        meter = f"<progress value='{done}' max='{total}'></progress> " if total else ""
        content = shown.HTML(f"{meter}<span>{html.escape(text)}</span>")
        if self._display is None:
            self._display = shown.display(content, display_id=True)
        else:
            self._display.update(content)

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._display is not None:
            self._display.update(display().HTML(""))
        elif self._drawn and not self._notebook:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


class _Silent(Bar):
    """A bar that is not drawn."""

    def __call__(self, done: int, total: int, more: str = "") -> None:
        pass


class _Told(Bar):
    """A bar that passes progress on to a function."""

    def __init__(self, function: Callable[[int, int], object]) -> None:
        super().__init__("")
        self._function = function

    def __call__(self, done: int, total: int, more: str = "") -> None:
        self._function(done, total)


def bar(title: str, progress: Progress) -> Bar:
    """Returns the bar that `progress` asks for."""
    if callable(progress):
        return _Told(progress)
    if progress is None:
        progress = in_notebook() or sys.stderr.isatty()
    if not isinstance(progress, bool):
        kind = type(progress).__name__
        raise TypeError(f"progress is True, False, None or a function, not {kind}")
    return Bar(title) if progress else _Silent(title)
