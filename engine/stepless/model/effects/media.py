"""Defines the media that a node streams in addition to text: references by URL, without the content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from stepless.limits import MAX_MEDIA_TYPE_CHARACTERS, MAX_URL_CHARACTERS
from stepless.model.work import NodeFailure

Media: TypeAlias = Mapping[str, str]
"""`type` (image, audio, video, file), `url` and `mime` (image/png)."""

_BOUNDS: Final = {"type": MAX_MEDIA_TYPE_CHARACTERS, "url": MAX_URL_CHARACTERS, "mime": MAX_MEDIA_TYPE_CHARACTERS}


def checked(media: object) -> Media:
    """Returns a validated copy of a piece of media. Raises `NodeFailure` (config, invalid_media)."""
    given = dict(media) if isinstance(media, Mapping) else {}
    for name, most in _BOUNDS.items():
        value = given.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= most:
            raise _invalid(f"`{name}` of streamed media is not a text of 1 to {most} characters")
    if len(given) > len(_BOUNDS):
        raise _invalid(f"streamed media have no `{min(map(str, given.keys() - _BOUNDS.keys()))}`")
    return given


def _invalid(message: str) -> NodeFailure:
    return NodeFailure("config", "invalid_media", message, retryable=False, mend="stream {type, url, mime}, or text")
