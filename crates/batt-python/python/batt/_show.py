"""Showing grids: a picture in a notebook, text in a terminal."""

from __future__ import annotations

import os
import sys
from typing import Protocol

from batt._progress import display, in_notebook

__all__ = ["show"]


class Shown(Protocol):
    """Something that can draw itself."""

    def render(self, *, color: bool = False) -> str: ...


def show(shown: Shown, color: bool | None) -> None:
    """Shows an object; `color` chooses text with or without colour instead of a picture."""
    notebook = color is None and in_notebook()
    if notebook and hasattr(shown, "_repr_svg_"):
        display().display(shown)
        return
    watched = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(shown.render(color=notebook or watched if color is None else color))
