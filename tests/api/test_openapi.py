from __future__ import annotations

import subprocess
import sys
from typing import Any

import jsonschema_rs
import pytest
from fastapi.routing import APIRoute

from stepless.codes import all_codes

pytestmark = pytest.mark.anyio

REDIRECT = "/runs/{run_id}/view"  # which answers nothing of its own
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
        if path == REDIRECT:
            assert operation["responses"].keys() == {"307", "default"}
            continue
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


# -- examples ---------------------------------------------------------------------------------------------------------


def told_parts(document: Any) -> Any:
    """(where it is, the described thing, whether it must have an example) for every request and answer of every route."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            for parameter in operation.get("parameters", ()):
                yield f"{where} {parameter['name']}", parameter, parameter["required"]
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                yield f"{where} {kind}", content, True
            for status, response in operation["responses"].items():
                for kind, content in response.get("content", {}).items():
                    yield f"{where} {status} {kind}", content, True


async def test_every_request_and_every_answer_has_an_example_that_keeps_its_schema(make_door: Any) -> None:
    door = await make_door(development=True)  # with every route that there is
    document = (await door.stranger.get("/openapi.json")).json()
    parts = list(told_parts(document))
    assert len(parts) > 250
    assert [where for where, described, needed in parts if needed and "example" not in described] == []
    for schema in document["components"]["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    faults = {}
    for where, described, _ in parts:
        if "example" in described:
            rule = {**described["schema"], "components": document["components"]}
            faults[where] = [fault.message for fault in jsonschema_rs.validator_for(rule).iter_errors(described["example"])]
    assert {where: told for where, told in faults.items() if told} == {}


async def test_an_answer_has_an_example_of_its_own_status(door: Any) -> None:
    document = (await door.stranger.get("/openapi.json")).json()
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                problem = response.get("content", {}).get("application/problem+json")
                if problem is not None:
                    assert problem["example"]["status"] == (500 if status == "default" else int(status))


async def test_the_example_of_a_workflow_is_one_that_is_published(door: Any) -> None:
    document = (await door.stranger.get("/openapi.json")).json()
    given = document["paths"]["/workflows/{workflow_id}"]["put"]["requestBody"]["content"]["application/json"]["example"]
    assert (await door.ask.put(f"/workflows/{given['id']}", json=given)).status_code == 201


async def test_the_codes_in_examples_are_codes(door: Any) -> None:
    document = (await door.stranger.get("/openapi.json")).json()
    shown = [described["example"]["code"] for where, described, _ in told_parts(document) if "problem+json" in where]
    assert set(shown) <= all_codes() and len(set(shown)) > 8


async def test_an_app_is_made_without_building_its_routes(door: Any) -> None:
    """Each is built at the first request for it: building all takes most of the start of a process."""
    assert [route.path for route in door.app.routes if isinstance(route, APIRoute)] == []
    assert (await door.ask.get("/runs")).status_code == 200
    refused = await door.ask.options("/runs")
    assert (refused.status_code, "HEAD" in refused.headers["allow"]) == (405, False)
