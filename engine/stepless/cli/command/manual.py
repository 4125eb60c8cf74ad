"""docs/cli.md, made from the verbs themselves: `python -m stepless.cli.command.manual` prints it."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from typing import Final

from stepless.cli.command.main import GROUPS, VERBS
from stepless.cli.command.verb import Verb

_WIDTH: Final = 126
_HEAD = """\
# Command line

Everything that Stepless does can be done from a terminal. This page is made by `python -m
stepless.cli.command.manual`; `stepless VERB --help` says the same with every option.

## Where the runs are

Verbs that speak to runs (`publish`, `start`, `workflows`, `runs`, `keys`) ask one of two:

| | asks | who may |
|---|---|---|
| `--url URL`, or `STEPLESS_URL` | a server: a deployed one, or `stepless dev` | an API key: `--key`, better `STEPLESS_API_KEY` |
| `--db FILE`, by default `.stepless/dev.db` | a file, as `stepless dev` and `stepless run --db` keep it | who may write to it |

Over a file no server is needed. What needs a runner to go on (`start`, `runs resume`, `runs cancel`, `runs rerun`) is written
down there: a `stepless dev` that serves the file takes it up within a second. When nobody does, the command says so; `--go` runs
the run here instead, with the functions of this folder or of `--modules`. `--wait` watches the run to its end.

## What they print

* Tables and trees fit the terminal, 80 columns where there is none. Times are this machine's.
* `--json` prints one JSON document, of a listing one per line, as [the API](http.md) words it; `run` and `--go` print one object
  of their own with `run_id`, `status`, `outputs`, `error`, `exception` and `nodes`. An error is `{"error": {"code", "message",
  "place", "mend"}}` on standard error. The codes are listed in [errors](errors.md).
* Colours and moving trees are for terminals. `NO_COLOR` turns colours off. What takes longer than a second says what it waits
  for.

| exit code | means |
|---|---|
| 0 | done; of `run`, `--wait` and `--go`: the run completed (or is cancelled, where that was asked for) |
| 1 | the run did not complete |
| 2 | bad input, or a refusal: the place, one sentence and the mend are on standard error |
| 130 | interrupted by Ctrl-C; a run that was only watched goes on |
"""


def render() -> str:
    return _HEAD + "".join(_sections())


def _sections() -> Iterator[str]:
    told: set[str] = set()
    for verb in VERBS:
        group = verb.words.rpartition(" ")[0]
        if group and group not in told:
            told.add(group)
            yield f"\n## {group}\n\n{_sentence(GROUPS[group])}\n"
        yield from _section(verb, "###" if group else "##")


def _section(verb: Verb, level: str) -> Iterator[str]:
    lines = verb.examples.splitlines()
    examples = [line.strip() for line in lines if line.startswith("  ")]
    rest = " ".join(line for line in lines if line and not line.startswith("  "))
    yield f"\n{level} {verb.words}\n\n{_sentence(verb.summary)}\n\n```sh\n" + "\n".join(examples) + "\n```\n"
    if rest:
        yield "\n" + textwrap.fill(_sentence(rest), _WIDTH, break_on_hyphens=False) + "\n"
    if verb.exits:
        yield f"\nExit codes: {verb.exits}.\n"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


if __name__ == "__main__":
    sys.stdout.write(render())
