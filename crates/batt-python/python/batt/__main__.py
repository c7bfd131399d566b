"""`python -m batt` is the command `batt`."""

import sys

from batt._command import main

sys.exit(main())
