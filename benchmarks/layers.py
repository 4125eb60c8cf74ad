"""The layers among which `profile.py` divides the time: which code belongs to which, and what each is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Final

PURPOSES: Final[Mapping[str, str]] = {
    "core: decide": "which events follow from a fact; inputs of a node; the order to run it",
    "core: fold": "the events applied to the state, through the code that also loads a log",
    "parameters and expressions": "a node's `with`, rendered for this attempt",
    "events as bytes": "a batch encoded; above 1 KB compressed",
    "session: step and loop": "the order decide, commit, dispatch, collect; retries; what may not be skipped between them",
    "session: open and leave": "the lease, the graph, the first facts; the header's last state",
    "attempt: task and clock": "a task of its own for the node's code, its deadline, its result as a fact",
    "attempt: call": "what the kind receives, and every outcome turned into a fact",
    "the kind": "`function`: its arguments and result checked and copied",
    "the function itself": "the author's code",
    "store: append": "the row of a batch, if the log ends before it; alone, with its transaction",
    "store: begin and commit": "one transaction for the commits of a turn of the event loop",
    "store: header": "created, read, changed with the release of its lease",
    "store: inbox": "the signals that were sent before the run began",
    "store: version": "the newest version of the workflow",
    "store: the file is in place": "one `stat` for each transaction: SQLite would go on writing to a deleted file",
    "group commit": "commits of many runs in one transaction, a future for each",
    "start": "inputs checked and encoded, the id of the run, the message",
    "event loop": "asyncio: its turns, timers, tasks",
    "benchmark": "the loop of the benchmark",
}


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer, or one of several by the text of the line that is executed."""

    default: str
    by_text: Mapping[str, str] = field(default_factory=dict)

    def name(self, line: Callable[[], str]) -> str:
        if self.by_text:
            text = line()
            for part, layer in self.by_text.items():
                if part in text:
                    return layer
        return self.default


_STORE: Final[Mapping[str, str]] = {
    "append": "store: append",
    "create_run": "store: header", "get_run": "store: header", "update_run": "store: header", "take_lease": "store: header",
    "_lease": "store: header", "_update": "store: header",
    "read_inbox": "store: inbox",
    "newest_version": "store: version", "get_version": "store: version",
    "together": "store: begin and commit",
}  # fmt: skip
_SESSION: Final[Mapping[str, str]] = {
    "__init__": "session: open and leave", "_first_facts": "session: open and leave", "_end": "session: open and leave",
    "_leave": "session: open and leave", "close": "session: open and leave", "_look": "session: open and leave",
    "_may_end_at_once": "session: open and leave", "_attempt": "attempt: task and clock", "_dispatch": "attempt: task and clock",
}  # fmt: skip

# By a part of the file's path, first match first: one layer for all its functions, or one by function with "" for the others.
# None: the layer is that of the caller.
_RULES: Final[tuple[tuple[str, str | Mapping[str, str | None] | None], ...]] = (
    ("stepless/core/stored/", "events as bytes"),
    ("stepless/model/stored/packing", "events as bytes"),
    ("stepless/core/fold", "core: fold"),
    ("stepless/core/folding/consequences", "core: fold"),
    ("stepless/core/folding/clocks", "core: fold"),
    ("stepless/core/branches", {"resolve": "core: fold", "carries": None, "carried": None, "": "core: decide"}),
    ("stepless/core/state", {"__init__": None, "at": None, "id": None, "": None}),
    ("stepless/core/history/waits", "session: open and leave"),
    ("stepless/core/values/masking", None),
    ("stepless/core/deciding/pauses", "session: step and loop"),
    ("stepless/core/", "core: decide"),
    ("stepless/compile/canonical", "start"),
    ("stepless/compile/", "parameters and expressions"),
    ("stepless/expressions/", "parameters and expressions"),
    ("stepless/adapters/bounds", None),
    ("stepless/adapters/sqlite/database", {"_found": "store: the file is in place", "check": "store: the file is in place",
                                           "transaction": "store: begin and commit", "": None}),
    ("stepless/adapters/sqlite/", {**_STORE, "": None}),
    ("stepless/adapters/memory/store", {**_STORE, "": None}),
    ("stepless/adapters/", None),
    ("stepless/ports/", None),
    ("stepless/model/", None),
    ("stepless/nodes/", "the kind"),
    ("stepless/runtime/commits", "group commit"),
    ("stepless/runtime/runlog", {"_append": "store: append", "encoded": "events as bytes", "_fitting": "events as bytes",
                                 "__init__": "session: open and leave", "": "session: step and loop"}),
    ("stepless/runtime/session/loop", {**_SESSION, "": "session: step and loop"}),
    ("stepless/runtime/session/execution/attempts", "attempt: task and clock"),
    ("stepless/runtime/session/execution/eager", "attempt: task and clock"),
    ("stepless/runtime/session/alarm", "attempt: task and clock"),
    ("stepless/runtime/session/arrivals", "attempt: task and clock"),
    ("stepless/runtime/session/execution/execute", {"__init__": None, "": "attempt: call"}),
    ("stepless/runtime/session/execution/tool_nodes", "attempt: call"),
    ("stepless/runtime/session/", "session: open and leave"),
    ("stepless/runtime/metering", "session: step and loop"),
    ("stepless/runtime/news", "session: step and loop"),
    ("stepless/runtime/billing", "session: open and leave"),
    ("stepless/runtime/inbox", "session: open and leave"),
    ("stepless/runtime/versions", None),
    ("stepless/runtime/", "start"),
    ("benchmarks/workloads", "the function itself"),
    ("benchmarks/", "benchmark"),
    ("asyncio/", "event loop"),
    ("/selectors", "event loop"),
)  # fmt: skip


def of(code: CodeType) -> Layer | None:
    """The layer of a function; None if its time is its caller's."""
    path, name = code.co_filename.replace("\\", "/"), code.co_name
    for part, rule in _RULES:
        if part in path:
            found = rule if rule is None or isinstance(rule, str) else rule.get(name, rule[""])
            return None if found is None else Layer(found)
    return None
