"""Chooses the model providers, and the sandbox for author code, from the settings.

Settings configure the built-in providers. Another package announces a provider as an entry point of the group
`stepless.models`: a callable from `Setting` to `Models`, or to None when the provider is not configured. The engine calls it
when a question names the provider, or when no built-in provider is configured.

A kind without a configured provider or sandbox gets no code, and publishing refuses documents that use it. Nothing is
imported, connected or started before it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final, TypeAlias

from stepless.adapters.process import can_lock_up
from stepless.nodes import KindCode, model_kind_code, sandbox_kind_code
from stepless.nodes.lazy_mapping import LayeredMapping, LazyMapping
from stepless.plugins import MODELS, by_name
from stepless.ports import Models, Sandbox

Setting: TypeAlias = Callable[[str], str | None]
"""From the name of a setting to its value; None when it is not set."""

SCRIPT: Final = "STEPLESS_MODEL_SCRIPT"  # a file of answers, used instead of a model
OPENAI_URL: Final = "STEPLESS_OPENAI_URL"
OPENAI_KEY: Final = "STEPLESS_OPENAI_KEY"
OPENAI_MODEL: Final = "STEPLESS_OPENAI_MODEL"
BEDROCK_REGION: Final = "STEPLESS_BEDROCK_REGION"
BEDROCK_MODEL: Final = "STEPLESS_BEDROCK_MODEL"
SANDBOX_FUNCTION: Final = "STEPLESS_SANDBOX_FUNCTION"
CODE_UNSAFE: Final = "STEPLESS_CODE_UNSAFE"
MODEL_KINDS: Final = frozenset({"llm", "router"})


def configured_kind_code(setting: Setting, models: Models | None = None) -> Mapping[str, KindCode]:
    """Returns the code of those of `llm`, `router` and `code` that are configured. `models` takes precedence over the settings.
    Raises `ConfigError` for a script of answers that cannot be read."""
    asked = models or configured_models(setting)
    code: Mapping[str, KindCode] = LazyMapping({"code": lambda: sandbox_kind_code(_sandbox(setting))["code"]})
    return LayeredMapping(
        ModelKindCode(lambda: announced_models(setting)) if asked is None else model_kind_code(asked),
        code if _has_sandbox(setting) else {},
    )


def configured_models(setting: Setting) -> Models | None:
    """Returns every configured built-in provider, by the name that `provider` uses, and the providers that packages announce.
    A question without a name goes to the first. None when no built-in provider is configured."""
    made = {name: models for name, make in _BUILT_IN.items() if (models := make(setting)) is not None}
    return _providers(setting, made) if made else None


def announced_models(setting: Setting) -> Models | None:
    """Returns the providers that packages announce; None when none of them is configured. Raises `ConfigError` with the name of
    an invalid package."""
    names = by_name(MODELS)
    made = {name: models for name in names if (models := _announced(setting, name)) is not None}
    return _providers(setting, made) if made else None


def _providers(setting: Setting, made: Mapping[str, Models]) -> Models:
    from stepless.adapters.providers import Providers

    return Providers(made, lambda name: _announced(setting, name))


def _announced(setting: Setting, name: str) -> Models | None:
    one = by_name(MODELS).get(name)
    models: Models | None = None if one is None else one.make(setting, ("ask",))
    return models


def _scripted(setting: Setting) -> Models | None:
    if not (script := setting(SCRIPT)):
        return None
    from stepless.adapters.memory.models import ScriptedModels

    return ScriptedModels.read(script)


def _openai(setting: Setting) -> Models | None:
    url, key = setting(OPENAI_URL), setting(OPENAI_KEY)
    if not url and not key:
        return None
    from stepless.adapters.openai.models import PUBLIC, OpenAIModels

    return OpenAIModels(url or PUBLIC, key or None, setting(OPENAI_MODEL) or None)


def _bedrock(setting: Setting) -> Models | None:
    region, model = setting(BEDROCK_REGION), setting(BEDROCK_MODEL)
    if not region and not model:
        return None
    from stepless.adapters.aws.effects.models import BedrockModels  # boto3 takes 250 ms

    return BedrockModels(region or None, model or None)


_BUILT_IN: Final[Mapping[str, Callable[[Setting], Models | None]]] = MappingProxyType({
    "scripted": _scripted, "openai": _openai, "bedrock": _bedrock,
})  # fmt: skip
"""By name of provider: the function that makes it from the settings, or returns None when it is not configured."""


class ModelKindCode(Mapping[str, KindCode]):
    """The code of the kinds that ask a model; empty if `find` returns None. `find` is called once, on the first access."""

    def __init__(self, find: Callable[[], Models | None]) -> None:
        self._find = find

    @cached_property
    def _code(self) -> Mapping[str, KindCode]:
        models = self._find()
        return {} if models is None else model_kind_code(models)

    def __getitem__(self, kind: str) -> KindCode:
        if kind not in MODEL_KINDS:
            raise KeyError(kind)
        return self._code[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in MODEL_KINDS and kind in self._code

    def __iter__(self) -> Iterator[str]:
        return iter(self._code)

    def __len__(self) -> int:
        return len(self._code)


def configured_sandbox(setting: Setting) -> Sandbox | None:
    """Returns a Lambda function when one is named; otherwise a process on this machine, if the kernel can confine it or
    STEPLESS_CODE_UNSAFE allows it unconfined."""
    return _sandbox(setting) if _has_sandbox(setting) else None


def _has_sandbox(setting: Setting) -> bool:
    return bool(setting(SANDBOX_FUNCTION)) or setting(CODE_UNSAFE) == "1" or can_lock_up()


def _sandbox(setting: Setting) -> Sandbox:
    if function := setting(SANDBOX_FUNCTION):
        from stepless.adapters.aws.effects.sandbox import LambdaSandbox

        return LambdaSandbox(function)
    from stepless.adapters.process.sandbox import ProcessSandbox

    return ProcessSandbox(unsafe=setting(CODE_UNSAFE) == "1")
