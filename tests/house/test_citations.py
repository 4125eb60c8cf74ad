"""What a docstring, a comment or a test cites in docs/ exists, heading included; no section is cited by its number alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from pages import ROOT, anchors

CITATION = re.compile(r"\bdocs/[\w./-]+\.md(?:#[\w-]+)?")
SECTION = re.compile(r"[\w`*)] \([1-9]\.\d{1,2}(?:, [1-9]\.\d{1,2})*\)")


def sources() -> list[Path]:
    command = ["git", "ls-files", "*.py", "*.ts", "*.tsx", "*.yaml", "Makefile", "*.mk"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.split() if not name.startswith("tests/conformance/shared/")]
    return [file for file in files if file.is_file()]


def faults_of(text: str) -> list[str]:
    faults = [f"{found[0]!r}: name the page instead" for found in SECTION.finditer(text)]
    for found in CITATION.finditer(text):
        page, _, anchor = found[0].partition("#")
        if not (ROOT / page).is_file() or (anchor and anchor not in anchors(ROOT / page)):
            faults.append(f"{found[0]} is not there")
    return faults


def test_every_citation_leads_to_a_page_of_this_repository() -> None:
    found = {str(file.relative_to(ROOT)): faults_of(file.read_text("utf-8")) for file in sources()}
    assert not {name: faults for name, faults in found.items() if faults}


def test_what_is_wrong_is_found() -> None:
    assert faults_of("see docs/understand/semantics.md#joins") == []
    assert faults_of("see docs/understand/semantics" + ".md#no-such-heading") and faults_of("see docs/no-such-page" + ".md")
    assert faults_of("pauses (" + "2.8)") and not faults_of("[(3, 3), (2.5, 1)]")
