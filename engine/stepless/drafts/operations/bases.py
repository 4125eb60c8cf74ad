"""Reads and writes the base of a draft: what it is compared with, saved to and published over. The head names it, and a blob has
its content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stepless.compile.patching import composed
from stepless.drafts.log.heads import base_of
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.drafts.rules.diff import aligned
from stepless.drafts.rules.state import Entities
from stepless.model.json import JSON
from stepless.ports import DraftHead


class Base(NamedTuple):
    """`version` and `file` name it; neither: it is a document that was sent, or nothing. `seq` is the item of the draft as of
    which it was the base first. `newest` is the newest version then (0: none). `conflicts` are the differences of a file or
    version that the draft has not taken, until a person decides (`incoming`)."""

    version: int | None
    file: str | None
    document: Mapping[str, JSON]
    text: str | None
    layout: Mapping[str, JSON] | None
    seq: int
    newest: int
    conflicts: Sequence[Mapping[str, Any]]

    @property
    def name(self) -> str:
        return self.file or (f"version {self.version}" if self.version is not None else "")

    def shown(self) -> dict[str, JSON]:
        """Returns the base for a reader: `{version?, file?}`."""
        names = {"version": self.version, "file": self.file}
        return {name: value for name, value in names.items() if value is not None}

    def as_text(self) -> str:
        return self.text if self.text is not None else composed(self.document)


def read_base(verbs: DraftVerbs, head: DraftHead) -> Base:
    """Returns the base of a draft. Raises `StoreUnusable` (draft_damaged)."""
    told: Any = base_of(head)
    found = verbs.origins.read(head.workflow_id, told)
    version = told.get("version")
    return Base(
        version, told.get("file"), found.document, found.text, found.layout, told.get("seq", 0), told.get("newest", version or 0),
        verbs.origins.kept(head.workflow_id, told).get("conflicts") or (),
    )


def move_base(verbs: DraftVerbs, head: DraftHead, base: Base) -> bool:
    """Makes this the base of a draft. False, and no change, if the base is another one than `head` has by now."""
    content = {
        "document": base.document, "text": base.text, "layout": base.layout, "conflicts": list(base.conflicts),
    }  # fmt: skip
    told: dict[str, JSON] = {**base.shown(), "blob": verbs.origins.keep(head.workflow_id, content)}
    counts = {"seq": base.seq, "newest": base.newest, "conflicts": len(base.conflicts)}
    told |= {name: value for name, value in counts.items() if value}
    return verbs.drafting.move_base(head, told)


def entities_of_base(verbs: DraftVerbs, head: DraftHead, base: Base, state: Entities) -> Entities:
    """Returns the entities of the base under the keys that the draft has for the same things; `state` is the draft as of
    `base.seq`, or as near to it as is known."""
    return Entities(aligned(state, base.document, f"{head.epoch} base {base.seq}", verbs.origins.is_container))


def state_of_base(verbs: DraftVerbs, head: DraftHead, base: Base, state: Entities, seq: int) -> Entities:
    """Returns the same for a draft that is known as of another item."""
    near = state if base.seq == seq else verbs.drafting.state_at(head, base.seq)
    return entities_of_base(verbs, head, base, near)


def standing(verbs: DraftVerbs, head: DraftHead) -> dict[str, JSON]:
    """Returns facts about a draft for its readers: the newest version, how many conflicts wait for a person, and whether it can
    be saved: to which file, and whether that differs from what the draft was last read from or saved to."""
    newest = verbs.world.store.newest_version(head.workflow_id)
    made: dict[str, JSON] = {
        "newest": newest.number if newest is not None else None, "conflicts": base_of(head).get("conflicts", 0),
        "save": {"possible": verbs.files is not None, "file": None, "differs": False},
    }  # fmt: skip
    if verbs.files is not None:
        name = base_of(head).get("file")
        found = verbs.files.holding(head.workflow_id)
        differs = name is not None and verbs.files.read(name) != read_base(verbs, head).text
        made["save"] |= {"file": name or (found[0] if len(found) == 1 else None), "differs": differs}
    return made
