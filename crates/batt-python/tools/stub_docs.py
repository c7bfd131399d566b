"""Copies the documentation of the native module into its stub, where editors look for it.

    python crates/batt-python/tools/stub_docs.py           # writes the stub
    python crates/batt-python/tools/stub_docs.py --check   # says whether it is up to date

The documentation is written in Rust. The signatures of the stub are written by hand.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any

from batt import _native

STUB = Path(__file__).parent.parent / "python" / "batt" / "_native.pyi"

COLUMNS = 100

# What Python itself does needs no words.
UNDOCUMENTED = ("__new__", "__len__", "__iter__", "__next__", "__contains__", "__getitem__")


def documentation(name: str, owner: Any) -> str | None:
    """Returns the documentation of a class, function, method or property."""
    if name in UNDOCUMENTED:
        return None
    found = inspect.getattr_static(owner, name, None)
    if isinstance(found, staticmethod):
        found = found.__func__
    text = getattr(found, "__doc__", None)
    # Methods that Python defines itself have its documentation.
    if text is None or (name.startswith("__") and name != "__call__"):
        return None
    return inspect.cleandoc(text)


def wrapped(text: str, width: int) -> str:
    """Returns a text whose paragraphs of prose have lines of at most this width."""

    def is_prose(paragraph: str) -> bool:
        starts = (" ", ">>>", "|", "- ")
        return not any(line.startswith(starts) for line in paragraph.splitlines())

    return "\n\n".join(
        textwrap.fill(paragraph, width, break_long_words=False)
        if is_prose(paragraph)
        else paragraph
        for paragraph in text.split("\n\n")
    )


def literal(text: str, indent: str) -> list[str]:
    """Returns a text as the lines of a docstring."""
    text = wrapped(text, COLUMNS - len(indent) - len('r"""' + '"""'))
    prefix = "r" if "\\" in text else ""
    close = "" if "\n" not in text else "\n"
    block = textwrap.indent(f'{prefix}"""{text}{close}"""', indent, lambda line: line.strip() != "")
    return block.splitlines()


def replaced(source: str, module: Any = _native) -> str:
    """Returns the text of the stub with the documentation of the module."""
    lines = source.splitlines()
    # From the end, so that the positions of what comes before stay right.
    edits: list[tuple[int, int, list[str]]] = []

    def function(node: ast.FunctionDef, owner: Any, seen: set[str]) -> None:
        first = node.body[0]
        head = lines[first.lineno - 1][: first.col_offset].rstrip()
        signature = [*lines[node.lineno - 1 : first.lineno - 1], *([head] if head else [])]
        text = None if node.name in seen else documentation(node.name, owner)
        seen.add(node.name)
        indent = " " * (node.col_offset + 4)
        body = literal(text, indent) if text else [f"{indent}..."]
        edits.append((node.lineno - 1, node.end_lineno or node.lineno, signature + body))

    def members(body: list[ast.stmt], owner: Any) -> None:
        seen: set[str] = set()
        for node in body:
            if isinstance(node, ast.FunctionDef):
                function(node, owner, seen)
            elif isinstance(node, ast.ClassDef):
                members(node.body, getattr(owner, node.name))
                class_documentation(node, getattr(owner, node.name))

    def class_documentation(node: ast.ClassDef, kind: Any) -> None:
        first = node.body[0]
        old = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        head = lines[first.lineno - 1][: first.col_offset].rstrip() if old else ""
        decorators: list[ast.expr] = getattr(first, "decorator_list", [])
        start = min([first.lineno, *(one.lineno for one in decorators)]) - 1
        end = (first.end_lineno or first.lineno) if old else start
        if not isinstance(kind.__doc__, str):
            # Its objects have documentation of their own.
            return
        text = literal(inspect.cleandoc(kind.__doc__), " " * (node.col_offset + 4))
        edits.append((start, end, [*([head] if head else []), *text]))

    members(ast.parse(source).body, module)
    for start, end, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        lines[start:end] = new
    return "\n".join(lines) + "\n"


def bare(source: str) -> str:
    """Returns a text as the parser sees it, without regard to its layout."""
    return ast.dump(ast.parse(source))


def main() -> int:
    old = STUB.read_text(encoding="utf-8")
    new = replaced(old)
    if "--check" in sys.argv:
        if bare(old) != bare(new):
            print(f"{STUB} is not up to date: run {Path(__file__).name}", file=sys.stderr)
            return 1
        return 0
    STUB.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
