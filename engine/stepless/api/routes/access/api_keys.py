"""Serves the routes for API keys, for admins: create, list, rotate, remove. A secret is returned only once, when it is
created."""

from __future__ import annotations

from enum import Enum
from typing import Final

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.bodies import documented_body, read_model
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import KeyBody
from stepless.api.responses.general import KeyOut, KeysOut, NewKeyOut
from stepless.runtime.access.api_keys import ApiKey, ApiKeys

_TAGS: Final[list[str | Enum]] = ["keys"]


def add_routes(router: APIRouter, keys: ApiKeys) -> None:
    @router.get("/keys", summary="List API keys", response_model=KeysOut, responses=documented(401, 403), tags=_TAGS)
    def list_keys() -> Response:
        """The keys created over the API, oldest first, without their secrets. Keys of the configuration are not listed."""
        return reply({"keys": [_key(key, used) for key, used in keys.list()]})

    @router.post(
        "/keys",
        summary="Create an API key",
        status_code=201,
        response_model=NewKeyOut,
        responses=documented(400, 401, 403, 409, 413, 415, 422),
        openapi_extra=documented_body(KeyBody, required=True),
        tags=_TAGS,
    )
    async def make_key(request: Request) -> Response:
        """Creates a key with these roles. Its secret is returned only in this response."""
        body = await read_model(request, KeyBody)
        key, secret = await run_in_threadpool(keys.add, body.name, body.roles)
        return reply(_new_key(key, secret), 201)

    @router.post(
        "/keys/{key_id}/rotate",
        summary="Rotate an API key",
        response_model=NewKeyOut,
        responses=documented(401, 403, 404, 409),
        tags=_TAGS,
    )
    def rotate_key(key_id: str) -> Response:
        """Creates a new secret for the key. The old secret stays valid for 24 hours."""
        return reply(_new_key(*keys.rotate(key_id)))

    @router.delete(
        "/keys/{key_id}",
        summary="Remove an API key",
        response_model=KeysOut,
        responses=documented(401, 403, 404, 409),
        tags=_TAGS,
    )
    def remove_key(key_id: str) -> Response:
        """Revokes the key. Every process refuses it within five seconds. Returns the remaining keys."""
        keys.remove(key_id)
        return list_keys()


def _key(key: ApiKey, used_ms: int | None) -> KeyOut:
    return {
        "id": key.id,
        "name": key.name,
        "roles": list(key.roles),
        "created_at": str(instant(key.created_ms)),
        "last_used_at": instant(used_ms),
        "former_until": instant(key.former_until_ms or None),
    }


def _new_key(key: ApiKey, secret: str) -> NewKeyOut:
    return {**_key(key, None), "secret": secret}
