"""Builds the pydantic models that validate a document and give its JSON Schema, from the declarations in `document` and
`policies`. They validate one value at a time; `compile` checks rules over several values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from types import GenericAlias
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    create_model,
)
from pydantic_core import PydanticCustomError

from stepless.limits import MAX_DECLARED_MESSAGES, MAX_SOURCE_PARTS
from stepless.model.declaration import document, field_types, messages, policies
from stepless.model.declaration.document import MERGE_ALIASES
from stepless.model.declaration.field_types import NodeId, Word
from stepless.model.declaration.views import View
from stepless.model.work import CAUSES

RETRY_CAUSES: Final = (*CAUSES, "outcome_unknown")


class DocumentPart(BaseModel):
    """The base of the models: refuses unknown fields, coerces no types, and is immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    declaration: ClassVar[type]
    """The declaration that the model was built from."""


class Declared(NamedTuple):
    """The declaration of a field: the attribute's name, and the name that authors write."""

    attribute: str
    name: str
    required: bool
    default: Any


def declared_fields(part: type) -> Iterator[Declared]:
    """Yields the fields of a view or of a policy, in the order of their declaration."""
    if issubclass(part, View):
        for attribute, field in part.fields.items():
            yield Declared(attribute, field.name, field.required, field.default)
    else:
        defaults = getattr(part, "_field_defaults", {})
        for attribute in part.__annotations__:
            yield Declared(attribute, attribute, attribute not in defaults, defaults.get(attribute))


# -- types whose form in a document differs from their form in code ------------------------------------------------------


def _tag(value: object) -> str | None:
    """The form of a field that a value has, by its JSON type, so that a fault is reported once and not once per form."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "list"
    return "object" if isinstance(value, Mapping | BaseModel) else None


def _form(value: object) -> str | None:
    """Like `_tag`, for fields that may be a number."""
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else _tag(value)


def _switch(value: object) -> str:
    """Like `_tag`, for a field that is a boolean otherwise."""
    return "object" if isinstance(value, Mapping | BaseModel) else "boolean"


def _merge_alias(value: object) -> object:
    return MERGE_ALIASES.get(value, value) if isinstance(value, str) else value


def _known_cause(cause: str) -> str:
    if cause not in RETRY_CAUSES:
        facts = {"cause": cause, "known": ", ".join(RETRY_CAUSES)}
        raise PydanticCustomError("unknown_cause", "`{cause}` is not a cause of failure; retry_on takes {known}", facts)
    return cause


def _one_of(words: Iterable[StrEnum]) -> Any:
    return Literal.__getitem__(tuple(word.value for word in words))


_Cause = Annotated[str, AfterValidator(_known_cause), WithJsonSchema({"enum": list(RETRY_CAUSES)})]
_types: dict[str, Any] = {
    **vars(field_types),
    **vars(policies),
    "Literal": Literal,
    "Causes": Annotated[list[_Cause], Field(max_length=len(RETRY_CAUSES))],
    "Merge": Annotated[
        _one_of(policies.Merge),
        BeforeValidator(_merge_alias),
        WithJsonSchema({"enum": [*(word.value for word in policies.Merge), *MERGE_ALIASES]}),
    ],
    "OnParentFailure": _one_of(policies.OnParentFailure),
    "OnFailure": _one_of(policies.OnFailure),
    "OnConflict": _one_of(policies.OnConflict),
}
"""The types of fields by name. The name of a part with a model resolves to that model."""


# -- the models ---------------------------------------------------------------------------------------------------------


def _model(name: str, part: type) -> Any:
    """Builds the model of a part, and registers it so that later parts can refer to it by the part's name."""
    hints = get_type_hints(part, globalns=_types, include_extras=True)
    fields: dict[str, Any] = {field.attribute: (hints[field.attribute], _info(field)) for field in declared_fields(part)}
    made = create_model(name, __base__=DocumentPart, __module__=__name__, __doc__=part.__doc__, **fields)
    made.declaration = part
    _types[part.__name__] = made
    return made


