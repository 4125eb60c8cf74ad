from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

METHODS = {"get", "put", "post", "delete", "patch"}


async def test_every_operation_is_documented(door: Any) -> None:
    document = (await door.stranger.get("/openapi.json")).json()
    operations = [
        (path, method, operation) for path, methods in document["paths"].items() for method, operation in methods.items()
    ]
    assert {method for _, method, _ in operations} <= METHODS
    for path, method, operation in operations:
        told = f"{method} {path}"
        assert operation["summary"] and operation["description"], told
        assert "application/problem+json" in operation["responses"]["default"]["content"], told
        good = [response for status, response in operation["responses"].items() if status.startswith("2")]
        assert any("schema" in content for response in good for content in response.get("content", {}).values()), told
    names = [operation["operationId"] for _, _, operation in operations]
    assert len(names) == len(set(names))


async def test_every_reference_in_the_document_leads_somewhere(door: Any) -> None:
    document = (await door.stranger.get("/openapi.json")).json()

    def references(value: Any) -> Any:
        if isinstance(value, dict):
            yield from ([value["$ref"]] if "$ref" in value else [])
            for inner in value.values():
                yield from references(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from references(inner)

    for reference in set(references(document)):
        place = document
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
    assert "HTTPValidationError" not in document["components"]["schemas"]


@pytest.mark.parametrize(("docs", "status"), [(True, 200), (False, 404)])
async def test_the_docs_can_be_left_out(make_door: Any, docs: bool, status: int) -> None:
    door = await make_door(docs=docs)
    assert (await door.stranger.get("/docs")).status_code == status
    assert (await door.stranger.get("/openapi.json")).status_code == 200


def test_the_package_alone_brings_no_framework_along(pytestconfig: pytest.Config) -> None:
    source = "import stepless.api, sys; print(sorted({'fastapi', 'starlette', 'pydantic'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=pytestconfig.rootpath / "engine", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
