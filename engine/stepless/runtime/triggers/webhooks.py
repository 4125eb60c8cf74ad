"""Starts a run from an HTTP request whose path, signature and body are valid."""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from typing import Final

from stepless.core.state import Instance, State
from stepless.core.values.masking import Mask, mask_for
from stepless.core.values.reference_values import Reading
from stepless.errors import AuthorError, Forbidden, InvalidRequest, NotFound
from stepless.expressions import compile_contract
from stepless.limits import IDEMPOTENCY_KEY_LIFE_MS, MAX_INPUT_BYTES, MAX_KNOWN_WEBHOOKS, MAX_PATH_CHARACTERS, MAX_REQUEST_BYTES
from stepless.model.graph import Graph, MessageSource, Node
from stepless.model.json import JSON
from stepless.model.runs.traceparent import stored_parent
from stepless.model.stored.encoding import encode
from stepless.model.triggers.webhook_schemes import SCHEMES, Scheme
from stepless.nodes.entries.webhook import Bearer, Hmac, Signed, WebhookParams, scheme_of, signed_by
from stepless.nodes.params import rendered
from stepless.runtime.triggers.challenges import Challenge, signed_challenge, unsigned_challenge
from stepless.runtime.triggers.message_sources import Ignored, deliver_from, source_of
from stepless.runtime.triggers.request_bodies import Decoded, decoded, form_of
from stepless.runtime.triggers.signatures import verify
from stepless.runtime.triggers.webhook_reads import reads_output
from stepless.runtime.verbs.changes.sending import Delivered
from stepless.runtime.verbs.publication.publishing import hook_key, owner_of
from stepless.runtime.verbs.starts.idempotency import Signature
from stepless.runtime.verbs.starts.repeated_deliveries import retried
from stepless.runtime.verbs.starts.starting import Started, latest, start
from stepless.runtime.world import World

_PRIVATE: Final = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})
_SURELY_FITS: Final = MAX_INPUT_BYTES // 64  # characters: no body of this size reaches the limit in all its forms
_FRAME: Final = 100  # bytes around a value among the inputs


