"""The command `batt` of the package is the program `batt`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from conftest import ROOT


def command(*args: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "batt", *args],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
    )


def test_exit_codes_and_output() -> None:
    good = command("demo", "--json")
    assert good.returncode == 0, good.stderr
    assert json.loads(good.stdout)["solved"] == 65
    findings = command("check", "examples/misspelt.py")
    assert findings.returncode == 1
    assert "did you mean 'objects'?" in findings.stdout
    wrong = command("rum")
    assert wrong.returncode == 2
    assert "run" in wrong.stderr


def test_there_is_no_program_to_pack(tmp_path: Path) -> None:
    ended = command("kaggle", "bundle", "-o", "bundle", folder=tmp_path)
    assert ended.returncode == 2
    assert "is not a program to pack" in ended.stderr
    assert "cargo build --release" in ended.stderr
    assert not (tmp_path / "bundle").exists()
