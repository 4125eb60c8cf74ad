"""Providers of models that other packages announce."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.errors import ConfigError, DocumentRefused
from stepless.model.conversation import ModelAnswer, Question, Turn
from stepless.model.work import NodeFailure
from stepless.runtime.wiring.local import local
from stepless.runtime.wiring.models import announced_models, configured_models

PARROT = """
from stepless.model.conversation import ModelAnswer

class Parrot:
    def __init__(self, word):
        self.word = word

    async def ask(self, question, delta=None):
        return ModelAnswer(self.word)

def models(setting):
    word = setting("PARROT_WORD")
    return Parrot(word) if word else None
"""
ASKS = {"id": "talk", "nodes": {"ask": {"type": "llm", "with": {"prompt": "Tea?"}}}}
OPENAI = {"STEPLESS_OPENAI_KEY": "k", "STEPLESS_OPENAI_MODEL": "m"}


@pytest.fixture
def parrot(install: Callable[..., None]) -> None:
    install("stepless-parrot", "stepless.models", {"parrot": "parrot:models"}, parrot=PARROT)


def asked(settings: dict[str, str], provider: str | None) -> ModelAnswer:
    models = configured_models(settings.get) or announced_models(settings.get)
    assert models is not None
    return asyncio.run(models.ask(Question((Turn("user", "?"),), 1_000, provider=provider)))


@pytest.mark.usefixtures("parrot")
def test_a_provider_is_asked_by_its_name_beside_those_built_in_and_without_a_name_where_it_is_alone() -> None:
    word = {"PARROT_WORD": "Polly"}
    assert asked({**OPENAI, **word}, "parrot").text == "Polly"
    assert asked(word, "parrot").text == asked(word, None).text == "Polly"


@pytest.mark.usefixtures("parrot")
def test_a_provider_that_is_not_configured_is_none() -> None:
    assert announced_models({}.get) is None
    with pytest.raises(NodeFailure) as failed:
        asked(OPENAI, "parrot")
    assert failed.value.code == "unknown_provider"


@pytest.mark.usefixtures("parrot")
def test_a_document_that_asks_a_model_is_published_where_a_package_has_one() -> None:
    with pytest.raises(DocumentRefused):
        local(None, secrets=MemorySecrets()).service.publish(ASKS)
    local(None, secrets=MemorySecrets({"PARROT_WORD": "Polly"})).service.publish(ASKS)


@pytest.mark.parametrize(("value", "code"), [
    ("nowhere_to_be_found", "module_not_loaded"), ("parrot:PARROT", "module_not_loaded"), ("parrot", "invalid_plugin"),
    ("parrot:Parrot.__name__", "invalid_plugin"), ("parrot:Parrot.__len__", "module_not_loaded"),
    ("parrot:Parrot.__repr__", "invalid_plugin"), ("parrot:Parrot.ask", "invalid_plugin"),
])
def test_a_package_that_cannot_be_used_is_named(value: str, code: str, install: Callable[..., None]) -> None:
    install("stepless-parrot", "stepless.models", {"parrot": value}, parrot=PARROT)
    assert configured_models(OPENAI.get) is not None, "nothing is loaded before a question names it"
    with pytest.raises(ConfigError) as refused:
        announced_models({"PARROT_WORD": "Polly"}.get)
    assert refused.value.code == code
    assert "stepless-parrot 1.2" in refused.value.place
    with pytest.raises(NodeFailure) as failed:
        asked(OPENAI, "parrot")
    assert (failed.value.cause, failed.value.code) == ("config", code)
    assert "stepless-parrot 1.2" in str(failed.value)
