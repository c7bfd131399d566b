# Times solvers of a Python checkout on inputs, each once and within a time limit. Started by
# `batt-bench device --against`.
#
# Reads one JSON object per line on stdin and writes one answer per line on stdout. Only the call of
# the solver is timed.

import json
import os
import platform
import signal
import sys
from time import perf_counter_ns

# Output of the checkout must not mix with the answers.
os.dup2(2, 1)
sys.path.insert(0, sys.argv[1])


class TooLong(BaseException):
    pass


def give_up(*_):
    raise TooLong


def timed(solver, grid, limit):
    """Returns the nanoseconds of the call, and how it ended."""
    signal.setitimer(signal.ITIMER_REAL, limit)
    start = perf_counter_ns()
    try:
        solver(grid)
        ended = "value"
    except TooLong:
        ended = "time"
    except MemoryError:
        ended = "memory"
    except Exception:
        ended = "error"
    done = perf_counter_ns()
    signal.setitimer(signal.ITIMER_REAL, 0)
    return done - start, ended


def main():
    import solvers

    signal.signal(signal.SIGALRM, give_up)
    answer({"version": platform.python_version(), "kind": platform.python_implementation()})
    grids = None
    for line in sys.stdin:
        request = json.loads(line)
        if "grids" in request:
            grids = [tuple(map(tuple, rows)) for rows in request["grids"]]
            answer({"grids": len(grids)})
            continue
        nanos, ended = timed(getattr(solvers, request["solver"]), grids[request["grid"]], request["limit"])
        answer({"nanos": nanos, "ended": ended})


main()
