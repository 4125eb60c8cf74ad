"""Declares the requests and responses of the routes for the text, the history and the versions of a draft."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from stepless.api.requests import Body
from stepless.limits import (
    MAX_COUNT,
    MAX_DOCUMENT_BYTES,
    MAX_FILE_NAME_CHARACTERS,
    MAX_HISTORY_ENTRIES,
    MAX_KEY_CHARACTERS,
    MAX_VERSION,
    MAX_VERSION_MESSAGE_CHARACTERS,
)

Seq = Annotated[int, Field(ge=0, le=MAX_COUNT)]


class TextOut(TypedDict):
    """`text` is the draft after item `seq`, as its author writes it. `format` is the language of the text."""

    epoch: int
    seq: int
    format: Literal["yaml", "json"]
    text: str


class GesturesOut(TypedDict):
    """Gestures over the draft after item `seq`, in the form of an intent. They are not committed: a client sends them, so that
    they have a place in its queue, and can be undone."""

    epoch: int
    seq: int
    gestures: list[dict[str, Any]]


class NodeChangeOut(TypedDict):
    """`path` has the ids of the node and of the containers around it, the outermost first. `fields` are the values that differ;
    without `before` there was none, without `after` there is none."""

    change: Literal["added", "removed", "changed", "moved"]
    path: list[str]
    key: str
    former_id: NotRequired[str]
    fields: list[dict[str, Any]]


class TextLineOut(TypedDict):
    """`op` is `-` and `+` for lines of one text only, a space for lines of both, `…` for lines that are left out. `before` and
    `after` are the numbers of the line in the two texts, from 1."""

    op: Literal[" ", "-", "+", "…"]
    before: NotRequired[int]
    after: NotRequired[int]
    text: str


class DiffOut(TypedDict):
    epoch: int
    seq: int
    against: dict[str, Any]
    nodes: list[NodeChangeOut]
    document: list[dict[str, Any]]
    lines: list[TextLineOut]


EntryOut = TypedDict(
    "EntryOut", {
        "from": int, "to": int, "at": str, "until": str, "by": str, "changes": list[dict[str, Any]], "refused": NotRequired[int],
    },
)  # fmt: skip
EntryOut.__doc__ = """What one person did without a pause of five minutes: the items `from` to `to`. `refused` counts gestures
that had no effect."""


class HistoryOut(TypedDict):
    """The newest entry is the first. `next_before` continues the list; null at its end."""

    epoch: int
    entries: list[EntryOut]
    next_before: int | None


class PublishedDraftOut(TypedDict):
    version: int
    hash: str
    seq: int
    warnings: list[dict[str, Any]]


class TextBody(Body):
    """`text` was typed over the draft after item `seq`."""

    seq: Seq
    text: str = Field(max_length=MAX_DOCUMENT_BYTES)


class RestoreBody(Body):
    """Either a version, or an item of the log."""

    version: Annotated[int | None, Field(ge=1, le=MAX_VERSION)] = None
    seq: Seq | None = None


class PublishBody(Body):
    seq: Seq
    message: str = Field("", max_length=MAX_VERSION_MESSAGE_CHARACTERS)


class SavedDraftOut(TypedDict):
    """`hash` is SHA-256 of the text of the file, in hexadecimal."""

    file: str
    hash: str
    seq: int


class SaveBody(Body):
    seq: Seq
    file: Annotated[str | None, Field(min_length=1, max_length=MAX_FILE_NAME_CHARACTERS)] = None


class DiffQuery(Body):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    against: Annotated[str, Field(pattern=r"^(base|[1-9][0-9]{0,8})$")] = "base"
    seq: Seq | None = None


class HistoryQuery(Body):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    before: Annotated[int | None, Field(ge=1, le=MAX_COUNT)] = None
    limit: Annotated[int, Field(ge=1, le=MAX_HISTORY_ENTRIES)] = 50


ConflictOut = TypedDict(
    "ConflictOut", {"key": str, "id": str, "path": list[str], "base": Any, "draft": Any, "file": Any, "from": str},
)  # fmt: skip
ConflictOut.__doc__ = """A difference of a file or a version that the draft has not taken, since it has changed the same place:
what stood there before, what the draft has now, and what the file has. The path leads into the entity `key`; an empty one is
all of it."""


class ConflictsOut(TypedDict):
    epoch: int
    seq: int
    conflicts: list[ConflictOut]


class ConflictBody(Body):
    key: str = Field(max_length=2 * MAX_KEY_CHARACTERS)
    path: list[str] = Field(max_length=200)
    take: Literal["draft", "file"]
