"""`python -m stepless` is the `stepless` command."""

from __future__ import annotations

import sys

from stepless.cli import main

if __name__ == "__main__":
    sys.exit(main())
