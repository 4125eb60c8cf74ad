"""Every field of an event's payload is documented, since callers may rely on it."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shared_cases import CASES, RUNNER

from stepless.compile import compile_document
from stepless.core.history.trace import envelope
from stepless.core.stored.codec import decode_batch
from stepless.nodes import KINDS
from stepless.testing import simulate

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
ROW = re.compile(r"^\| `(?P<types>[a-z_.`, ]+)` \| (?P<fields>.*) \|$", re.MULTILINE)
FIELD = re.compile(r"`([A-Za-z_]+)`")


def documented() -> dict[str, set[str]]:
    """By type of event the fields of its payload, those that many events have included."""
    page = (ROOT / "docs/understand/semantics.md").read_text()
    section = page.partition("### Payloads")[2].partition("\n## ")[0]
    common = section.partition("\n| type |")[0]
    fields: dict[str, set[str]] = {}
    for row in ROW.finditer(section):
        for type in re.findall(r"[a-z_.]+", row["types"]):
            fields[type] = {*FIELD.findall(row["fields"]), *FIELD.findall(common)}
    return fields


def simulated() -> Iterator[Mapping[str, Any]]:
    for case in CASES:
        if "publish_error" not in case["expect"]:
            yield from RUNNER.run_case(simulate, case)[1].events


def stored() -> Iterator[Mapping[str, Any]]:
    for file in sorted(GOLDEN.glob("*/*.json")):
        kept = json.loads(file.read_text())
        graph = compile_document(kept["document"], KINDS, entries=kept["entry"])
        for first, _, _, data in kept["batches"]:
            yield from (envelope(graph, kept["run_id"], event) for event in decode_batch(b64decode(data), first))


def test_no_event_has_a_field_that_is_not_in_its_row_of_the_page() -> None:
    known, missing = documented(), defaultdict(set)
    for event in (*simulated(), *stored()):
        missing[event["type"]] |= event["payload"].keys() - known.get(event["type"], set())
    assert not {type: sorted(fields) for type, fields in missing.items() if fields}, "docs/understand/semantics.md#payloads"
