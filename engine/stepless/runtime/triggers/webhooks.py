"""Webhooks: starts a run from an HTTP request whose path, signature and body are valid."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from stepless.compile.reading.strict_json import strict_json
from stepless.core.masking import Mask, mask_for
from stepless.core.reading import Reading
from stepless.core.state import State
from stepless.errors import AuthorError, Forbidden, InvalidRequest, NotFound
from stepless.expressions import compile_contract
from stepless.limits import IDEMPOTENCY_KEY_LIFE_MS, MAX_KNOWN_WEBHOOKS, MAX_REQUEST_BYTES
from stepless.model.graph import Graph, Node
from stepless.model.json import JSON
from stepless.model.traceparent import stored_parent
from stepless.nodes import KINDS
from stepless.nodes.params import rendered
from stepless.nodes.webhook import Bearer, Hmac, Signed, WebhookParams
from stepless.runtime.triggers.signatures import verify
from stepless.runtime.verbs.idempotency import Signature
from stepless.runtime.verbs.publishing import hook_key, owner_of
from stepless.runtime.verbs.starting import Started, latest, start
from stepless.runtime.world import World

_PRIVATE = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})


@dataclass(frozen=True, slots=True)
class HookRequest:
    """An HTTP request as received. Header names are in lower case; `body` is raw."""

    path: str
    method: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Hooked:
    """The run that a webhook started. `waits` is true if the caller waits for the run's own response."""

    started: Started
    waits: bool


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated sender. The run receives neither `headers` nor the secrets that `mask` hides. `delivery` is the key under
    which the sender retries. Without one, `signature` identifies the request."""

    mask: Mask
    headers: frozenset[str] = frozenset()
    delivery: str | None = None
    signature: Signature | None = None


def trigger(world: World, request: HookRequest, run_id: str | None = None) -> Hooked:
    """Checks a request against the webhook that listens on its path and starts a run, with the id `run_id` as `start` does.

    Raises `NotFound` (unknown_hook), `InvalidRequest` (method_not_allowed 405, body_too_large 413, invalid_json 400,
    schema_violated 422), `Forbidden` (bad_signature, stale_signature) and what `start` raises. Only an accepted run uses up a
    signature, a refusal does not. The same bytes return that run again.
    """
    graph, node = _listener(world, request)
    if len(request.body) > MAX_REQUEST_BYTES:
        message = f"the body takes {len(request.body):,} bytes; {MAX_REQUEST_BYTES:,} is the limit"
        raise InvalidRequest(message, code="body_too_large", status=413)
    caller = _authenticate(world, graph, node, request)
    body = _body(request)
    check_schema(node, body)
    headers = {name: value for name, value in request.headers.items() if name not in _PRIVATE | caller.headers}
    payload = caller.mask.value({"body": body, "headers": headers, "query": dict(request.query), "path": request.path})
    meta: dict[str, JSON] = {"trigger": {"kind": "webhook", "path": request.path}}
    if world.traces:
        meta |= stored_parent(request.headers)
    key = caller.delivery or request.headers.get("idempotency-key")
    same = [payload["body"], payload["query"]]  # a retry of the sender has other headers
    started = start(
        world, graph.workflow_id, payload, entry=[node.id], anywhere=True, meta=meta, key=key, same=same,
        signature=caller.signature, run_id=run_id,
    )  # fmt: skip
    return Hooked(started, node.config.literals.get("response") == "wait")


def _listener(world: World, request: HookRequest) -> tuple[Graph, Node]:
    owner = world.store.get_claim(hook_key(request.path), world.clock.now_ms())
    unknown = NotFound(f"no webhook listens on {request.path}", code="unknown_hook", mend="publish a workflow with this path")
    if owner is None:
        raise unknown
    version = latest(world, owner_of(owner, request.path))
    graph = world.versions.graph(version.workflow_id, version.hash)
    listeners = [n for n in graph.root.nodes if n.kind is KINDS["webhook"] and n.config.literals["path"] == request.path]
    if not listeners:
        raise unknown
    for node in listeners:
        if request.method in _methods(node):
            return graph, node
    allowed = sorted({method for node in listeners for method in _methods(node)})
    message = f"{request.path} does not accept {request.method}"
    raise InvalidRequest(message, code="method_not_allowed", status=405, mend=f"use {', '.join(allowed)}", allow=allowed)


def _methods(node: Node) -> tuple[str, ...]:
    methods = node.config.literals.get("method", "POST")
    return (methods.upper(),) if isinstance(methods, str) else tuple(method.upper() for method in methods)


# -- authentication ---------------------------------------------------------------------------------------------------


def _authenticate(world: World, graph: Graph, node: Node, request: HookRequest) -> Caller:
    """Checks the request's signature or token."""
    mask, auth = _auth(world, graph, node)
    if isinstance(auth, Bearer):
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {auth.bearer}".encode()):
            raise Forbidden("the bearer token is invalid", code="bad_token", status=401)
        return Caller(mask)
    if isinstance(auth, Hmac):
        auth = Signed(scheme="hmac", secret=auth.hmac, header=auth.header, tolerance_s=auth.tolerance_s)
    if not isinstance(auth, Signed):
        return Caller(mask)
    now_ms = world.clock.now_ms()
    proof = verify(auth, request.headers, request.body, now_ms)
    if not proof.delivery:
        # as long as its timestamp is accepted, and at least as long as an idempotency key
        life_ms = max(2 * auth.tolerance_s * 1000, IDEMPOTENCY_KEY_LIFE_MS)
        return Caller(mask, proof.headers, signature=Signature(f"signature:{request.path}:{proof.signature}", life_ms))
    delivery = sha256(f"{request.path}\0{proof.delivery}".encode("utf-8", "surrogatepass")).hexdigest()
    return Caller(mask, proof.headers, f"delivery:{delivery}")


