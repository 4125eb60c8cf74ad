"""docs/write/flows-compiled.md has an example of every code that the compiler of flows has."""

from __future__ import annotations

import flow_blocks
from pages import ROOT, blocks

from stepless.codes_of_flows import TEXTS

PAGE = ROOT / "docs/write/flows-compiled.md"
OF_A_WHOLE_SOURCE = {"flow_refused"}  # the error that has the refusals


def shown(mark: str) -> set[str]:
    marked = [block for block in blocks(PAGE) if flow_blocks.mark_of(block) == mark]
    return {example.code for block in marked for example in flow_blocks.examples(block)}


def test_every_code_of_a_refusal_and_of_a_warning_has_an_example() -> None:
    warnings = {code for code, (meaning, _) in TEXTS.items() if meaning.endswith("(warning)")}
    assert shown("refused") == TEXTS.keys() - warnings - OF_A_WHOLE_SOURCE
    assert shown("warned") == warnings


def test_there_are_examples_of_what_is_compiled_and_of_what_is_lifted() -> None:
    counted = {mark: sum(1 for block in blocks(PAGE) if flow_blocks.mark_of(block) == mark for _ in flow_blocks.examples(block))
               for mark in ("compiled", "lifted")}  # fmt: skip
    assert counted["compiled"] >= 10 and counted["lifted"] >= 8
