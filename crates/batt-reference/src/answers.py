# The common beginning of all child scripts of `batt bench --against`: writes answers as JSON lines,
# and encodes values.

import json
import os
import signal

answers = os.fdopen(os.dup(1), "w")
# Ctrl-C is handled by batt, which ends this process by closing stdin.
signal.signal(signal.SIGINT, signal.SIG_IGN)


def answer(record):
    answer_text(json.dumps(record, separators=(",", ":")))


def answer_text(text):
    answers.write(text + "\n")
    answers.flush()


def is_grid(value):
    return (
        len(value) > 0
        and all(type(row) is tuple and len(row) > 0 for row in value)
        and len({len(row) for row in value}) == 1
        and all(type(cell) is int and 0 <= cell <= 9 for row in value for cell in row)
    )


def encode(value):
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return {"x": repr(value)}
    if isinstance(value, tuple):
        if is_grid(value):
            return {"g": ["".join(map(str, row)) for row in value]}
        return {"t": [encode(item) for item in value]}
    if isinstance(value, frozenset):
        return {"s": [encode(item) for item in value]}
    if callable(value):
        return {"f": "<function>"}
    return {"unknown": type(value).__name__}


