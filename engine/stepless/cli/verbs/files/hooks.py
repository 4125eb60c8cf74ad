"""Implements `hooks try`: sends a request to a webhook, signed as its sender would sign it."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from stepless.cli.reach.gateway import Gateway, opened
from stepless.cli.terminal.formatting import put_json
from stepless.errors import ConfigError, InvalidRequest
from stepless.limits import MAX_LISTED_ITEMS, MAX_REQUEST_BYTES
from stepless.model.json import JSON
from stepless.nodes.entries.webhook import Bearer, Hmac, Signed, WebhookParams, scheme_of, secrets_of, signed_by
from stepless.runtime.triggers import ecdsa
from stepless.runtime.triggers.signing import prepared, signed_headers
from stepless.runtime.wiring.stores import system_clock

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_FORM: Final = "application/x-www-form-urlencoded"
_WITHOUT_BODY: Final = ("GET", "HEAD")


class Attempt(NamedTuple):
    """A request that is ready to be sent. `path` includes the query; `address` is the one that was signed."""

    method: str
    path: str
    address: str
    headers: Mapping[str, str]
    body: bytes


def try_(arguments: argparse.Namespace) -> int:
    """Sends the request, or prints it as a curl command. Returns 1 if the webhook refuses it."""
    with opened(arguments) as gateway:
        attempt = _attempt(arguments, _hook(gateway, arguments.hook), gateway.base)
        if arguments.prints:
            print(_curl(attempt))
            return 0
        answer = gateway.send(attempt.method, attempt.path, attempt.headers, attempt.body)
    is_json = "json" in answer.headers.get("content-type", "")
    shown: JSON = answer.json() if is_json and answer.content else answer.text
    run_id = answer.headers.get("stepless-run") or (shown.get("run_id") if isinstance(shown, Mapping) else None)
    if arguments.json:
        put_json({"status": answer.status_code, "run_id": run_id, "headers": dict(attempt.headers), "response": shown})
    else:
        print(f"{attempt.method} {attempt.path}  {answer.status_code}" + (f"  {run_id}" if run_id else ""))
        if answer.text:
            print(answer.text)
    return 0 if answer.is_success else 1


# -- the webhook ------------------------------------------------------------------------------------------------------


def _hook(gateway: Gateway, named: str) -> WebhookParams:
    """The webhook with this path, or the only one of the workflow with this id. Raises `InvalidRequest` (unknown_hook)."""
    if named.startswith("/"):
        path = named.removeprefix("/hooks") if named.startswith("/hooks/") else named
        found = next((hook for hook in _all_hooks(gateway) if hook.path == path), None)
        if found is None:
            mend = f"publish a workflow with this path (a path in {gateway.where} is found among {MAX_LISTED_ITEMS} workflows)"
            raise InvalidRequest("no webhook listens on this path", code="unknown_hook", place=named, mend=mend)
        return found
    hooks = list(_hooks(gateway.ask("GET", "workflows", named)["document"]))
    if len(hooks) != 1:
        mend = f"give one of its paths: {', '.join(hook.path for hook in hooks)}" if hooks else "add a node of the type `webhook`"
        message = f"the workflow has {len(hooks) or 'no'} webhook{'s' if len(hooks) > 1 else ''}"
        raise InvalidRequest(message, code="unknown_hook", place=f"workflow {named}", mend=mend)
    return hooks[0]


def _all_hooks(gateway: Gateway) -> Iterator[WebhookParams]:
    listed, _ = gateway.listed("workflows", "workflows", MAX_LISTED_ITEMS)
    for workflow in listed:
        yield from _hooks(gateway.ask("GET", "workflows", workflow["id"])["document"])


def _hooks(document: Mapping[str, Any]) -> Iterator[WebhookParams]:
    for node in document["nodes"].values():
        if node.get("type") == "webhook":
            try:
                yield WebhookParams.model_validate(node.get("with", {}))
            except ValidationError:  # of another release, or with a reference in place of a setting
                continue


# -- the request ------------------------------------------------------------------------------------------------------


def _attempt(arguments: argparse.Namespace, hook: WebhookParams, base: str) -> Attempt:
    method = (arguments.method or (hook.method if isinstance(hook.method, str) else hook.method[0])).upper()
    content_type = arguments.content_type or _content_type(hook.auth)
    body = b"" if method in _WITHOUT_BODY and arguments.body is None else _body(arguments.body)
    path = f"/hooks{hook.path}"
    address = arguments.called or f"{base}{path}"
    now_ms = system_clock().now_ms()
    query = arguments.query.removeprefix("?")
    address = f"{address}?{query}" if query and arguments.called is None else address
    body, address = prepared(hook.auth, body, now_ms, address, content_type)
    headers = signed_headers(
        hook.auth, body, now_ms, secret=_secret(arguments, hook.auth), url=address, method=method, content_type=content_type,
        delivery=arguments.delivery,
    )  # fmt: skip
    if body:
        headers["Content-Type"] = content_type
    _, mark, sent = address.partition("?")
    return Attempt(method, f"{path}{mark}{sent}", address, headers, body)


def _content_type(auth: Hmac | Signed | Bearer | str) -> str:
    signs = scheme_of(signed_by(auth)).signs if isinstance(auth, Hmac | Signed) else ()
    return _FORM if "fields" in signs else "application/json"


def _body(given: str | None) -> bytes:
    """The exact bytes. Raises `InvalidRequest`."""
    if given is None:
        return b"{}"
    if given == "-":
        data = sys.stdin.buffer.read(MAX_REQUEST_BYTES + 1)
    elif given.startswith("@"):
        try:
            with open(given[1:], "rb") as file:
                data = file.read(MAX_REQUEST_BYTES + 1)
        except OSError as error:
            mend = "give a file that can be read"
            raise InvalidRequest(str(error.strerror), code="usage", place=given[1:], mend=mend) from error
    else:
        data = given.encode("utf-8", "surrogateescape")
    if len(data) > MAX_REQUEST_BYTES:
        message = f"the body has more than {MAX_REQUEST_BYTES:,} bytes"
        raise InvalidRequest(message, code="body_too_large", place="--body", mend="send less")
    return data


def _secret(arguments: argparse.Namespace, auth: Hmac | Signed | Bearer | str) -> str:
    if isinstance(auth, str):
        return ""
    written: Sequence[str] = [auth.bearer] if isinstance(auth, Bearer) else secrets_of(signed_by(auth))
    if not isinstance(auth, Bearer) and scheme_of(signed_by(auth)).proof == "ecdsa":
        return _private_key(arguments.private_key, written[0])
    if arguments.secret is not None:
        return str(arguments.secret)
    for text in written:
        names = _VARIABLE.findall(text)
        if all(os.environ.get(name) for name in names):
            return _VARIABLE.sub(lambda match: os.environ[match[1]], text)
    mend = f"set {_VARIABLE.findall(written[0])[0]} in the environment, or give --secret"
    raise InvalidRequest("the secret of the webhook is not known here", code="usage", place="--secret", mend=mend)


def _private_key(file: str | None, name: str) -> str:
    """The private key of --private-key. If the file does not exist, a new one is made, and its public key printed."""
    if file is None:
        mend = "give --private-key FILE: a new key is written there if the file does not exist"
        raise InvalidRequest("this scheme is signed with a private key", code="usage", place="--private-key", mend=mend)
    path = Path(file)
    if not path.exists():
        private = ecdsa.new_private()
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened_file:
                opened_file.write(private)
        except OSError as error:
            raise InvalidRequest(str(error.strerror), code="usage", place=file, mend="give another file") from error
        sys.stderr.write(f"wrote a new private key; set {name} of the server to its public key:\n{ecdsa.public_of(private)}\n")
        return private
    try:
        private = path.read_text()
        ecdsa.public_of(private)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest("the file cannot be read", code="usage", place=file, mend="give a key in PEM") from error
    except ConfigError as error:
        raise InvalidRequest(error.message, code="usage", place=file, mend=error.mend) from error
    return private


def _curl(attempt: Attempt) -> str:
    """The request as a command for a shell; a body that is no text is decoded from base64 by it."""
    method = ["-I"] if attempt.method == "HEAD" else ["-X", attempt.method]
    words = ["curl", *method, attempt.address]
    for name, value in attempt.headers.items():
        words += ["-H", f"{name}: {value}"]
    line = " ".join(shlex.quote(word) for word in words)
    if not attempt.body:
        return line
    try:
        text = attempt.body.decode()
    except UnicodeDecodeError:
        text = "\0"
    if text.startswith("@") or "\0" in text:
        return f"printf %s {b64encode(attempt.body).decode()} | base64 -d | {line} --data-binary @-"
    return f"{line} --data-binary {shlex.quote(text)}"
