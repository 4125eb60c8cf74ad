"""`make bench`."""

from __future__ import annotations

import sys

from benchmarks.wfinstances import main

if __name__ == "__main__":
    sys.exit(main())
