# Runs programs from stdin with the library of a Python checkout. Started by `batt-bench mutants`.
#
# Reads one JSON object per line on stdin and writes one answer per line on stdout. An answer holds
# the result for each input, in the form of the conformance vectors, or `{"late": ...}`.

import json
import logging
import os
import platform
import resource
import signal
import sys

# Output of the checkout must not mix with the answers.
os.dup2(2, 1)
sys.path.insert(0, sys.argv[1])
logging.disable(logging.CRITICAL)
MEMORY = int(sys.argv[2])
# Shifts the library's functions in memory, so that their addresses differ between processes.
PADDING = [lambda: None for _ in range(int(sys.argv[3]))]


# The most characters of a result.
LONGEST = 1 << 24


class TooLong(BaseException):
    """Not an Exception: a library may catch those."""


def give_up(*_):
    raise TooLong


def grid(rows):
    return tuple(map(tuple, rows))


def value(solver, arguments, limit):
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        return text(solver(*arguments))
    except MemoryError:
        return late("memory")
    except Exception as raised:
        return json.dumps({"err": type(raised).__name__})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def text(value):
    try:
        written = json.dumps(encode(value))
    # Tuples may be nested too deeply, and integers may have too many digits.
    except (RecursionError, ValueError):
        return late("size")
    return written if len(written) <= LONGEST else late("size")


def late(why):
    return json.dumps({"late": why})


def result(solver, arguments, limit):
    # The alarm may fire at any moment, also while an error is handled. It fires once.
    try:
        return value(solver, arguments, limit)
    except TooLong:
        return late("time")


def main():
    try:
        import constants
        import dsl
    except ImportError as error:
        answer({"missing": error.name or str(error), "error": str(error)})
        return
    library = {**vars(dsl), **vars(constants)}
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, give_up)
    answer({"version": platform.python_version(), "kind": platform.python_implementation()})
    for line in sys.stdin:
        request = json.loads(line)
        names = dict(library)
        exec(request["text"], names)
        solver = names[request["name"]]
        demos = tuple((grid(a), grid(b)) for a, b in request["demos"])
        given = {"S": demos, "C": None}
        results = []
        for rows in request["inputs"]:
            given["I"] = grid(rows)
            arguments = [given[name] for name in request["params"]]
            results.append(result(solver, arguments, request["limit"]))
        answer_text('{"results":[' + ",".join(results) + "]}")


main()
