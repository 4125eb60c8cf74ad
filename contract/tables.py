"""Writes console/src/wire/tables: what the console has of the engine's tables of kinds, statuses, webhook schemes and limits.

    make contract

Each file is a copy of one table, with what the console reads of its rows. A test compares the files with what this script makes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "console" / "src" / "wire" / "tables"
WIDTH: Final = 140
NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
LIMITS: Final = ("MAX_KEYWORDS", "MAX_SEARCH_TEXT_CHARACTERS", "MAX_SOCKET_MESSAGE_BYTES", "DRAFT_READ_ITEMS")
GENERATED: Final = "Generated from engine/stepless/{source} by contract/tables.py: `make contract`."


def kinds() -> str:
    """The kinds that are part of the engine; those of plug-ins are told by `GET /kinds`."""
    from stepless.model.kind import Group
    from stepless.nodes import KINDS

    listed = KINDS.values()
    groups = {group.value: " ".join(kind.name for kind in listed if kind.listed_in is group) for group in Group}
    exits = {kind.name: list(kind.exits(kind.params.model_construct())) for kind in listed if not kind.branches}
    return _file(
        "nodes", "What is shown of each kind of node.",
        _record("GROUPS", groups, "string", "The kinds by the group of the palette that lists them, both in order."),
        _record("BRIEFS", {kind.name: " ".join(kind.brief) for kind in listed if kind.brief}, "string",
                "The parameters by which people tell a node from others of its kind."),
        _record("BRANCHES", {kind.name: kind.branches for kind in listed if kind.branches}, "string",
                "The parameter whose keys are exits."),
        _record("EXITS", {name: " ".join(given) for name, given in exits.items() if len(given) > 1}, "string",
                "The exits of kinds that have several, in order."),
        _record("ICONS", {kind.name: kind.icon for kind in listed}, "", "Marks of 16 px, drawn with one line."),
    )  # fmt: skip


def statuses() -> str:
    from stepless.model.runs.statuses import ENDED, NODE_STATUSES, RUN_STATUSES, STORED, Tone

    both = {**RUN_STATUSES, **NODE_STATUSES}
    tones = list(Tone)
    live_first = {name: row.is_end is (row.tone is not Tone.FAILED) for name, row in both.items()}
    urgent = sorted(both, key=lambda name: (both[name].tone is not Tone.FAILED, live_first[name], tones.index(both[name].tone)))
    hues = {name: row.tone.value for name, row in both.items() if row.tone not in (Tone.NEW, Tone.QUIET)}
    return _file(
        "model/runs/statuses.py", "The statuses of runs and of nodes.",
        _list("STORED", STORED, "By which runs can be listed."),
        _list("ENDED", [name for name in RUN_STATUSES if name in ENDED], "After which nothing follows in a run."),
        _list("NODE_STATUSES", list(NODE_STATUSES), "Those of an instance of a node."),
        _list("URGENCY", urgent, "Those of runs and of nodes, the first of which a person must see first."),
        _record("TONES", hues, "", "What a status means at a glance; the others are quiet."),
    )  # fmt: skip


def schemes() -> str:
    """The schemes that a page can sign with what it knows of a request: the time, the body and a delivery id of its own."""
    from stepless.model.triggers.webhook_schemes import SCHEMES, Scheme

    def is_signed_here(row: Scheme) -> bool:
        known = {"timestamp", "body", "id"} >= set(row.signs) and (row.timestamp is None or row.timestamp.kind != "body")
        return known and (row.proof, row.algorithm) == ("hmac", "sha256")

    def fields(row: Scheme) -> dict[str, object]:
        time = row.timestamp
        item = f"{time.name}={{timestamp}}{row.separator}" if time is not None and time.kind == "item" else ""
        given: dict[str, object] = {
            "sender": row.sender, "header": row.header, "template": row.template, "prefix": item + row.prefix,
            "timestamp": time.name if time is not None and time.kind == "header" else "",
            "delivery": row.delivery.name if row.delivery is not None and row.delivery.kind == "header" else "",
            "base64": row.encoding == "base64", "whsec": row.key == "whsec", "milliseconds": row.milliseconds,
        }  # fmt: skip
        return {field: value for field, value in given.items() if value}

    rows = {name: fields(row) for name, row in SCHEMES.items() if is_signed_here(row)}
    return _file(
        "model/triggers/webhook_schemes.py", "How senders of webhooks sign, as far as a page can do it.",
        _record("SCHEMES", rows, "", "By the name that a document writes."),
    )  # fmt: skip


def limits() -> str:
    from stepless import limits

    rows = (f"\nexport const {name} = {getattr(limits, name):_};" for name in LIMITS)
    return _file("limits.py", "Limits of the server that the pages know of.", *rows) + "\n"


def _file(source: str, about: str, *tables: str) -> str:
    return f"/** {about} {GENERATED.format(source=source)} */\n" + "".join(tables)


def _record(name: str, fields: Mapping[str, object], type: str, about: str) -> str:
    pairs = (f"{key if NAME.fullmatch(key) else json.dumps(key)}: {_value(value)}" for key, value in fields.items())
    typed = f"export const {name}: Readonly<Record<string, {type}>> = {{" if type else f"export const {name} = {{"
    return f"\n/** {about} */\n{typed}\n{_lines(pairs)}\n}}{'' if type else ' as const'};\n"


def _list(name: str, items: Iterable[str], about: str) -> str:
    return f"\n/** {about} */\nexport const {name} = [\n{_lines(map(_value, items))}\n] as const;\n"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name}: {_value(one)}' for name, one in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def _lines(parts: Iterable[str]) -> str:
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) + 2 <= WIDTH:
            lines[-1] += f" {part},"
        else:
            lines.append(f"  {part},")
    return "\n".join(lines)


FILES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType({
    "kinds.ts": kinds, "statuses.ts": statuses, "schemes.ts": schemes, "limits.ts": limits,
})

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "engine"))
    FOLDER.mkdir(exist_ok=True)
    for file, make in FILES.items():
        (FOLDER / file).write_text(make(), "utf-8")
