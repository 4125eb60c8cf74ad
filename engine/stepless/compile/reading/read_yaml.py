"""Reads YAML 1.2 to JSON values, from the parser's events, without recursion and without objects of other types.

Plain scalars are text, except numbers, `true`, `false` and `null` (also capitalised, `~` and empty). Keys are always text: an
exit may be named `yes`, `on` or `null`, and `2024-01-31` is a text. An alias repeats a value, and each use counts against the
size limit as if it were written out. Otherwise nine lines could produce a billion values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from stepless.compile.reading.explain_yaml import OTHERWISE, explained
from stepless.compile.reading.read_json import bounded_float, bounded_int
from stepless.compile.reading.syntax import SyntaxFault, given_twice, too_deep
from stepless.limits import MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH, MAX_YAML_ALIASES
from stepless.model.json import JSON

_INT: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)")
_WORDS: Final[Mapping[str, JSON]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TEXT_TAGS: Final = ("!", "tag:yaml.org,2002:str")
_MERGE: Final = "<<"


def read_yaml(text: str) -> JSON:
    """Returns the one document in `text`. Raises `SyntaxFault`."""
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message, mend = explained(error, text)
        raise SyntaxFault(message, mark.line + 1 if mark else 0, mark.column + 1 if mark else 0, mend) from None
    except yaml.YAMLError as error:
        raise SyntaxFault(str(error).splitlines()[0], mend=OTHERWISE) from None
    return reader.root


class _Open:
    """A list or mapping that is being read. `key` is the key whose value comes next. `weight` is the size of its content."""

    __slots__ = ("value", "key", "anchor", "weight")

    def __init__(self, value: dict[str, JSON] | list[JSON], anchor: str | None) -> None:
        self.value = value
        self.key: str | None = None
        self.anchor = anchor
        self.weight = 1


class _Reader:
    def __init__(self) -> None:
        self.root: JSON = None
        self.open: list[_Open] = []
        self.anchors: dict[str, tuple[JSON, int]] = {}
        self.aliases = self.documents = self.weight = 0

    def take(self, event: Any) -> None:
        match event:
            case yaml.ScalarEvent() if self._expects_key:
                self._put_key(event)
            case yaml.ScalarEvent():
                self._put(_scalar(event), 1 + len(event.value), event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._start({} if isinstance(event, yaml.MappingStartEvent) else [], event)
            case yaml.CollectionEndEvent():
                self._end(event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    raise _fault(event, "a second document starts here", "Publish each document separately.")

    @property
    def _expects_key(self) -> bool:
        return bool(self.open) and self.open[-1].key is None and isinstance(self.open[-1].value, dict)

    def _put_key(self, event: Any) -> None:
        if event.value == _MERGE and event.implicit[0]:
            raise _fault(event, "`<<` (merging mappings) is not part of YAML 1.2", "Write the fields out.")
        if event.value in self.open[-1].value:
            raise given_twice(event.value, event.start_mark.line + 1, event.start_mark.column + 1)
        self.open[-1].key = event.value
        self.open[-1].weight += 1 + len(event.value)
        self._weigh(1 + len(event.value), event)

    def _put(self, value: JSON, weight: int, event: Any, anchor: str | None = None) -> None:
        """Adds a complete value to its parent."""
        if name := anchor or (event.anchor if isinstance(event, yaml.ScalarEvent) else None):
            self.anchors[name] = (value, weight)
        self._weigh(weight if isinstance(event, yaml.ScalarEvent | yaml.AliasEvent) else 1, event)
        if not self.open:
            self.root = value
            return
        parent = self.open[-1]
        parent.weight += weight
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is not None:
            parent.value[parent.key] = value
            parent.key = None

    def _start(self, value: dict[str, JSON] | list[JSON], event: Any) -> None:
        if self._expects_key:
            mend = 'Keys are text. A text that starts with `{{`, `{` or `[` needs quotes: `"{{ … }}"`.'
            raise _fault(event, "a key must not be a list or mapping", mend)
        if event.tag is not None:
            raise _tagged(event)
        self.open.append(_Open(value, event.anchor))
        if len(self.open) > MAX_DOCUMENT_DEPTH:
            raise too_deep(event.start_mark.line + 1, event.start_mark.column + 1)

    def _end(self, event: Any) -> None:
        done = self.open.pop()
        self._put(done.value, done.weight, event, done.anchor)

    def _alias(self, event: Any) -> None:
        if self._expects_key:
            raise _fault(event, "an alias cannot be a key", "Write the key out.")
        if event.anchor not in self.anchors:
            mend = "Define the anchor before the alias, and not around it."
            raise _fault(event, f"the alias `*{event.anchor}` has no anchor before it", mend)
        self.aliases += 1
        if self.aliases > MAX_YAML_ALIASES:
            raise _fault(event, f"more than {MAX_YAML_ALIASES} aliases", "Write the values out.")
        self._put(*self.anchors[event.anchor], event)

    def _weigh(self, weight: int, event: Any) -> None:
        self.weight += weight
        if self.weight > MAX_DOCUMENT_BYTES:
            raise _fault(event, f"with all aliases written out it has more than {MAX_DOCUMENT_BYTES} bytes", "Use fewer aliases.")


def _scalar(event: Any) -> JSON:
    text: str = event.value
    if event.tag is not None and event.tag not in _TEXT_TAGS:
        raise _tagged(event)
    if event.tag is not None or not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    try:
        if _INT.fullmatch(text):
            return bounded_int(text)
        return bounded_float(text) if _FLOAT.fullmatch(text) else text
    except SyntaxFault as fault:
        raise _fault(event, fault.message, fault.mend) from None


def _tagged(event: Any) -> SyntaxFault:
    return _fault(event, f"the tag `{str(event.tag)[:100]}` is not supported", "Leave it out; a document is plain JSON data.")


def _fault(event: Any, message: str, mend: str) -> SyntaxFault:
    return SyntaxFault(message, event.start_mark.line + 1, event.start_mark.column + 1, mend)