def _info(field: Declared) -> Any:
    about: dict[str, Any] = {} if field.name == field.attribute else {"alias": field.name}
    if field.required:
        return Field(**about)
    make = _maker(field.default)
    return Field(default_factory=make, **about) if make is not None else Field(default=_plain(field.default), **about)


def _maker(default: Any) -> Callable[[], Any] | None:
    """The factory of a default that is not a scalar."""
    if hasattr(default, "_fields"):  # a policy; shared, because most nodes have no settings of their own
        shared = _types[type(default).__name__]()
        return lambda: shared
    if isinstance(default, Mapping):
        return lambda: dict(default)
    return (lambda: list(default)) if isinstance(default, tuple) else None


def _plain(default: Any) -> Any:
    return default.value if isinstance(default, StrEnum) else default


ConditionDocument: Final = _model("ConditionDocument", document.ConditionView)
AfterDocument: Final = _model("AfterDocument", document.AfterView)
EdgeDocument: Final = _model("EdgeDocument", document.EdgeView)
CustomMerge: Final = _model("CustomMerge", document.CustomMergeView)

_AfterEntry: Final = Annotated[Annotated[Word, Tag("text")] | Annotated[AfterDocument, Tag("object")], Discriminator(_tag)]
_AfterList: Final = Annotated[GenericAlias(list, (_AfterEntry,)), Tag("list")]
_types["After"] = Annotated[
    Annotated[Word, Tag("text")] | Annotated[AfterDocument, Tag("object")] | _AfterList, Discriminator(_tag)
]
_types["VariableMerge"] = Annotated[
    Annotated[Literal["merge-all", "last-write", "first-write"], Tag("text")] | Annotated[CustomMerge, Tag("object")],
    Discriminator(_tag),
]
JoinDocument: Final = _model("JoinDocument", policies.JoinRule)
RetryDocument: Final = _model("RetryDocument", policies.Retry)
_types["Weight"] = Annotated[
    Annotated[field_types.Slots, Tag("number")] | Annotated[field_types.Formula, Tag("text")], Discriminator(_form)
]
DisabledDocument: Final = _model("DisabledDocument", document.DisabledView)
_types["Enabled"] = Annotated[
    Annotated[bool, Tag("boolean")] | Annotated[DisabledDocument, Tag("object")], Discriminator(_switch)
]
ConcurrencyDocument: Final = _model("ConcurrencyDocument", document.ConcurrencyView)
NodeRateDocument: Final = _model("NodeRateDocument", document.NodeRateView)
NodeDocument: Final = _model("NodeDocument", document.NodeView)

_types["Nodes"] = GenericAlias(dict, (NodeId, NodeDocument))
_types["Edges"] = GenericAlias(list, (EdgeDocument,))
BodyDocument: Final = _model("BodyDocument", document.BodyView)
RateLimitDocument: Final = _model("RateLimitDocument", document.RateLimitView)
StartRateDocument: Final = _model("StartRateDocument", document.StartRateView)
_types["Concurrency"] = Annotated[
    Annotated[field_types.Count, Tag("number")] | Annotated[ConcurrencyDocument, Tag("object")], Discriminator(_form)
]
MessageDocument: Final = _model("MessageDocument", messages.MessageView)
_types["Messages"] = Annotated[GenericAlias(dict, (NodeId, MessageDocument)), Field(max_length=MAX_DECLARED_MESSAGES)]
PartSourceDocument: Final = _model("PartSourceDocument", document.PartSourceView)
_types["Parts"] = Annotated[GenericAlias(list, (PartSourceDocument,)), Field(max_length=MAX_SOURCE_PARTS)]
MadeByDocument: Final = _model("MadeByDocument", document.MadeByView)
Document: Final = _model("Document", document.DocumentView)
