"""The examples of the README and of the pages about Python do what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from conftest import ROOT

PAGES = ["README.md", "docs/python.md", "docs/python-dsl.md"]


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    text = Path(page).read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    assert examples.examples
    runner.run(examples, out=report.append)
    assert not runner.failures, "".join(report)
