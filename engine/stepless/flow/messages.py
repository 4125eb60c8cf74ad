"""Reads what a workflow declares of its messages, and gives them to the workflow where it runs as a plain coroutine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, TypeAdapter

from stepless.core.mailbox import Mail
from stepless.errors import ConfigError, InvalidRequest
from stepless.expressions import compile_contract
from stepless.flow import clock
from stepless.flow.compiler.facts.types import UNKNOWN, is_as_sent, is_model, schema_of
from stepless.flow.words import record
from stepless.model.json import JSON
from stepless.model.scope import Contract
from stepless.model.texts.durations import parse_duration_ms

R = TypeVar("R")
Declaration: TypeAlias = "type[BaseModel] | Mapping[str, Any]"
_DATA: Final = "data"
_SENT: Final = ("name", _DATA, "at", "id", "key", "by")
_FIX: Final = 'write messages={"payment": Payment}, or {"payment": {"data": {…}}} with a JSON Schema'


@dataclass(frozen=True, slots=True)
class Declared:
    """The messages of one workflow: what its document says of them, the types of their data, and those that cancel a run."""

    fields: Mapping[str, Mapping[str, JSON]]
    kinds: Mapping[str, Any]
    cancel_on: frozenset[str]
    _contracts: dict[str, Contract | None] = field(default_factory=dict, compare=False)

    def contract(self, name: str) -> Contract | None:
        """Returns the schema of the data of a message, if it has one. Raises `AuthorError` for one that is malformed."""
        if name not in self._contracts:
            schema = self.fields.get(name, {}).get(_DATA)
            self._contracts[name] = compile_contract(schema) if isinstance(schema, Mapping) else None
        return self._contracts[name]


NOTHING: Final = Declared({}, {}, frozenset())
_DECLARED: ContextVar[Declared] = ContextVar("stepless_flow_messages", default=NOTHING)


def declared(workflow: str, messages: Any, cancel_on: Any) -> Declared:
    """Reads the messages of `@workflow`: by name a model, or the fields of a document, of which `data` may be a model. Raises
    `ConfigError` for anything else."""
    if not isinstance(messages, Mapping):
        raise ConfigError("`messages` is no mapping", place=workflow, mend=_FIX)
    fields: dict[str, Mapping[str, JSON]] = {}
    kinds: dict[str, Any] = {}
    for name, given in messages.items():
        view = {_DATA: given} if is_model(given) else given
        if not isinstance(view, Mapping):
            raise ConfigError(f"the message `{name}` is {given!r:.40}", place=workflow, mend=_FIX)
        kind = view.get(_DATA)
        schema = schema_of(kind) if is_model(kind) else kind
        fields[name] = {**view, _DATA: schema} if _DATA in view else dict(view)
        kinds[name] = kind if is_model(kind) else UNKNOWN
    return Declared(fields, kinds, frozenset(cancel_on))


async def declaring(declared: Declared, call: Awaitable[R]) -> R:
    """Runs a workflow whose messages these are."""
    world = clock.world()
    first = world.cancel_on is None
    if first:
        world.cancel_on = declared.cancel_on
    token = _DECLARED.set(declared)
    try:
        return await call
    finally:
        _DECLARED.reset(token)
        world.cancel_on = None if first else world.cancel_on


# -- a test -----------------------------------------------------------------------------------------------------------


def sent(messages: Iterable[Mapping[str, Any]]) -> list[Mail]:
    """Returns the messages that a test sends. Raises `InvalidRequest` for one without a name, and for fields that no message
    has."""
    found = []
    for number, message in enumerate(messages, 1):
        unknown = sorted(message.keys() - {*_SENT})
        if unknown or not isinstance(message.get("name"), str):
            mend = 'write {"name": "payment", "data": {…}, "at": "3h"}'
            place = f"messages[{number - 1}]"
            raise InvalidRequest(f"not a message: {message!r:.80}", code="message_invalid", place=place, mend=mend)
        at = message.get("at", 0)
        at_ms = parse_duration_ms(at) if isinstance(at, str) else int(at)
        id = message.get("id") or f"message-{number}"
        found.append(Mail(id, message["name"], message.get("key"), message.get(_DATA), message.get("by"), at_ms))
    return found


async def received(name: str, where: Callable[[Any], Any] | None, timeout_ms: int | None) -> tuple[bool, Any]:
    """Waits for a message, and takes it: whether there was one, and what the workflow gets. Raises `InvalidRequest`
    (message_invalid) for data that the message does not allow."""
    known = _DECLARED.get()
    kind, contract = known.kinds.get(name, UNKNOWN), known.contract(name)

    def wants(mail: Mail) -> bool:
        _check(mail, contract)
        return where is None or bool(where(_typed(kind, mail.data) if kind is not UNKNOWN else record(mail.data)))

    mail = await clock.schedule().mail(name, wants, timeout_ms)
    if mail is None:
        return False, None
    here = clock.branch()
    if kind is not UNKNOWN and here is not None and not is_as_sent(kind):
        return True, await here.work(lambda: _made(kind, mail.data))  # in a run, a node of its own does this
    if kind is not UNKNOWN:
        return True, _typed(kind, mail.data)
    from stepless.core.deciding.messages import output_of  # with the core, which a process that only runs steps does not need

    return True, record(output_of({"data": mail.data, "facts": mail.facts}))


def _check(mail: Mail, contract: Contract | None) -> None:
    violations: Sequence[str] = contract.violations(mail.data) if contract is not None else ()
    if violations:
        message = f"the data does not fit the message `{mail.name}`: {violations[0]}"
        raise InvalidRequest(message, code="message_invalid", place="data")


async def _made(kind: Any, data: JSON) -> Any:
    return _typed(kind, data)


def _typed(kind: Any, data: JSON) -> Any:
    return TypeAdapter(kind).validate_python(data, by_alias=True, by_name=True)