@dataclass(frozen=True, slots=True)
class HookRequest:
    """An HTTP request as received. Header names are in lower case; `body` is raw. A field of the query that comes more than once
    is a list. `urls` are the addresses that the sender may have called, with the query, for schemes that sign it."""

    path: str
    method: str
    headers: Mapping[str, str]
    query: Mapping[str, JSON]
    body: bytes
    urls: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Hooked:
    """The run that a webhook started. `waits` is true if the caller waits for the run's own response."""

    started: Started
    waits: bool


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated sender. The run receives neither `headers` nor the secrets that `mask` hides. `delivery` is the key under
    which the sender retries. Without one, `signature` identifies the request, if it can. `signed` and `secret` say how it was
    signed."""

    mask: Mask
    headers: frozenset[str] = frozenset()
    delivery: str | None = None
    signature: Signature | None = None
    signed: Signed | None = None
    secret: str = field(default="", repr=False)


def trigger(world: World, request: HookRequest, run_id: str | None = None) -> Hooked:
    """Starts a run as `receive` does. Raises `InvalidRequest` too, for a request by which the sender only checks the address."""
    received = receive(world, request, run_id)
    if not isinstance(received, Hooked):
        message = "the request checks the address and is no event, so it starts no run"
        raise InvalidRequest(message, mend="answer it with the result of `receive`")
    return received


def receive(
    world: World, request: HookRequest, run_id: str | None = None
) -> Hooked | Challenge | Delivered | Ignored:
    """Checks a request against the webhook that listens on its path and starts a run, with the id `run_id` as `start` does, or
    delivers a message. Returns the answer instead if the sender only checks the address.

    Raises `NotFound` (unknown_hook), `InvalidRequest` (method_not_allowed 405, body_too_large 413, schema_violated 422, and as
    `request_bodies.decoded` does), `Forbidden` (bad_signature, stale_signature) and what `start` raises. Only an accepted run
    uses up a signature, a refusal does not. The same bytes return that run again, or its rerun if it ended without success
    (`retried`).
    """
    graph, node = _listener(world, request)
    if len(request.body) > MAX_REQUEST_BYTES:
        message = f"the body takes {len(request.body):,} bytes; {MAX_REQUEST_BYTES:,} is the limit"
        raise InvalidRequest(message, code="body_too_large", status=413)
    caller = _authenticate(world, graph, node, request)
    if isinstance(caller, Challenge):
        return caller
    found = decoded(request.headers, request.body)
    if caller.signed is not None:
        challenge = signed_challenge(scheme_of(caller.signed), found.body, caller.secret)
        if challenge is not None:
            return challenge
    check_schema(node, found.body)
    if graph.sources and (source := source_of(graph, node)) is not None:
        return _delivered(world, graph, source, request, found, caller)
    payload = caller.mask.value(_payload(graph, node, request, found, _PRIVATE | caller.headers))
    meta: dict[str, JSON] = {"trigger": {"kind": "webhook", "path": request.path}}
    if world.traces:
        meta |= stored_parent(request.headers)
    key = caller.delivery or request.headers.get("idempotency-key")
    same = [payload["body"], payload["query"]]  # a retry of the sender has other headers
    started = start(
        world, graph.workflow_id, payload, entry=[node.id], anywhere=True, meta=meta, key=key, same=same,
        signature=caller.signature, run_id=run_id,
    )  # fmt: skip
    life_ms = caller.signature.life_ms if caller.signature is not None else IDEMPOTENCY_KEY_LIFE_MS
    final = retried(world, started, life_ms) if started.replay else started
    return Hooked(final, node.config.literals.get("response") == "wait")


def _delivered(
    world: World, graph: Graph, source: MessageSource, request: HookRequest, found: Decoded, caller: Caller
) -> Delivered | Ignored:
    """Delivers a request as a message, whose id is that of the sender's delivery: a retry of the sender delivers nothing new."""
    headers = {name: value for name, value in request.headers.items() if name not in _PRIVATE | caller.headers}
    values = caller.mask.value({"body": found.body, "headers": headers, "query": dict(request.query)})
    signed = sha256(caller.signature.claim.encode()).hexdigest() if caller.signature is not None else None
    identity = caller.delivery or signed or request.headers.get("idempotency-key")
    return deliver_from(world, graph, source, values, values["body"], id=identity, by=f"webhook {request.path}")


def methods_of(world: World, path: str) -> Sequence[str]:
    """Returns the methods of the webhooks that listen on a path, sorted. Raises `NotFound` (unknown_hook)."""
    _, listeners = _listeners(world, path)
    return sorted({method for node in listeners for method in _methods(node)})


def _listener(world: World, request: HookRequest) -> tuple[Graph, Node]:
    graph, listeners = _listeners(world, request.path)
    for node in listeners:
        if request.method in _methods(node):
            return graph, node
    for node in listeners:
        if unsigned_challenge(_named_scheme(node), request.method) is not None:
            return graph, node
    allowed = sorted({method for node in listeners for method in _methods(node)})
    message = f"{request.path} does not accept {request.method}"
    raise InvalidRequest(message, code="method_not_allowed", status=405, mend=f"use {', '.join(allowed)}", allow=allowed)


def _listeners(world: World, path: str) -> tuple[Graph, list[Node]]:
    """The webhooks on a path, of one workflow."""
    owner = world.store.get_claim(hook_key(path), world.clock.now_ms())
    if owner is None:
        raise _unknown(path, _similar(world, path))
    version = latest(world, owner_of(owner, path))
    graph = world.versions.graph(version.workflow_id, version.hash)
    nodes = (*graph.root.nodes, *(source.node for source in graph.sources))
    listeners = [node for node in nodes if node.kind.name == "webhook" and node.config.literals["path"] == path]
    if not listeners:
        raise _unknown(path, None)
    return graph, listeners


def _similar(world: World, path: str) -> str | None:
    """A path with a webhook that differs in slashes or in capitals only."""
    cleaned = "/" + "/".join(step for step in path.split("/") if step)
    candidates = dict.fromkeys((cleaned, cleaned.lower()))
    return next((
        each for each in candidates
        if each != path and len(each) <= MAX_PATH_CHARACTERS and world.store.get_claim(hook_key(each), world.clock.now_ms())
    ), None)  # fmt: skip


