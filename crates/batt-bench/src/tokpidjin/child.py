# Times a batt under the library of a Python checkout. Started by `batt-bench tokpidjin` and
# `batt-bench targets --against`.
#
# Arguments: the checkout, the folder of the batt, a mode, and the most seconds for one call. The
# mode "quiet" removes log calls from the library when it is loaded.
#
# Reads one JSON object per line on stdin and writes one answer per line on stdout. Only the call of
# the batt is timed: S and I are made before the clock starts, and results are encoded after it has
# stopped.

import ast
import importlib.abc
import importlib.machinery
import json
import logging
import os
import platform
import signal
import sys
from time import perf_counter_ns

# Output of the checkout must not mix with the answers, so it is discarded.
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
checkout, folder, mode, seconds = sys.argv[1:]
sys.path[:0] = [folder, checkout]
logging.disable(logging.CRITICAL)


class TooLong(BaseException):
    """Not an Exception: the library catches those."""


def too_long(signum, frame):
    raise TooLong


signal.signal(signal.SIGALRM, too_long)


class WithoutLogging(ast.NodeTransformer):
    def visit_Expr(self, node):
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == "logger"
        ):
            return ast.copy_location(ast.Pass(), node)
        return node


class QuietLoader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data, path, *, _optimization=-1):
        tree = WithoutLogging().visit(ast.parse(data))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class QuietFinder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        file = os.path.join(checkout, name + ".py")
        if name != "dsl" or not os.path.isfile(file):
            return None
        loader = QuietLoader(name, file)
        return importlib.machinery.ModuleSpec(name, loader, origin=file)


def grid(rows):
    return tuple(map(tuple, rows))


def main():
    if mode == "quiet":
        sys.meta_path.insert(0, QuietFinder())
    try:
        from batt_bench import batt
    except ImportError as error:
        answer({"missing": error.name or str(error), "error": str(error)})
        return
    answer({"version": platform.python_version(), "kind": platform.python_implementation()})
    for line in sys.stdin:
        request = json.loads(line)
        samples = tuple((grid(a), grid(b)) for a, b in request["demos"])
        start_grid = grid(request["input"])
        lists, error = ([], []), None
        signal.setitimer(signal.ITIMER_REAL, float(seconds))
        start = perf_counter_ns()
        try:
            lists = batt(request["task"], samples, start_grid, None, None)
        except TooLong:
            error = "too long"
        except Exception as raised:
            error = type(raised).__name__
        done = perf_counter_ns()
        signal.setitimer(signal.ITIMER_REAL, 0)
        record = {"nanos": done - start, "error": error}
        if request["results"] and not error:
            o, s = lists
            record["o"] = [[t, mutated, donor, encode(value)] for t, mutated, donor, value in o]
            record["s"] = [[t, donor, differ, encode(value)] for t, donor, differ, value in s]
        del lists
        answer(record)


main()
