"""`python -m batt` is the command `batt`."""

import sys

from batt._command import main

if __name__ == "__main__":
    sys.exit(main())
