"""Asks approvals and callbacks at the prompt: the message, the decision, then each field."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepless.expressions import compile_contract
from stepless.limits import MAX_ANSWER_BYTES
from stepless.model.json import JSON
from stepless.model.texts.details import details_of, lines_of
from stepless.runtime.verbs.reads.inspecting import OpenPause
from stepless.runtime.wiring.single_run import Answer

_YES_NO = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


class NoMoreAnswers(Exception):
    """Standard input has ended, so no question can be answered."""


@dataclass(slots=True)
class Answers:
    """Reads lines from a file descriptor in the event loop, so that a prompt blocks neither the run nor Ctrl-C."""

    descriptor: int
    _read: bytearray = field(default_factory=bytearray)
    _ended: bool = False

    async def line(self) -> str:
        """Returns the next line without its end. Raises `NoMoreAnswers`."""
        while b"\n" not in self._read and not self._ended:
            await self._readable()
            data = os.read(self.descriptor, MAX_ANSWER_BYTES)
            self._read += data
            self._ended = not data or len(self._read) > MAX_ANSWER_BYTES
        if not self._read:
            raise NoMoreAnswers
        line, _, rest = bytes(self._read).partition(b"\n")
        self._read = bytearray(rest)
        return line.decode("utf-8", "replace").strip()

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self.descriptor, ready.set)
        except (PermissionError, OSError):  # a regular file, which is always readable
            return
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self.descriptor)


@dataclass(slots=True)
class Prompt:
    """Writes questions to one stream and reads the answers from `answers`."""

    answers: Answers
    write: Callable[[str], Any] = field(default=lambda text: sys.stdout.write(text) and sys.stdout.flush())

    async def ask(self, pause: OpenPause) -> Answer:
        """Asks until the answer is valid. Raises `NoMoreAnswers` when the input ends."""
        self.write(f"\n{pause.details.get('message') or pause.node}\n")
        self.write("".join(f"  {line}\n" for line in lines_of(details_of(pause.details))))
        exit = await self._decision(pause)
        fields = pause.details.get("fields")
        if fields is None and pause.reason == "callback":
            return exit, await self._valid("answer as JSON", True, optional=True)
        answer = {}
        for name, schema in (fields or {}).items():
            value = await self._valid(name, schema, optional=True)
            if value is not None:
                answer[name] = value
        return exit, answer

    async def _decision(self, pause: OpenPause) -> str:
        exits = [exit for exit in pause.exits if exit != "timeout"]
        if len(exits) == 1:
            return exits[0]
        if exits == ["approved", "rejected"]:
            return "approved" if await self._yes_or_no(f"{pause.node}: approve?") else "rejected"
        while True:
            text = await self._line(f"{pause.node} ({', '.join(exits)}): ")
            if text in exits:
                return text

    async def _yes_or_no(self, question: str) -> bool:
        while True:
            said = _YES_NO.get((await self._line(f"{question} [y/n] ")).lower())
            if said is not None:
                return said

    async def _valid(self, name: str, schema: JSON, *, optional: bool) -> JSON:
        """The value of a field, asked again until it fits the schema; None for an empty line."""
        contract = compile_contract(schema) if isinstance(schema, Mapping) else None
        label = f"  {name}{_hint(schema)}: "
        while True:
            text = await self._line(label)
            if not text and optional:
                return None
            value = _value(text, schema)
            violations = contract.violations(value) if contract is not None else ()
            if not violations:
                return value
            self.write(f"    {violations[0]}\n")

    async def _line(self, label: str) -> str:
        self.write(label)
        return await self.answers.line()


def _hint(schema: JSON) -> str:
    if not isinstance(schema, Mapping):
        return ""
    if "enum" in schema:
        return f" ({', '.join(map(str, schema['enum']))})"
    kinds = {"boolean": " (y/n)", "integer": " (whole number)", "number": " (number)", "array": " (JSON)", "object": " (JSON)"}
    return kinds.get(str(schema.get("type")), "")


def _value(text: str, schema: JSON) -> JSON:
    """The typed text as the type of its schema, or as text if it cannot be converted."""
    wanted = schema.get("type") if isinstance(schema, Mapping) else None
    if wanted == "string":
        return text
    if wanted == "boolean":
        return _YES_NO.get(text.lower(), text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