def _unknown(path: str, similar: str | None) -> NotFound:
    listens = f"a webhook listens on `{similar}`: send to `/hooks{similar}`"
    mend = "publish a workflow with this path" if similar is None else listens
    return NotFound(f"no webhook listens on {path}", code="unknown_hook", mend=mend)


def _methods(node: Node) -> tuple[str, ...]:
    methods = node.config.literals.get("method", "POST")
    return (methods.upper(),) if isinstance(methods, str) else tuple(method.upper() for method in methods)


# -- authentication ---------------------------------------------------------------------------------------------------


def _authenticate(world: World, graph: Graph, node: Node, request: HookRequest) -> Caller | Challenge:
    """Checks the request's signature or token."""
    challenge = unsigned_challenge(_named_scheme(node), request.method)
    if challenge is not None:
        return challenge
    mask, auth = _auth(world, graph, node)
    if isinstance(auth, Bearer):
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {auth.bearer}".encode()):
            raise Forbidden("the bearer token is invalid", code="bad_token", status=401)
        return Caller(mask)
    if not isinstance(auth, Hmac | Signed):
        return Caller(mask)
    now_ms, auth = world.clock.now_ms(), signed_by(auth)
    proof = verify(auth, request.headers, request.body, now_ms, method=request.method, urls=request.urls)
    caller = Caller(mask, proof.headers, signed=auth, secret=proof.secret)
    if proof.delivery:
        delivery = sha256(f"{request.path}\0{proof.delivery}".encode("utf-8", "surrogatepass")).hexdigest()
        return replace(caller, delivery=f"delivery:{delivery}")
    if not proof.signature:
        return caller
    # as long as its timestamp is accepted, and at least as long as an idempotency key
    life_ms = max(2 * auth.tolerance_s * 1000, IDEMPOTENCY_KEY_LIFE_MS)
    return replace(caller, signature=Signature(f"signature:{request.path}:{proof.signature}", life_ms))


def _named_scheme(node: Node) -> Scheme | None:
    """The scheme that the document names, as far as it can be read without a secret."""
    auth = node.config.template.value.get("auth")
    name = auth.get("scheme") if isinstance(auth, Mapping) else None
    return next((scheme for known, scheme in SCHEMES.items() if known == name), None)


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
    reading = Reading(state, Instance(node, state.root), {}, 0, env)
    return rendered(WebhookParams, node.config.template.render(reading), node.config.literals)


# -- body -------------------------------------------------------------------------------------------------------------


def _payload(graph: Graph, node: Node, request: HookRequest, found: Decoded, private: frozenset[str]) -> JSON:
    """The inputs of the run. `form`, `raw` and `raw_body` would double a body in the log, so they are there only if the workflow
    reads them."""
    headers = {name: value for name, value in request.headers.items() if name not in private}
    payload: dict[str, JSON] = {
        "body": found.body, "headers": headers, "query": dict(request.query), "path": request.path, "charset": found.charset,
    }
    if not request.body:
        return payload
    if found.charset is None:
        payload["encoding"] = "base64"
    if reads_output(graph, node, "form"):
        form = form_of(request.headers, found.data)
        payload |= {} if form is None else {"form": form}
    if reads := reads_output(graph, node, "raw_body"):
        text = found.data.decode(found.charset) if found.charset is not None else None
        payload["raw_body"] = _fitting(payload, text, reads)
    if reads := reads_output(graph, node, "raw"):
        payload["raw"] = _fitting(payload, b64encode(request.body).decode(), reads)
    return payload


def _fitting(payload: JSON, text: str | None, reads: str) -> str | None:
    """The text, or None if it does not fit next to the payload and is not named by the workflow."""
    if text is None or reads == "named" or len(text) < _SURELY_FITS:
        return text
    return text if len(encode(text)) + len(encode(payload)) < MAX_INPUT_BYTES - _FRAME else None


def check_schema(node: Node, body: JSON) -> None:
    """Validates a body against the webhook's schema, if it has one. Raises `InvalidRequest` (schema_violated)."""
    schema = node.config.literals.get("schema")
    if schema is None:
        return
    violations = compile_contract(schema).violations(body)
    if violations:
        message = f"the body does not fit the webhook's schema: {violations[0]}"
        raise InvalidRequest(message, code="schema_violated", status=422, violations=list(violations))
