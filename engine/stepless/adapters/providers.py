"""Selects one of several model providers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stepless.model.conversation import ModelAnswer, Question
from stepless.model.work import NodeFailure
from stepless.ports import Models


class Providers:
    """Passes a question to the provider that it names, else to the first one. There is at least one provider."""

    def __init__(self, providers: Mapping[str, Models]) -> None:
        self._providers = dict(providers)

    async def ask(self, question: Question, delta: Callable[[str], None] | None = None) -> ModelAnswer:
        """See `Models.ask`. Raises `NodeFailure` (config, unknown_provider) with the configured names."""
        name = next(iter(self._providers)) if question.provider is None else question.provider
        models = self._providers.get(name)
        if models is None:
            known = ", ".join(self._providers)
            raise NodeFailure("config", "unknown_provider", f"no provider is configured as {name!r:.100}", retryable=False,
                              mend=f"use one of: {known}")
        return await models.ask(question, delta)
