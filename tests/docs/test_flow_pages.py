"""docs/write/flows-compiled.md has an example of every code that the compiler of flows has."""

from __future__ import annotations

import re

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


def test_the_list_of_what_is_refused_and_the_mistakes_are_all_codes() -> None:
    section = PAGE.read_text("utf-8").partition("## What is refused\n")[2].partition("```")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    mistakes = section.partition("The other codes are mistakes")[2].partition(".\n")[0]
    assert 8 < len(rows) < 15, "one screen"
    warnings = {code for code, (meaning, _) in TEXTS.items() if meaning.endswith("(warning)")}
    told = re.findall(r"`([a-z_]+)`", " ".join([*rows, mistakes]))
    assert sorted(told) == sorted(TEXTS.keys() - warnings - OF_A_WHOLE_SOURCE)


def test_every_refusal_has_a_mend_that_the_page_applies() -> None:
    marked = [block for block in blocks(PAGE) if flow_blocks.mark_of(block) == "refused"]
    assert [example.text for block in marked for example in flow_blocks.examples(block) if not example.mended] == []


def test_there_are_examples_of_what_is_compiled_and_of_what_is_lifted() -> None:
    counted = {mark: sum(1 for block in blocks(PAGE) if flow_blocks.mark_of(block) == mark for _ in flow_blocks.examples(block))
               for mark in ("compiled", "lifted")}  # fmt: skip
    assert counted["compiled"] >= 10 and counted["lifted"] >= 8
