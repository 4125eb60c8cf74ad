"""Adds to errors of nodes the line of the source that the node was compiled from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from stepless.compile.source_lines import Sources
from stepless.core.history.trace import NodeRecord
from stepless.errors import EngineBug
from stepless.model.json import JSON
from stepless.ports import RunHead
from stepless.runtime.world import World

SOURCE = "source"


@dataclass(slots=True)
class SourceLines:
    """The source lines of nodes of one run, and of the child runs that its errors come from. Documents are loaded when an error
    asks for them, each once."""

    world: World
    head: RunHead
    _sources: dict[str, Sources | None] = field(default_factory=dict)
    _known: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def error(self, error: Mapping[str, JSON] | None) -> Mapping[str, JSON] | None:
        """Returns the error with `source`, as `refund.py:27: receipt = await pay(order.id)`, if its node was compiled from
        source."""
        node = error.get("node") if error is not None else None
        if error is None or not isinstance(node, str):
            return error
        source = self._source(str(error.get("run", self.head.run_id)), node.partition("@")[0])
        return error if source is None else {**error, SOURCE: source}

    def records(self, records: Iterable[NodeRecord]) -> list[NodeRecord]:
        """Returns the records, with the lines of their errors."""
        return [record if record.error is None else replace(record, error=self._of(record)) for record in records]

    def _of(self, record: NodeRecord) -> Mapping[str, JSON] | None:
        source = self._source(self.head.run_id, record.node)
        return record.error if source is None or record.error is None else {**record.error, SOURCE: source}

    def _source(self, run_id: str, node: str) -> str | None:
        key = run_id, node
        if key not in self._known:
            sources = self._read(run_id)
            self._known[key] = None if sources is None else sources.line(node)
        return self._known[key]

    def _read(self, run_id: str) -> Sources | None:
        if run_id not in self._sources:
            head = self.head if run_id == self.head.run_id else self.world.store.get_run(run_id)
            try:
                found = None if head is None else self.world.versions.document(head.workflow_id, head.version)
            except EngineBug:  # an erased child run names no version
                found = None
            self._sources[run_id] = None if found is None else Sources(found)
        return self._sources[run_id]
