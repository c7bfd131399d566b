"""The documentation: everything public has some, and its examples do what they say."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import batt
import public
import pytest
from conftest import ROOT

STUB_DOCS = Path(__file__).parent.parent / "tools" / "stub_docs.py"
THINGS = dict(public.things())
CLASSES = {name: thing for name, thing in THINGS.items() if inspect.isclass(thing)}


def documented() -> Iterator[tuple[str, str]]:
    """Returns every docstring with the name of its owner."""
    for module in public.modules():
        yield module.__name__, module.__doc__ or ""
    for name, thing in THINGS.items():
        yield name, thing.__doc__ or ""
    for name, kind in CLASSES.items():
        for member, found in public.members(kind):
            plain = found.__func__ if isinstance(found, staticmethod) else found
            yield f"{name}.{member}", getattr(plain, "__doc__", None) or ""


def with_examples() -> dict[str, str]:
    return {name: text for name, text in documented() if ">>>" in text}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder for examples, with the folder `examples` of the repository."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", with_examples())
@pytest.mark.usefixtures("folder")
def test_examples(name: str) -> None:
    # As in the module, whose names an example may use.
    names = {**vars(batt), **vars(batt.errors), "batt": batt}
    text = inspect.cleandoc(with_examples()[name])
    test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("name", THINGS)
def test_every_class_and_function_has_an_example(name: str) -> None:
    thing = THINGS[name]
    text = thing.__doc__ or ""
    assert text, f"{name} has no documentation"
    # Exceptions and the types of dictionaries have those of their modules.
    if name.startswith(("batt.errors.", "batt.types.")) and inspect.isclass(thing):
        return
    if not (inspect.isclass(thing) and issubclass(thing, (BaseException, Warning))):
        assert ">>>" in text, f"{name} has no example"


@pytest.mark.parametrize("name", CLASSES)
def test_every_method_and_property_is_documented(name: str) -> None:
    without = [
        member
        for member, found in public.members(CLASSES[name])
        if (inspect.isroutine(found) or inspect.isdatadescriptor(found) or callable(found))
        and not (getattr(found, "__func__", found).__doc__)
    ]
    assert not without


def test_the_stub_has_the_documentation_of_the_module() -> None:
    spec = importlib.util.spec_from_file_location("stub_docs", STUB_DOCS)
    assert spec is not None
    assert spec.loader is not None
    stub_docs: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stub_docs)
    text = stub_docs.STUB.read_text(encoding="utf-8")
    assert stub_docs.bare(text) == stub_docs.bare(stub_docs.replaced(text))


def test_an_undocumented_method_would_be_found() -> None:
    # The documentation of a static method is not that of the class `staticmethod`.
    found = dict(public.members(batt.Tasks))["load"]
    assert isinstance(found, staticmethod)
    assert "Kaggle" in (found.__func__.__doc__ or "")
