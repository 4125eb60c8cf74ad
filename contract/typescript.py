"""Writes console/src/wire/contract.ts: the requests and responses of contract/openapi.json as TypeScript.

    make contract

Each schema of the document is an interface of the same name. The query and the body of an operation are interfaces named after
it, like `ListRunsQuery`. A test compares the file with what this script makes; it needs neither Node.js nor the engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
FILE: Final = ROOT / "console" / "src" / "wire" / "contract.ts"
WIDTH: Final = 120
NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
PRIMITIVES: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
HEAD: Final = """\
/** Requests and responses of the API. Generated from contract/openapi.json by contract/typescript.py: `make contract`. */
/* eslint max-lines: "off" -- generated, and only types */
"""

Schema = Mapping[str, Any]


def render() -> str:
    document = json.loads((ROOT / "contract" / "openapi.json").read_text("utf-8"))
    return "\n".join([HEAD, *_requests(document["paths"]), *_schemas(document["components"]["schemas"])]).rstrip() + "\n"


def _schemas(schemas: Mapping[str, Schema]) -> Iterator[str]:
    for name, schema in sorted(schemas.items()):
        if "properties" in schema:
            yield from _interface(name, schema["properties"], schema.get("required", ()), schema.get("description", ""))
        else:
            yield f"export type {name} = {_type(schema)};\n"


def _requests(paths: Mapping[str, Mapping[str, Schema]]) -> Iterator[str]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            name = "".join(part.capitalize() for part in operation["operationId"].split("_"))
            asked = f"{method.upper()} {path}"
            if query := [one for one in operation.get("parameters", ()) if one["in"] == "query"]:
                schemas = {one["name"]: one["schema"] for one in query}
                needed = [one["name"] for one in query if one.get("required")]
                yield from _interface(f"{name}Query", schemas, needed, f"The query of `{asked}`.")
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            if "properties" in body:
                yield from _interface(f"{name}Body", body["properties"], body.get("required", ()), f"The body of `{asked}`.")


def _interface(name: str, fields: Mapping[str, Schema], required: Any, about: str) -> Iterator[str]:
    yield from _comment(about)
    yield f"export interface {name} {{"
    for field, schema in fields.items():
        key = field if NAME.fullmatch(field) else json.dumps(field)
        yield f"  readonly {key}{'' if field in required else '?'}: {_type(schema)};"
    yield "}\n"


def _comment(text: str) -> Iterator[str]:
    words = text.replace("*/", "* /").split()
    lines, line = list[str](), ""
    for word in words:
        if line and len(line) + len(word) + 4 > WIDTH:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".lstrip()
    lines += [line] if line else []
    if len(lines) == 1:
        yield f"/** {lines[0]} */"
    elif lines:
        yield from ("/**", *(f" * {one}" for one in lines), " */")


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return f"readonly {_inner(_element(schema))}"
    if kind == "object":
        return _object(schema)
    return PRIMITIVES.get(str(kind), "unknown")


def _element(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(each) for each in schema['prefixItems'])}]"
    return _type(schema.get("items", {}))


def _inner(element: str) -> str:
    if element.startswith("["):
        return element
    return f"({element})[]" if " " in element else f"{element}[]"


def _object(schema: Schema) -> str:
    if "properties" in schema:
        required = schema.get("required", ())
        fields = (f"readonly {name}{'' if name in required else '?'}: {_type(one)}" for name, one in schema["properties"].items())
        return f"{{ {'; '.join(fields)} }}"
    values = schema.get("additionalProperties", {})
    return f"Readonly<Record<string, {_type(values) if isinstance(values, Mapping) else 'unknown'}>>"


if __name__ == "__main__":
    FILE.write_text(render(), "utf-8")
