"""Fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import batt
import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[3]

# A check of a change tries the same examples each time; elsewhere they are new ones.
settings.register_profile("ci", derandomize=True)
if "CI" in os.environ:
    settings.load_profile("ci")


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
