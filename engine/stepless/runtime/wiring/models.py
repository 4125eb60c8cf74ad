"""The composition root of the kinds that need something from outside: which models are asked, and where author code runs.

A kind whose means are not configured gets no code, and publishing refuses documents that use it. Nothing is imported, connected
or started before it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from stepless.adapters.process import can_lock_up
from stepless.nodes import KindCode, model_kind_code, sandbox_kind_code
from stepless.nodes.lazy_mapping import LayeredMapping, LazyMapping
from stepless.ports import Models, Sandbox

Setting: TypeAlias = Callable[[str], str | None]
"""From the name of a setting to its value; None when it is not set."""

SCRIPT: Final = "STEPLESS_MODEL_SCRIPT"  # a file of answers: no model at all
OPENAI_URL: Final = "STEPLESS_OPENAI_URL"
OPENAI_KEY: Final = "STEPLESS_OPENAI_KEY"
OPENAI_MODEL: Final = "STEPLESS_OPENAI_MODEL"
BEDROCK_REGION: Final = "STEPLESS_BEDROCK_REGION"
BEDROCK_MODEL: Final = "STEPLESS_BEDROCK_MODEL"
SANDBOX_FUNCTION: Final = "STEPLESS_SANDBOX_FUNCTION"
CODE_UNSAFE: Final = "STEPLESS_CODE_UNSAFE"


def configured_kind_code(setting: Setting, models: Models | None = None) -> Mapping[str, KindCode]:
    """The code of `llm`, `router` and `code`, as far as there is something to run it with. `models` goes before what is
    configured. Raises `ConfigError` for a script of answers that cannot be read."""
    asked = models or configured_models(setting)
    code: Mapping[str, KindCode] = LazyMapping({"code": lambda: sandbox_kind_code(_sandbox(setting))["code"]})
    return LayeredMapping({} if asked is None else model_kind_code(asked), code if _has_sandbox(setting) else {})


def configured_models(setting: Setting) -> Models | None:
    """Every provider that is configured, under the name that `provider` gives it; without a name the first is asked."""
    providers: dict[str, Models] = {}
    script, url, key = setting(SCRIPT), setting(OPENAI_URL), setting(OPENAI_KEY)
    if script:
        from stepless.adapters.memory.models import ScriptedModels

        providers["scripted"] = ScriptedModels.read(script)
    if url or key:
        from stepless.adapters.openai.models import PUBLIC, OpenAIModels

        providers["openai"] = OpenAIModels(url or PUBLIC, key or None, setting(OPENAI_MODEL) or None)
    if setting(BEDROCK_REGION) or setting(BEDROCK_MODEL):
        from stepless.adapters.aws.models import BedrockModels  # boto3 takes 250 ms

        providers["bedrock"] = BedrockModels(setting(BEDROCK_REGION) or None, setting(BEDROCK_MODEL) or None)
    if not providers:
        return None
    from stepless.adapters.providers import Providers

    return Providers(providers)


def configured_sandbox(setting: Setting) -> Sandbox | None:
    """A Lambda function when one is named, else a process on this machine if it can be locked up or need not be."""
    return _sandbox(setting) if _has_sandbox(setting) else None


def _has_sandbox(setting: Setting) -> bool:
    return bool(setting(SANDBOX_FUNCTION)) or setting(CODE_UNSAFE) == "1" or can_lock_up()


def _sandbox(setting: Setting) -> Sandbox:
    if function := setting(SANDBOX_FUNCTION):
        from stepless.adapters.aws.sandbox import LambdaSandbox

        return LambdaSandbox(function)
    from stepless.adapters.process.sandbox import ProcessSandbox

    return ProcessSandbox(unsafe=setting(CODE_UNSAFE) == "1")
