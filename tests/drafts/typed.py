"""People who edit the text of a draft beside others who edit the draft, and edits whose text must keep its comments: `python
tests/drafts/typed.py SEEDS --from N`. A seed that fails is printed, and plays the same way again."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path
from random import Random
from time import perf_counter

from edits import Editor
from kept_comments import keeps
from retyped import canonical, check, is_container, retyped

from stepless.compile import parse
from stepless.compile.patching import patched
from stepless.drafts.operations.texts import operations_to, shown_text
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.drafts.rules.document import from_document, to_document
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import TEXT, Entities, snapshot
from stepless.errors import DocumentRefused
from stepless.runtime.wiring.local import local

ROOT = Path(__file__).parents[2]
FILES = [path.read_text("utf-8") for path in sorted((ROOT / "examples").rglob("*.yaml"))]
TEXTS = [text for text in FILES if "nodes:" in text]


def commented(rng: Random, text: str) -> str:
    """The text with a comment of its own behind a line, or on a new one. May be read as something else: in a text of many
    lines."""
    lines = text.split("\n")
    place = rng.randrange(len(lines))
    lines[place:place + 1] = [f"{lines[place]}   # said {rng.randrange(99)}"] if rng.random() < 0.5 else ["# above", lines[place]]
    return "\n".join(lines)


def play(rng: Random, verbs: DraftVerbs) -> None:
    """One world: a draft with the text of its author, which people have edited; then a person edits its text."""
    text = rng.choice(TEXTS)
    if rng.random() < 0.2:
        text = "\ufeff" + text.replace("\n", "\r\n")
    state = Entities(from_document(parse(text), "e", is_container))
    state.put(TEXT, {"yaml": text})
    editor = Editor(rng, 0x4E00)
    for _ in range(rng.randrange(4)):
        operation = editor.operation(state)
        if operation is not None:
            state = Entities(snapshot(resolve(state, [operation]).state))
    shown = shown_text(state)
    assert canonical(dict(parse(shown))) == canonical(to_document(state)), "what is shown is the draft"
    typed = shown
    for _ in range(rng.choice((1, 1, 2, 4))):
        typed = patched(typed, retyped(rng, dict(parse(typed)))) if rng.random() < 0.6 else commented(rng, typed)
        try:
            parse(typed)
        except DocumentRefused:
            typed = shown
    goal = dict(parse(typed))
    if goal.get("id") != to_document(state).get("id"):
        return
    operations = operations_to(verbs, state, goal, typed, "typed")
    decided = resolve(state, operations)
    assert not decided.outcomes, decided.outcomes
    assert canonical(to_document(decided.state)) == canonical(goal), "the draft is what was typed"
    assert shown_text(decided.state) == typed, "the text is what was typed"


def main() -> int:
    parser = argparse.ArgumentParser(description="Simulates people who edit the text of a draft.")
    parser.add_argument("seeds", type=int)
    parser.add_argument("--from", dest="first", type=int, default=0)
    given = parser.parse_args()
    from test_documents import DOCUMENTS  # here: reading them takes a while

    begun, failed = perf_counter(), 0
    built = local(None)
    verbs = DraftVerbs(built.world)
    try:
        for seed in range(given.first, given.first + given.seeds):
            rng = Random(seed)
            try:
                match seed % 3:
                    case 0:
                        check(rng, rng.choice(DOCUMENTS))
                    case 1:
                        play(rng, verbs)
                    case _:
                        keeps(seed)
            except Exception:
                failed += 1
                sys.stdout.write(f"seed {seed}:\n{traceback.format_exc(limit=-3)}\n")
    finally:
        built.close()
    sys.stdout.write(f"{given.seeds} edits of a text, in {perf_counter() - begun:.1f} s, {failed} failed\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
