"""Ctrl-C: long work ends within a second, and what it had is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import batt
import pytest
from conftest import ROOT
from test_progress import many

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")

# A busy machine gets twice the second that a person waits.
PATIENCE = 2.0 if os.environ.get("CI") else 1.0

SETUP = """
import sys, time
import batt
from test_progress import many

tasks, solvers = batt.Tasks.embedded(), batt.Solvers.embedded()
folder = sys.argv[1]
said = False

def begun(*_):
    global said
    if not said:
        said = True
        print("begun", flush=True)
"""

ENDING = """
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), flush=True)
else:
    print("ended", flush=True)
"""


@contextmanager
def child(work: str, folder: Path, ending: str = ENDING) -> Generator[subprocess.Popen[str]]:
    """A process that works, and says when it has begun and when it was interrupted."""
    script = SETUP + "try:\n" + textwrap.indent(textwrap.dedent(work).strip(), "    ") + ending
    paths = [str(Path(batt.__file__).parents[1]), str(Path(__file__).parent)]
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def lines(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def interrupt(process: subprocess.Popen[str], wait: float = 0.3) -> list[str]:
    """Interrupts a process in the middle of its work, and returns what it said from then on."""
    for line in lines(process):
        if line.strip() == "begun":
            break
    else:
        pytest.fail(f"it did not begin: {process.stderr.read() if process.stderr else ''}")
    time.sleep(wait)
    assert process.poll() is None, "the work is too short for this test"
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    said = [line for line in out.splitlines() if line.strip()]
    assert said, err
    assert said[-1].startswith("interrupted"), (said, err)
    took = float(said[-1].split()[1]) - sent
    assert took < PATIENCE, f"it went on for {took:.2f} s"
    assert process.returncode == 0, err
    return said[:-1]


@pytest.mark.parametrize(
    "work",
    [
        "batt.run(solvers, many(tasks, 100), all_pairs=True, progress=begun)",
        "batt.run(solvers, many(tasks, 100), all_pairs=True, progress=begun, jobs=1)",
        "batt.mega(batt.card(solvers, tasks), many(tasks, 50), progress=begun)",
        "batt.mega(batt.card(solvers, tasks, mutants=500), many(tasks, 50), progress=begun)",
        "batt.evolve(tasks, solvers, hold_out=20, progress=begun).run()",
        "batt.evolve(many(tasks, 3), progress=begun, population=500).run()",
        "begun(); batt.card(solvers, tasks, mutants=10**9)",
        "batt.Archive(folder + '/a.sqlite').add(many_solvers(), many(tasks, 50), progress=begun)",
    ],
)
def test_work_ends_within_a_second(work: str, tmp_path: Path) -> None:
    helper = """
        def many_solvers():
            text = [
                solver.source.replace(solver.name, f"{solver.name}_{at}")
                for solver in solvers
                for at in range(50)
            ]
            return batt.Solvers.parse("\\n\\n".join(text))
    """
    with child(textwrap.dedent(helper) + work, tmp_path) as process:
        interrupt(process, wait=0.05 if "Archive" in work else 0.3)


def test_a_submission_is_complete_at_every_moment(tmp_path: Path) -> None:
    work = """
        text = [s.source.replace(s.name, f"{s.name}_{at}") for s in solvers for at in range(60)]
        more = batt.Solvers.parse("\\n\\n".join(text))
        batt.submit(many(tasks, 60), more, output=folder + "/submission.json", progress=begun)
    """
    with child(work, tmp_path) as process:
        for line in lines(process):
            if line.strip() == "begun":
                break
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    answers = json.loads((tmp_path / "submission.json").read_text(encoding="utf-8"))
    assert len(answers) == 65 * 60
    assert all(
        set(attempts) == {"attempt_1", "attempt_2"}
        for attempts in (answer for answered in answers.values() for answer in answered)
    )


def test_a_mega_file_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    work = """
        path = folder + "/batt.py"
        batt.card(solvers, tasks).save(path)
        batt.mega(path, many(tasks, 10), folder + "/results.jsonl", progress=begun)
    """
    with child(work, tmp_path) as process:
        interrupt(process, wait=0.1)
    tasks, path = many(batt.Tasks.embedded(), 10), tmp_path / "results.jsonl"
    assert not path.exists()
    resumed = batt.mega(tmp_path / "batt.py", tasks, path, existing="resume").summary()
    assert 0 < resumed["resumed"] < resumed["planned"] == resumed["runs"]
    whole = tmp_path / "whole.jsonl"
    batt.mega(tmp_path / "batt.py", tasks, whole)
    assert path.read_bytes() == whole.read_bytes()


SEARCH = """
search = batt.evolve(tasks, solvers, folder + "/a.sqlite", hold_out=30, offspring=3000)
for event in search:
    if event.kind == "improved" and event.facts["saved"]:
        print("saved", event.task, event.facts["hash"], flush=True)
        begun()
