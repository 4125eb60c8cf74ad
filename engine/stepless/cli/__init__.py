"""Implements the command `stepless`. `command/` parses arguments and returns an exit code: 0 done, 1 the run did not complete, 2
bad input, 130 interrupted. `verbs/` has one module per group of verbs, `dev/` the local server, `reach/` access to the API over a
file or a URL, `terminal/` the output, `graph/` the drawings.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code, as `command.main` says; that of Ctrl-C also while modules load."""
    try:
        from stepless.cli.command.main import main as run  # here, so that Ctrl-C while modules load is caught

        return run(argv)
    except KeyboardInterrupt:
        return _INTERRUPTED
