"""The console declares no response of the API by hand: its types come from console/src/wire/contract.ts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from contract import openapi, typescript

SOURCE = typescript.FILE.parents[1]
INTERFACE = re.compile(r"^(?:export )?interface (\w+)[^{\n]*\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"^  readonly (\w+)\??:", re.MULTILINE)
LEAST = 4  # a shape with fewer fields, like a point, is like many

# These are read from JSON whose numbers and order of keys must be kept, into other types than those of JSON.parse.
READ = {
    ("Conflict", "ConflictOut"), ("Difference", "DiffOut"), ("Entry", "EntryOut"), ("Fault", "EvaluationFaultOut"),
    ("Finding", "DraftFindingOut"), ("LineChange", "TextLineOut"), ("Root", "RootOut"), ("Settings", "SettingsOut"),
}  # fmt: skip


def mirrors(text: str, schemas: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """The interfaces of a source whose fields are all those of one schema, with its name."""
    for name, body in INTERFACE.findall(text):
        fields = set(FIELD.findall(body))
        if len(fields) >= LEAST:
            yield from ((name, schema) for schema, known in schemas.items() if fields <= known)


def schemas_of(file: Path) -> dict[str, set[str]]:
    schemas = json.loads(file.read_text("utf-8"))["components"]["schemas"]
    return {name: set(schema["properties"]) for name, schema in schemas.items() if "properties" in schema}


def test_no_interface_repeats_a_schema() -> None:
    schemas = schemas_of(openapi.FILE)
    files = [path for path in SOURCE.rglob("*.ts*") if path != typescript.FILE]
    found = {each for path in files for each in mirrors(path.read_text("utf-8"), schemas)}
    assert found - READ == set(), "import the type from wire/contract.ts instead"
    assert READ - found == set(), "these are not declared any more: remove them here"


def test_an_interface_that_repeats_a_schema_is_found() -> None:
    text = "interface One {\n  readonly a: string;\n  readonly b?: number;\n  readonly c: null;\n  readonly d: string;\n}\n"
    assert list(mirrors(text, {"OneOut": {"a", "b", "c", "d", "e"}})) == [("One", "OneOut")]
    assert list(mirrors(text, {"OneOut": {"a", "b", "c"}})) == []
