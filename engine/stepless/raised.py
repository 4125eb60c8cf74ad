"""Describes an exception for the log: its type, its message and the frames of the code that raised it, in a bounded text in the
format of Python's own tracebacks. Frames of the engine are left out.

Uses only the standard library. The process that runs author code imports nothing of the engine and loads this file by its path.
"""

from __future__ import annotations

import json
import linecache
import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import TracebackType
from typing import Any, Final, NamedTuple

_ENGINE: Final = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY: Final = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_PACKAGES: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_LINE: Final = 160  # characters of a source line, and of the name of a file, a function or a type
_LONGEST: Final = 1_000  # exceptions of a chain that are examined
_NOTES: Final = 10  # of one exception
_AFTER_CAUSE: Final = "The above exception was the direct cause of the following exception:"
_AFTER_CONTEXT: Final = "During handling of the above exception, another exception occurred:"


class Detail(NamedTuple):
    """How much is described: exceptions in total, frames of each, characters of each message."""

    exceptions: int
    frames: int
    message: int


_DETAILS: Final = (Detail(10, 24, 1_000), Detail(10, 10, 500), Detail(6, 6, 300), Detail(4, 4, 200), Detail(2, 2, 100))


class Frame(NamedTuple):
    """`own` is true for a frame of the author's code, false for one of a library."""

    file: str
    line: int
    function: str
    own: bool