def _auth(world: World, graph: Graph, node: Node) -> tuple[Mask, Bearer | Hmac | Signed | str]:
    """The `auth` of a webhook with its secrets filled in, and the mask that hides them. Fails closed: raises `Forbidden` if a
    secret is missing or unusable."""
    read = {ref.root for ref in node.config.template.references if ref.env}
    env = {name: world.secrets.get(name) or "" for name in graph.env if name in read}
    missing = [name for name, value in env.items() if not value]
    if missing:
        message = f"the secret {missing[0]} is not set, so no request can be accepted"
        raise Forbidden(message, code="secret_missing", mend=f"set {missing[0]} in the environment", status=503)
    try:
        params = _constant(node) if node.config.template.constant else _filled_in(graph, node, env)
    except AuthorError:
        message = "the webhook's `auth` cannot be evaluated, so no request can be accepted"
        raise Forbidden(message, code="secret_missing", mend="check its secret", status=503) from None
    return mask_for(frozenset(env.values())), params.auth


@lru_cache(maxsize=MAX_KNOWN_WEBHOOKS)
def _constant(node: Node) -> WebhookParams:
    """The parameters of a webhook in which nothing is filled in."""
    return rendered(WebhookParams, node.config.template.value, node.config.literals)


def _filled_in(graph: Graph, node: Node, env: Mapping[str, str]) -> WebhookParams:
    state = State(graph, "")
    reading = Reading(state, state.root.at(node.position), {}, 0, env)
    return rendered(WebhookParams, node.config.template.render(reading), node.config.literals)


# -- body -------------------------------------------------------------------------------------------------------------


def _body(request: HookRequest) -> JSON:
    """The parsed body if the content type is JSON or absent, otherwise the text; None for an empty body."""
    if not request.body:
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("", "application/json") and not kind.endswith("+json"):
        return request.body.decode("utf-8", "replace")
    return strict_json(request.body)


def check_schema(node: Node, body: JSON) -> None:
    """Validates a body against the webhook's schema, if it has one. Raises `InvalidRequest` (schema_violated)."""
    schema = node.config.literals.get("schema")
    if schema is None:
        return
    violations = compile_contract(schema).violations(body)
    if violations:
        message = f"the body does not fit the webhook's schema: {violations[0]}"
        raise InvalidRequest(message, code="schema_violated", status=422, violations=list(violations))
