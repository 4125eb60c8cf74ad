"""Writes engine/stepless/client/contract.py: the responses that `stepless.client` returns, and the filters of a list of runs.

    make contract

Each schema that one of the operations below answers with is a `TypedDict` of the same name. A test compares the file with what
this script makes; it needs nothing but contract/openapi.json.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
FILE: Final = ROOT / "engine" / "stepless" / "client" / "contract.py"
WIDTH: Final = 120
OPERATIONS: Final = ("start_run", "read_run", "list_runs", "replay_events", "answer_pause", "rerun_run",
                     "send_message")  # what the client calls
FILTERS: Final = ("list_runs", "RunFilters")
PAGING: Final = ("limit", "cursor")  # the client reads the pages by itself
PRIMITIVES: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD: Final = '''\
"""Declares the responses of the API that the client returns. Generated from contract/openapi.json: `make contract`.

At run time they are plain dictionaries: a field that a later server adds is there, and nothing is checked.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
'''

Schema = Mapping[str, Any]


def render() -> str:
    document = json.loads((ROOT / "contract" / "openapi.json").read_text("utf-8"))
    schemas, operations = document["components"]["schemas"], dict(_operations(document["paths"]))
    wanted = _reached(schemas, (operations[name]["responses"] for name in OPERATIONS))
    parts = [_filters(operations[FILTERS[0]]), *(_class(name, schemas[name]) for name in sorted(wanted))]
    return "\n\n".join([HEAD, *parts])


def _operations(paths: Mapping[str, Mapping[str, Schema]]) -> Iterator[tuple[str, Schema]]:
    for methods in paths.values():
        for operation in methods.values():
            yield operation["operationId"], operation


def _reached(schemas: Mapping[str, Schema], roots: Iterable[Any]) -> set[str]:
    """The names of the schemas that these parts of the document mention, directly or by another schema."""
    reached, open_parts = set[str](), list(roots)
    while open_parts:
        part = open_parts.pop()
        if isinstance(part, Mapping):
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name and name not in reached:
                reached.add(name)
                open_parts.append(schemas[name])
            open_parts += part.values()
        elif isinstance(part, list):
            open_parts += part
    return reached


def _filters(operation: Schema) -> str:
    fields = {
        one["name"]: _type(one["schema"])
        for one in operation["parameters"]
        if one["in"] == "query" and one["name"] not in PAGING and not one["schema"].get("deprecated")
    }
    return _body(FILTERS[1], fields, "The filters of `GET /runs`: a run must match all that are given.", total=False)


def _class(name: str, schema: Schema) -> str:
    required = schema.get("required", ())
    fields = {
        field: _type(one) if field in required else f"NotRequired[{_type(one)}]" for field, one in schema["properties"].items()
    }
    return _body(name, fields, schema.get("description", ""))


def _body(name: str, fields: Mapping[str, str], about: str, *, total: bool = True) -> str:
    if any(keyword.iskeyword(field) for field in fields):  # such a field can only be declared by a call, whose types are values
        entries = ", ".join(f'"{field}": {json.dumps(kind)}' for field, kind in fields.items())
        lines = list(_wrapped(f'{name} = TypedDict("{name}", {{', entries.split(", "), "})"))
        return "\n".join([*lines, *([_doc(about, "", f"{name}.__doc__ = ")] if about else []), ""])
    lines = [f"class {name}(TypedDict{'' if total else ', total=False'}):"]
    lines += [f"    {_doc(about, '    ')}", ""] if about else []
    return "\n".join([*lines, *(f"    {field}: {kind}" for field, kind in fields.items()), ""])


def _wrapped(head: str, entries: Iterable[str], tail: str) -> Iterator[str]:
    yield head
    yield from (f"    {entry}," for entry in entries)
    yield tail


def _doc(text: str, indent: str, assigned: str = "") -> str:
    words = text.replace("\\", "\\\\").replace('"""', "'''").split()
    lines, line = list[str](), f'{assigned}"""'
    for word in words:
        if len(line) + len(word) + 1 + len(indent) > WIDTH:
            lines.append(line)
            line = indent + word
        else:
            line += word if line.endswith('"""') else f" {word}"
    return "\n".join([*lines, f'{line}"""'])


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(each) for each in schema['enum'])}]"
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties", {})
        return f"dict[str, {_type(values) if isinstance(values, Mapping) else 'Any'}]"
    return PRIMITIVES.get(str(kind), "Any")


if __name__ == "__main__":
    FILE.write_text(render(), "utf-8")
