"""Implements the command `stepless`. `command/` parses arguments and returns an exit code: 0 done, 1 the run did not complete, 2
bad input. `verbs/` has one module per group of verbs, `dev/` the local server, `reach/` access to the API over a file or a URL,
`terminal/` the output, `graph/` the drawings.
"""

from stepless.cli.command.main import main

__all__ = ["main"]