def described(error: BaseException, most: int, sources: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Returns {type, message, traceback} and, unless all frames are the engine's, the {file, line, function} of the author's
    innermost frame; at most `most` bytes as JSON.

    The traceback lists causes and contexts before the exceptions that followed from them, as Python does, and the members of a
    group after it. Whatever exceeds `most` is left out and counted: frames of libraries first, then outer frames, then
    exceptions. Source lines come from `sources` by file name where it is given, else from the files. Never raises, whatever the
    exception's own methods do.
    """
    try:
        return _described(error, most, sources)
    except Exception:  # the exception's own methods are author code
        return {"type": type(error).__name__[:_LINE], "message": "", "traceback": ""}


def _described(error: BaseException, most: int, sources: Mapping[str, str] | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"type": _name(error), "message": "", "traceback": ""}
    frames = list(_frames(error.__traceback__))
    place = next((frame for frame in reversed(frames) if frame.own), frames[-1] if frames else None)
    if place is not None:
        facts |= {"file": _shown(place.file), "line": place.line, "function": _cut(place.function)}
    for detail in _DETAILS:
        facts["message"] = _message(error, detail.message)
        facts["traceback"] = "\n".join(_Describer(detail, sources).lines(error))
        if _size(facts) <= most:
            return facts
    return {name: value if isinstance(value, int) else value[: most // 40] for name, value in facts.items()}


def message_of(error: BaseException) -> str:
    """Returns the text of an exception; the name of its type where the text is empty or raises."""
    try:
        text = str(error)
    except BaseException:  # its own __str__ is author code too
        text = ""
    return text or type(error).__name__


def origin_of(failure: BaseException) -> Any:
    """Returns the exception in author code behind a `NodeFailure`, or the description that another process made of it: its
    `origin`. The failure itself where author code raised it; None where the engine did."""
    origin = getattr(failure, "origin", None)
    if origin is not None:
        return origin
    files = [one.tb_frame.f_code.co_filename for one in _walked(failure.__traceback__)]
    return failure if files and not files[-1].startswith(_ENGINE) else None


# -- the text ---------------------------------------------------------------------------------------------------------


class _Describer:
    """Writes one traceback. `_left` is how many more exceptions fit."""

    def __init__(self, detail: Detail, sources: Mapping[str, str] | None) -> None:
        self._detail = detail
        self._sources = sources
        self._left = detail.exceptions
        self._seen: set[int] = set()

    def lines(self, error: BaseException) -> Iterator[str]:
        """Yields an exception, after all exceptions that led to it, the oldest first."""
        chain = list(_chain(error, self._seen))
        space = max(1, self._left)
        left_out = len(chain) - space
        if left_out > 0:
            chain[max(1, space - 1) : len(chain) - min(1, space - 1)] = []  # the first and the last ones are the most useful
        self._left -= len(chain)
        for place, (one, link) in enumerate(reversed(chain)):
            yield from self._one(one)
            if place == 0 and left_out > 0:
                yield from ("", f"({left_out} more exceptions led to the following one)")
            if link:
                yield from ("", link, "")

    def _one(self, error: BaseException) -> Iterator[str]:
        frames = list(_frames(error.__traceback__))
        if frames:
            yield "Traceback (most recent call last):"
            yield from _framed(frames, self._detail.frames, self._sources)
        message = _message(error, self._detail.message)
        yield f"{_name(error)}: {message}" if message else _name(error)
        yield from (note[: self._detail.message] for note in _notes(error))
        members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        for number, member in enumerate(members, 1):
            if self._left <= 0:
                yield from ("", f"({len(members) - number + 1} more members)")
                return
            yield from ("", f"Member {number} of {len(members)}:")
            yield from self.lines(member)


def _chain(error: BaseException, seen: set[int]) -> Iterator[tuple[BaseException, str]]:
    """The exception and those that led to it, each with how it led to the one before; without those in `seen`."""
    one: BaseException | None = error
    link = ""
    for _ in range(_LONGEST):
        if one is None or id(one) in seen:
            return
        seen.add(id(one))
        yield one, link
        link = _AFTER_CONTEXT if one.__cause__ is None else _AFTER_CAUSE
        one = one.__context__ if one.__cause__ is None and not one.__suppress_context__ else one.__cause__


def _framed(frames: list[Frame], most: int, sources: Mapping[str, str] | None) -> Iterator[str]:
    """At most `most` frames, the author's innermost ones before others; consecutive equal frames appear once, with a count."""
    merged: list[tuple[Frame, int]] = []
    for frame in frames:
        if merged and merged[-1][0] == frame:
            merged[-1] = (frame, merged[-1][1] + 1)
        else:
            merged.append((frame, 1))
    chosen = sorted(sorted(range(len(merged)), key=lambda place: (not merged[place][0].own, -place))[:most])
    for former, place in pairwise([-1, *chosen, len(merged)]):
        if place > former + 1:
            yield f"  ({place - former - 1} frames left out)"
        if place == len(merged):
            return
        frame, times = merged[place]
        yield f'  File "{_shown(frame.file)}", line {frame.line}, in {_cut(frame.function)}'
        if source := _source(frame, sources):
            yield f"    {source}"
        if times > 1:
            yield f"  (the same frame {times - 1} more times)"


# -- its parts --------------------------------------------------------------------------------------------------------


def _walked(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _frames(trace: TracebackType | None) -> Iterator[Frame]:
    for one in _walked(trace):
        code = one.tb_frame.f_code
        if not code.co_filename.startswith(_ENGINE):
            yield Frame(code.co_filename, one.tb_lineno or 0, code.co_name, _is_own(code.co_filename))


def _is_own(file: str) -> bool:
    return not (file.startswith((_LIBRARY, "<frozen ")) or any(folder in file for folder in _PACKAGES))


def _shown(file: str) -> str:
    """A file by its path in the project, the package or the standard library; the end of a longer path."""
    for folder in _PACKAGES:
        if folder in file:
            return file.rpartition(folder)[2][-_LINE:]
    for folder in (_here(), _LIBRARY):
        if folder and file.startswith(folder):
            return file[len(folder) :][-_LINE:]
    return file[-_LINE:]


def _here() -> str:
    try:
        return os.getcwd().rstrip(os.sep) + os.sep
    except OSError:  # the folder is gone
        return ""


def _source(frame: Frame, sources: Mapping[str, str] | None) -> str:
    if sources is not None:
        lines = sources.get(frame.file, "").split("\n")
        return _cut(lines[frame.line - 1].strip()) if 0 < frame.line <= len(lines) else ""
    try:
        linecache.checkcache(frame.file)
        return _cut(linecache.getline(frame.file, frame.line).strip())
    except (OSError, ValueError, MemoryError):
        return ""


def _name(error: BaseException) -> str:
    kind = type(error)
    module = kind.__module__
    return _cut(kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}")


def _message(error: BaseException, most: int) -> str:
    text = message_of(error)
    return "" if text == type(error).__name__ else text[:most]


def _notes(error: BaseException) -> list[str]:
    notes = error.__dict__.get("__notes__", ())
    return [note for note in notes[:_NOTES] if isinstance(note, str)] if type(notes) is list else []


def _cut(text: str) -> str:
    return text if len(text) <= _LINE else text[: _LINE - 1] + "…"


def _size(facts: Mapping[str, Any]) -> int:
    return len(json.dumps(facts, ensure_ascii=False).encode("utf-8", "surrogatepass"))
