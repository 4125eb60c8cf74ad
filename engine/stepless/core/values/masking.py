"""Replaces secrets in texts by `***`: verbatim, and in common encodings (JSON, nested JSON, URLs, Python quotes, base64). Also
replaces a number whose text is a secret.

In data, only whole secrets are replaced, so that data does not change by chance. Messages are cut to a length, so the beginning
of a secret is replaced there too.
"""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from stepless.limits import MAX_INTEGER_BITS, MIN_ENCODED_SECRET_BYTES, MIN_SECRET_CHARACTERS

HIDDEN: Final = "***"
_BEGINNING: Final = 8  # characters of a secret that are masked in a message: fewer are a common prefix (`sk-live`) or a word
_JSON_LEVELS: Final = 4  # a text in JSON, in a text in JSON, and so on
_WORDS: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._")
_KEPT_IN_URLS: Final = (  # the characters that each URL encoder leaves unchanged
    _WORDS | frozenset(b"~"),  # RFC 3986, Python's quote(safe="")
    _WORDS | frozenset(b"~/"),  # Python's quote
    _WORDS | frozenset(b"~!*'()"),  # JavaScript's encodeURIComponent
    _WORDS | frozenset(b"~!*'();,/?:@&=+$#"),  # JavaScript's encodeURI
    _WORDS | frozenset(b"*"),  # forms of browsers, URLSearchParams
)


class Mask:
    """Masks a set of secrets. Ignores values shorter than MIN_SECRET_CHARACTERS. Its `repr` shows no secret."""

    __slots__ = ("_forms", "_numbers")

    def __init__(self, secrets: Iterable[str]) -> None:
        hidden = [secret for secret in secrets if len(secret) >= MIN_SECRET_CHARACTERS]
        forms = {form for secret in hidden for form in _forms(secret)}
        self._numbers = frozenset(text for secret in hidden for text in _as_numbers(secret))
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))  # a longer one goes before one that it contains

    def __bool__(self) -> bool:
        return bool(self._forms)

    def text(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        return text

    def message(self, text: str) -> str:
        """Returns `text` with every secret masked, including the beginning of a secret that was cut off."""
        text = self.text(text)
        for form in self._forms:
            least = form.find("://") + 3 + _BEGINNING if "://" in form else _BEGINNING  # `https://` is not secret
            if len(form) > least:
                text = _without_beginning(text, form, least)
        return text

    def value(self, value: Any, *, numbers: bool = True) -> Any:
        """Returns a JSON value with every secret in its texts and keys masked; with `numbers`, also numbers whose text is a
        secret."""
        if not self._forms:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item, numbers=numbers) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item, numbers=numbers) for item in value]
        return HIDDEN if numbers and self._numbers and self._is_number(value) else value

    def _is_number(self, value: Any) -> bool:
        """Whether `value` is a number whose text is a secret."""
        if type(value) is float:
            return repr(value) in self._numbers or (value.is_integer() and self._is_number(int(value)))
        return type(value) is int and value.bit_length() <= MAX_INTEGER_BITS and str(value) in self._numbers

    def held(self, text: str) -> int:
        """Returns how many characters at the end of a streamed text may begin a secret: hold them back until more text
        arrives."""
        longest = max((len(form) for form in self._forms), default=1) - 1
        for count in range(min(longest, len(text)), 0, -1):
            end = text[-count:]
            if any(form.startswith(end) for form in self._forms if len(form) > count):
                return count
        return 0


@lru_cache(maxsize=64)
def mask_for(secrets: frozenset[str]) -> Mask:
    """Returns the mask of these secrets, cached: every decision needs it."""
    return Mask(secrets)


NO_MASK = Mask(())  # of a run without secrets


def _without_beginning(text: str, form: str, least: int) -> str:
    start = text.find(form[:least])
    while start >= 0:
        end = start + least
        while end < len(text) and end - start < len(form) and text[end] == form[end - start]:
            end += 1
        text = text[:start] + HIDDEN + text[end:]
        start = text.find(form[:least], start + len(HIDDEN))
    return text


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield repr(secret)[1:-1]
    level = {secret}
    for _ in range(_JSON_LEVELS):
        level = {json.dumps(form, ensure_ascii=ascii)[1:-1] for form in level for ascii in (True, False)}
        yield from level
    data = secret.encode("utf-8", "surrogatepass")
    for kept in _KEPT_IN_URLS:
        quoted = "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in data)
        yield quoted
        yield quoted.replace("%20", "+")
        yield "".join(chr(byte) if byte in kept else f"%{byte:02x}" for byte in data)
    if len(data) >= MIN_ENCODED_SECRET_BYTES:
        yield from _in_base64(data)


def _as_numbers(secret: str) -> Iterator[str]:
    """If a secret is a number, its texts: as given, and as parsed and formatted again."""
    try:
        number = json.loads(secret)
    except (ValueError, RecursionError):
        return
    if type(number) is int or type(number) is float:
        yield from (text for text in (secret, repr(number)) if len(text) >= MIN_SECRET_CHARACTERS)


def _in_base64(data: bytes) -> Iterator[str]:
    """The part of `data` in base64 that does not depend on the bytes around it (`Basic …` encodes `user:password`)."""
    for before, skipped in ((0, 0), (1, 2), (2, 3)):
        whole = (before + len(data)) * 8 // 6
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(bytes(before) + data).decode()[skipped:whole]
