"""Requests to the API function of a stack whose gateway is out of reach: as events, by the operation that invokes functions.

The emulator looks for a gateway in the account and region of the request's signature, and requests to this API have none.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import httpx


class InvokedApi(httpx.BaseTransport):
    """Each request is one invocation of the alias `live`. `client` is that of Lambda, for the account and region."""

    def __init__(self, client: Any, function: str) -> None:
        self._client = client
        self._function = function

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path, method = request.url.path, request.method
        http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "tests"}
        event = {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": request.url.query.decode(),
            "headers": {**request.headers, "x-forwarded-proto": "https", "x-forwarded-port": "443"},
            "requestContext": {"http": http, "stage": "$default", "domainName": "moved.example", "requestId": "1"},
            "body": request.read().decode(),
            "isBase64Encoded": False,
        }
        answer = self._client.invoke(FunctionName=self._function, Qualifier="live", Payload=json.dumps(event).encode())
        given = json.loads(answer["Payload"].read())
        if "statusCode" not in given:
            return httpx.Response(502, json=given)
        body = given.get("body", "")
        data = b64decode(body) if given.get("isBase64Encoded") else body.encode()
        return httpx.Response(given["statusCode"], headers=given.get("headers", {}), content=data)
