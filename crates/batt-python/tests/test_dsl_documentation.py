"""The declarations of `batt.dsl`: documentation, examples, signatures, names."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import batt.dsl
import batt.dsl.rearc
import batt.dsl.tokpidjin
import batt.errors
import pytest
from batt._native import Primitive
from batt.dsl import _calls
from dsl_support import MODULES

PRIMITIVES = [
    pytest.param(module, value, id=f"{dialect}-{name}")
    for dialect, module in MODULES.items()
    for name, value in vars(module).items()
    if isinstance(value, Primitive) and name != "primitive"
]


@pytest.mark.parametrize(("module", "primitive"), PRIMITIVES)
def test_the_example_of_a_primitive_works(module: ModuleType, primitive: Any) -> None:
    parser = doctest.DocTestParser()
    name = primitive.__name__
    test = parser.get_doctest(primitive.__doc__, vars(module), name, None, None)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert result.failed == 0
    # The documentation of tokpidjin's primitives has no examples.
    assert module is batt.dsl.tokpidjin or result.attempted > 0


@pytest.mark.parametrize(("module", "primitive"), PRIMITIVES)
def test_the_failing_call_of_a_primitive_fails(module: ModuleType, primitive: Any) -> None:
    for call in re.findall("A call that fails: `(.*)`", primitive.__doc__):
        # argmax and argmin of RE-ARC give None.
        if module is batt.dsl.rearc and call in ("argmax((), size)", "argmin((), size)"):
            assert eval(call, vars(module)) is None
            continue
        with pytest.raises(batt.errors.RunFault):
            eval(call, dict(vars(module)))


@pytest.mark.parametrize(("module", "primitive"), PRIMITIVES)
def test_a_primitive_describes_itself(module: ModuleType, primitive: Any) -> None:
    name = primitive.__name__
    assert primitive.__qualname__ == name
    assert primitive.__module__ == module.__name__
    assert primitive.__doc__.strip()
    parameters = inspect.signature(primitive).parameters
    assert repr(primitive) == f"<primitive {name}({', '.join(parameters)})>"
    assert primitive.__code__.co_argcount == len(parameters)
    assert primitive.__doc__.split(".")[0] in pydoc.render_doc(primitive)


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_the_module_exports_everything(module: ModuleType) -> None:
    names = set(module.__all__)
    assert len(names) == len(module.__all__)
    for name, value in vars(module).items():
        if isinstance(value, Primitive):
            assert name in names
    assert {"ZERO", "T", "UP", "Grid", "Objects", "objects"} <= names
    assert all(hasattr(module, name) for name in names)


def test_each_declaration_begins_a_line() -> None:
    """arc-dsl's own `main.py` finds the primitives in the file in this way."""
    for module in MODULES.values():
        lines = Path(str(module.__file__)).read_text().split("\n")
        found = [line.split("def ")[1].split("(")[0] for line in lines if line.startswith("def ")]
        declared = [name for name, value in vars(module).items() if isinstance(value, Primitive)]
        assert found == declared
    assert len(declared) == 292


def test_dialects_have_their_own_primitives() -> None:
    assert batt.dsl.rearc.argmax((), batt.dsl.rearc.size) is None
    with pytest.raises(ValueError, match="argmax"):
        batt.dsl.argmax((), batt.dsl.size)
    assert batt.dsl.tokpidjin.argmax((), batt.dsl.tokpidjin.size) == ()
    dialects = [module.size.dialect for module in MODULES.values()]
    assert dialects == list(MODULES)


MAKERS = {"compose", "chain", "fork", "lbind", "rbind", "matcher", "power"}
TABLES = {"arc-dsl": _calls.ARC_DSL, "re-arc": _calls.RE_ARC, "tokpidjin": _calls.TOKPIDJIN}


@pytest.mark.parametrize("dialect", MODULES)
def test_primitives_that_call_functions_have_a_version_in_python(dialect: str) -> None:
    """Foreign callables need it."""
    for name, value in vars(MODULES[dialect]).items():
        if isinstance(value, Primitive):
            hints = value.__annotations__
            calls = "Callable" in [hints[parameter] for parameter in hints if parameter != "return"]
            assert not calls or name in MAKERS or name in TABLES[dialect], name
    for name in TABLES[dialect]:
        assert isinstance(vars(MODULES[dialect])[name], Primitive)


def test_an_unknown_name_cannot_be_declared() -> None:
    def hmirrorr(piece: Any) -> Any: ...

    with pytest.raises(ValueError, match="hmirrorr"):
        Primitive.declare("arc-dsl", hmirrorr)
    with pytest.raises(ValueError, match="arc_dsl"):
        Primitive.declare("arc_dsl", batt.dsl.size)