"""


def saved_and_stored(said: list[str], folder: Path) -> None:
    """Checks that the archive has what was reported as saved."""
    saved = [line.split()[1:] for line in said if line.startswith("saved")]
    archive = batt.Archive(folder / "a.sqlite", must_exist=True)
    assert archive.check() == []
    known = {entry.hash for task in archive.tasks() for entry in archive.best(task["task"], 10**6)}
    lost = [found for _, found in saved if found not in known]
    # The archive keeps the best 32 of each task, so only later and better ones may replace one.
    for task, found in saved:
        if found in lost:
            assert len(archive.best(task, 10**6)) == 32


def test_what_events_report_as_saved_is_in_the_archive(tmp_path: Path) -> None:
    with child(SEARCH, tmp_path) as process:
        stdout = lines(process)
        said: list[str] = []
        while (line := stdout.readline()).strip() != "begun":
            said.append(line.strip())
        said += interrupt_now(process)
    assert sum(line.startswith("saved") for line in said) >= 1
    saved_and_stored(said, tmp_path)


def interrupt_now(process: subprocess.Popen[str]) -> list[str]:
    time.sleep(0.5)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    said = out.splitlines()
    assert said[-1].startswith("interrupted"), (said[-3:], err)
    assert float(said[-1].split()[1]) - sent < PATIENCE
    return said[:-1]


def test_an_interrupt_in_the_code_of_the_user_loses_nothing(tmp_path: Path) -> None:
    # The search goes on in the background while the user's code runs; the process must still end.
    work = SEARCH + "        time.sleep(30)\n"
    with child(work, tmp_path) as process:
        stdout = lines(process)
        said: list[str] = []
        while (line := stdout.readline()).strip() != "begun":
            said.append(line.strip())
        said += interrupt_now(process)
        assert process.returncode == 0
    saved_and_stored(said, tmp_path)


@pytest.mark.parametrize(
    "work",
    [
        "batt.run(solvers, many(tasks, 100), all_pairs=True, progress=begun)",
        "batt.evolve(tasks, progress=begun).run()",
        "for _ in batt.evolve(tasks): begun(); time.sleep(1)",
    ],
)
def test_an_interrupt_that_is_not_caught_ends_the_process(work: str, tmp_path: Path) -> None:
    with child(work, tmp_path, ending="\nfinally:\n    pass\n") as process:
        for line in lines(process):
            if line.strip() == "begun":
                break
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


def test_another_handler_raises_its_own_exception(tmp_path: Path) -> None:
    work = """
        import signal
        class Stop(Exception): pass
        def stop(*_): raise Stop
        signal.signal(signal.SIGINT, stop)
        try:
            batt.evolve(tasks, progress=begun).run()
        except Stop:
            raise KeyboardInterrupt from None
    """
    with child(work, tmp_path) as process:
        interrupt(process)


def test_this_process_goes_on_after_an_interrupt(tasks: batt.Tasks, solvers: batt.Solvers) -> None:
    # A shell may start this process without Python's handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def stop(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            batt.run(solvers, many(tasks, 20), all_pairs=True, progress=stop)
        assert len(batt.run(solvers, tasks)) == 260
