"""The `stepless` command. `command/` parses arguments and answers with an exit code: 0 done, 1 the run did not complete, 2 bad
input. `verbs/` holds one module per group of verbs, `dev/` the local server, `reach/` the API over a file or a URL, `terminal/`
what is printed, `graph/` the drawings.
"""

from stepless.cli.command.main import main

__all__ = ["main"]
