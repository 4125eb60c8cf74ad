"""Selects one of several model providers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stepless.errors import ConfigError
from stepless.model.conversation import ModelAnswer, Question
from stepless.model.work import NodeFailure, misconfigured
from stepless.ports import Models


def no_more(name: str) -> Models | None:
    return None


class Providers:
    """Passes a question to the provider that it names, else to the first one. There is at least one provider. `more` makes
    another one by its name, or returns None; it is called once for each name that it knows."""

    def __init__(self, providers: Mapping[str, Models], more: Callable[[str], Models | None] = no_more) -> None:
        self._providers = dict(providers)
        self._more = more

    async def ask(self, question: Question, delta: Callable[[str], None] | None = None) -> ModelAnswer:
        """See `Models.ask`. Raises `NodeFailure` (config): unknown_provider, with the configured names; module_not_loaded,
        invalid_plugin and plugin_taken for a package that cannot be used."""
        name = next(iter(self._providers)) if question.provider is None else question.provider
        models = self._providers.get(name)
        if models is None:
            models = self._providers[name] = self._made(name)
        return await models.ask(question, delta)

    def _made(self, name: str) -> Models:
        try:
            models = self._more(name)
        except ConfigError as error:
            raise misconfigured(error) from error
        if models is None:
            known = ", ".join(self._providers)
            raise NodeFailure("config", "unknown_provider", f"no provider is configured as {name!r:.100}", retryable=False,
                              mend=f"use one of: {known}")
        return models
