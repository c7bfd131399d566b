# %% [markdown]
# # Batt
#
# This notebook evolves solvers for the test tasks until the time is up, and answers with the best of them. It needs no
# internet and no packages. Its dataset has the program and the solvers to start with.
#
# - `submission.json` exists from the first minute, with fillers, and is valid at every moment.
# - On a commit, when the competition shows placeholder tasks, the notebook runs only for a short trial.
# - `batt.sqlite` in the output is the archive of all solvers found. The next bundle can start with it.

# %%
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

START = time.monotonic()

BUNDLE = {"competition": "arc-prize-2026-arc-agi-2", "seconds": 39600, "trial_seconds": 600, "device": "auto"}


def setting(name, value):
    """Returns a setting of the bundle; an environment variable BATT_KAGGLE_<NAME> overrides it."""
    return os.environ.get("BATT_KAGGLE_" + name.upper(), value)


INPUT = Path(setting("input", "/kaggle/input"))
WORKING = Path(setting("working", "/kaggle/working"))
# Inputs cannot be executed, and the working folder is kept as output, so the program is copied elsewhere.
PROGRAM = Path(setting("program", "/tmp/batt-program")) / "batt"
RERUN = bool(os.environ.get("KAGGLE_IS_COMPETITION_RERUN"))
SECONDS = float(setting("seconds", BUNDLE["seconds"] if RERUN else BUNDLE["trial_seconds"]))
# The time reserved for the last answers.
RESERVE = min(300.0, SECONDS * 0.1)
SUBMIT_EVERY = float(setting("submit_every", 600))
ARCHIVE = WORKING / "batt.sqlite"
SUBMISSION = WORKING / "submission.json"
LOG = WORKING / "evolve.log"

print("competition rerun" if RERUN else "trial run: the tasks are placeholders", f"for {SECONDS:.0f} s")

# %%
def one(what, patterns, folders, hint):
    """Returns the first file that matches, in the first folder that has one."""
    for folder in folders:
        for pattern in patterns:
            found = sorted(path for path in folder.rglob(pattern) if path.is_file())
            if found:
                return found[0]
    places = " or ".join(str(folder) for folder in folders)
    raise FileNotFoundError(f"no {what} under {places}: {hint}")


# If a shell starts this script in the background, the script and evolution would ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


def batt(*args, timeout=None):
    """Runs batt, prints its output, and returns its exit code."""
    command = [str(PROGRAM), *map(str, args)]
    print("$ batt", *command[1:], flush=True)
    try:
        ended = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout
        )
    except subprocess.TimeoutExpired:
        # The submission is valid whenever the command ends.
        print(f"ended after {timeout:.0f} s")
        return None
    print(ended.stdout, end="", flush=True)
    return ended.returncode


slug = BUNDLE["competition"]
TASKS = one(
    "test challenges",
    ["*test_challenges.json"],
    [INPUT / slug, INPUT / "competitions" / slug, INPUT],
    "add the data of the competition to the notebook",
)
binary = one("program batt", ["batt"], [INPUT], "add the dataset of the bundle to the notebook")
DATASET = binary.parent
PROGRAM.parent.mkdir(parents=True, exist_ok=True)
shutil.copyfile(binary, PROGRAM)
PROGRAM.chmod(0o755)
WORKING.mkdir(parents=True, exist_ok=True)
if batt("--version") != 0:
    raise RuntimeError("batt does not start on this machine: see above, and the README of the bundle")

# %% [markdown]
# Write a submission with fillers first.

# %%
if batt("submit", "--tasks", TASKS, "-o", SUBMISSION, "--keep") != 0:
    raise RuntimeError("batt submit failed: see above")
batt("device")

# %%
seed = DATASET / "seed.sqlite"
if seed.is_file() and not ARCHIVE.exists():
    shutil.copyfile(seed, ARCHIVE)
    # Inputs are read-only, and so is a copy of one.
    ARCHIVE.chmod(0o644)
SOLVERS = sorted(DATASET.glob("*.py"))
print(f"{len(SOLVERS)} solver files, {'a' if ARCHIVE.exists() else 'no'} seed archive")


def remaining():
    return SECONDS - RESERVE - (time.monotonic() - START)


def evolve(device, resume):
    """Starts evolution in the background for the remaining time."""
    command = [PROGRAM, "evolve", "--tasks", TASKS, "--archive", ARCHIVE]
    command += ["--device", device, "--time", f"{max(1, int(remaining()))}s"]
    for file in SOLVERS:
        command += ["--solvers", file]
    if resume:
        command.append("--resume")
    command = [str(word) for word in command]
    print("$ batt", *command[1:], flush=True)
    with LOG.open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def show_log(lines=5):
    text = LOG.read_text(errors="replace").splitlines() if LOG.exists() else []
    for line in text[-lines:]:
        print("  ", line)


def submit():
    if ARCHIVE.exists():
        batt("submit", "--tasks", TASKS, "--archive", ARCHIVE, "-o", SUBMISSION, "--keep", timeout=max(60.0, RESERVE))


# %% [markdown]
# Run evolution in the background, and write answers every few minutes.

# %%
device, failures, resume = BUNDLE["device"], 0, ARCHIVE.exists() and LOG.exists()
running = None
submitted = time.monotonic()
try:
    while remaining() > 1:
        if running is None:
            running = evolve(device, resume)
        try:
            running.wait(timeout=min(max(0.1, remaining()), SUBMIT_EVERY))
        except subprocess.TimeoutExpired:
            pass
        if running.returncode is None:
            if time.monotonic() - submitted >= SUBMIT_EVERY and remaining() > 1:
                show_log()
                submit()
                submitted = time.monotonic()
            continue
        show_log()
        print(f"evolution ended with {running.returncode}")
        # Exit codes 0 and 1 are no failure: the time is up, or evolution is done.
        if running.returncode in (0, 1):
            break
        failures += 1
        if failures >= 3:
            print("giving up on evolution")
            break
        # The second try uses the same device as the first, the third only the CPU.
        device = "cpu" if failures == 2 else device
        running, resume = None, ARCHIVE.exists()
        time.sleep(min(2.0, max(0.0, remaining())))
finally:
    if running is not None and running.poll() is None:
        running.send_signal(signal.SIGINT)
        try:
            running.wait(timeout=60)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()

# %% [markdown]
# Write the last answers and check the submission.

# %%
submit()
if batt("submit", "--check", SUBMISSION, "--tasks", TASKS) != 0:
    raise RuntimeError("the submission is not valid: see above")
answers = json.loads(SUBMISSION.read_text())
blank = [[0, 0], [0, 0]]
guesses = sum(answer["attempt_1"] != blank for task in answers.values() for answer in task)
print(f"{guesses} of {sum(map(len, answers.values()))} outputs answered in {time.monotonic() - START:.0f} s")
