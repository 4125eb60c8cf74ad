"""Converts texts with `{{ … }}` to values of documents. A text is a template only if it begins with `=`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Final

from stepless.compile.canonical import json_findings
from stepless.imports.escaping import escaped
from stepless.imports.n8n.export import SECRET, Block
from stepless.imports.n8n.references import Code, References
from stepless.imports.sim.reference_translation import Read, Unread
from stepless.imports.sim.values import Unreadable, deeper_than
from stepless.limits import MAX_IMPORT_FIELD_DEPTH
from stepless.model.json import JSON

_PIECE: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_MARK: Final = re.compile("\ue002([0-9]+)\ue003")  # the place of a piece in JSON text
_QUOTES: Final = re.compile(r'\\.|"', re.DOTALL)


class Templates:
    """The texts of one node."""

    def __init__(self, block: Block, references: References) -> None:
        self._block, self._references = block, references

    def value(self, value: JSON, path: str) -> JSON:
        """Returns any JSON value with its texts translated."""
        if isinstance(value, list):
            return [self.value(item, path) for item in value]
        if isinstance(value, dict):
            return {key: self.value(item, path) for key, item in value.items()}
        if not isinstance(value, str):
            return value
        if not value.startswith("="):
            return self._plain(value)
        return self._filled(value[1:], path)

    def json(self, text: str, path: str) -> JSON:
        """Returns the value of a text that is JSON, in which pieces stand for values or for parts of texts. Raises
        `Unreadable`."""
        body = text[1:] if text.startswith("=") else text
        pieces = _PIECE.findall(body) if text.startswith("=") else []
        if len(pieces) == 1 and _PIECE.fullmatch(body.strip()):
            return self._whole(pieces[0], path)
        bare: set[int] = set()
        try:
            read = json.loads("".join(_marked(body, pieces, bare)) if pieces else body, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"it is not JSON: {error}") from None
        if deeper_than(read, MAX_IMPORT_FIELD_DEPTH) or next(iter(json_findings(read)), None) is not None:
            raise Unreadable("it is nested too deeply, or contains a value that is not JSON")
        return self._unmarked(read, lambda place: pieces[place], bare, path)

    def expression(self, value: JSON, path: str) -> str:
        """Returns the value as an expression."""
        if isinstance(value, str) and value.startswith("="):
            found = _PIECE.fullmatch(value[1:].strip())
            if found is not None:
                code = self._references.code(self._block, path, found[1])
                return code.expression or "null"
            parts = [self._part(part, path) for part in _split(value[1:])]
            return f'join([{", ".join(parts)}], "")'
        return _literal(value)

    # -- pieces -------------------------------------------------------------------------------------------------------

    def _part(self, part: tuple[str, bool], path: str) -> str:
        text, is_code = part
        if not is_code:
            return _literal(text)
        return f"str({self._references.code(self._block, path, text).expression or 'null'})"

    def _filled(self, body: str, path: str) -> JSON:
        whole = _PIECE.fullmatch(body.strip())
        if whole is not None and "{{" not in whole[1]:
            return self._whole(whole[1], path)
        return "".join(self._inner(text, path) if is_code else self._plain(text) for text, is_code in _split(body))

    def _whole(self, source: str, path: str) -> JSON:
        """A piece that is the whole value."""
        code = self._references.code(self._block, path, source)
        return None if isinstance(code.read, Unread) else _template(code)

    def _inner(self, source: str, path: str) -> str:
        """A piece within a text."""
        code = self._references.code(self._block, path, source)
        return "" if isinstance(code.read, Unread) else _template(code)

    def _plain(self, text: str) -> str:
        return escaped(text, self._references.known)

    def _unmarked(self, value: JSON, source: Callable[[int], str], bare: set[int], path: str) -> JSON:
        if isinstance(value, list):
            return [self._unmarked(item, source, bare, path) for item in value]
        if isinstance(value, dict):
            return {_MARK.sub(lambda found: source(int(found[1])), key): self._unmarked(item, source, bare, path)
                    for key, item in value.items()}  # fmt: skip
        if not isinstance(value, str):
            return value
        whole = _MARK.fullmatch(value)
        if whole is not None and int(whole[1]) in bare:
            return self._whole(source(int(whole[1])), path)
        if whole is not None:
            code = self._references.code(self._block, path, source(int(whole[1])))
            return f"{{{{ str({code.expression}) }}}}" if code.expression else ""
        pieces, at = [], 0
        for found in _MARK.finditer(value):
            pieces += [self._plain(value[at : found.start()]), self._inner(source(int(found[1])), path)]
            at = found.end()
        return "".join([*pieces, self._plain(value[at:])])


def _template(code: Code) -> str:
    return code.read.template() if isinstance(code.read, Read) else f"{{{{ {code.expression} }}}}"


def _split(body: str) -> Iterator[tuple[str, bool]]:
    """The text between pieces, and the code in them."""
    at = 0
    for found in _PIECE.finditer(body):
        if found.start() > at:
            yield body[at : found.start()], False
        yield found[1], True
        at = found.end()
    if at < len(body):
        yield body[at:], False


def _marked(body: str, pieces: list[str], bare: set[int]) -> Iterator[str]:
    """The JSON text with a mark for each piece; `bare` gets the numbers of those that stand outside of quotes."""
    is_text, place = False, 0
    for text, is_code in _split(body):
        if not is_code:
            is_text ^= sum(found[0] == '"' for found in _QUOTES.finditer(text)) % 2 == 1
            yield text
            continue
        mark = f"\ue002{place}\ue003"
        if not is_text:
            bare.add(place)
        yield mark if is_text else f'"{mark}"'
        place += 1


def _literal(value: JSON) -> str:
    """A JSON value as an expression without references."""
    if isinstance(value, str):
        written = json.dumps(value, ensure_ascii=False)
        return written.replace("<", "\\x3c").replace("$", "\\x24")
    return json.dumps(value, ensure_ascii=False)


def _no_constant(text: str) -> JSON:
    raise ValueError(f"{text} is not JSON")


def with_secrets(value: JSON, variable: Callable[[str], str]) -> JSON:
    """Returns the value with each mark of a replaced secret as `${NAME}`."""
    if isinstance(value, str):
        return SECRET.sub(lambda found: variable(found[1]), value)
    if isinstance(value, list):
        return [with_secrets(item, variable) for item in value]
    return {key: with_secrets(item, variable) for key, item in value.items()} if isinstance(value, dict) else value
