# Times the solvers of a Python checkout, on request. Started by `batt bench --against`.
#
# Reads one JSON request per line on stdin and writes one answer per line on stdout. Only the calls
# of the solver are timed: grids are converted to tuples before the clock starts, and results are
# encoded after it has stopped.

import json
import os
import platform
import sys
from time import perf_counter_ns

# Output that the checkout prints must not mix with the answers.
os.dup2(2, 1)
sys.path.insert(0, sys.argv[1])


def timed(solver, grid, repetitions):
    """Nanoseconds of one call, and the result or the exception of the last."""
    result, error = None, None
    rounds = range(repetitions)
    start = perf_counter_ns()
    try:
        for _ in rounds:
            result = solver(grid)
        done = perf_counter_ns()
        return (done - start) / repetitions, result, None
    except Exception as raised:
        # A failing solver fails at its first call, so that call is the whole measurement.
        done = perf_counter_ns()
        return done - start, None, raised


def main():
    import solvers

    answer({"version": platform.python_version(), "kind": platform.python_implementation()})
    for line in sys.stdin:
        request = json.loads(line)
        solver = getattr(solvers, request["solver"])
        nanos, results = [], []
        for rows in request["grids"]:
            grid = tuple(map(tuple, rows))
            time, result, error = timed(solver, grid, request["repetitions"])
            nanos.append(time)
            if request["results"]:
                results.append({"err": type(error).__name__} if error else encode(result))
        answer({"nanos": nanos, "results": results})


main()
