"""Fixtures that all tests share."""

from __future__ import annotations

from pathlib import Path

import batt
import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def tasks() -> batt.Tasks:
    """The puzzles that come with the package."""
    return batt.Tasks.embedded()


@pytest.fixture(scope="session")
def solvers() -> batt.Solvers:
    """The solvers of the puzzles that come with the package."""
    return batt.Solvers.embedded()


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of the repository, as the working folder."""
    monkeypatch.chdir(ROOT)
    return ROOT
