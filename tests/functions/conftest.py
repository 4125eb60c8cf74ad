"""Fixtures with an emulator of the services that the functions use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from emulators import Missing, ministack
from lambda_stack import Stack


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    try:
        with ministack() as found:
            yield found
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def stack(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    made = Stack(address, tmp_path_factory.mktemp("lambda"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def api(stack: Stack) -> Callable[..., tuple[int, Any]]:
    """One request through the API function: status and body."""
    function = stack.function("api")

    def ask(event: dict[str, Any]) -> tuple[int, Any]:
        answer = function.invoke(event)
        assert answer.error is None, answer.error
        body = answer.value["body"]
        is_json = "json" in answer.value["headers"].get("content-type", "")
        return answer.value["statusCode"], json.loads(body) if is_json else body

    return ask
