"""Runs the `stepless` command as `python -m stepless`."""

from __future__ import annotations

import sys

from stepless.cli import main

if __name__ == "__main__":
    sys.exit(main())
