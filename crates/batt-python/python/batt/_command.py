"""The command `batt`, as the console script of the package."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command with the arguments of this process and returns its exit code."""
    from batt import _native

    return _native.command(sys.argv)


if __name__ == "__main__":
    sys.exit(main())
