"""Maps claims of a JWT that the gateway has verified to roles.

The gateway checks the signature and passes the claims on as texts, in which `["not admin"]` and `["not", "admin"]` are both
`[not admin]`. The names of groups are therefore read from the token itself, which is in the `Authorization` header, and count
only if the gateway's texts agree with it. Its signature is not checked again here, but issuer, audience and times are.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final

import orjson

from stepless.errors import ConfigError, Forbidden
from stepless.limits import BEARER_SKEW_MS, MAX_BEARER_CHARACTERS, MAX_CLAIM_DOTS, MAX_CLAIM_NAMES
from stepless.runtime.access.grants import parse_grants
from stepless.runtime.access.roles import Role, implied

ROLES_PLACE: Final = "JwtRoles"
CLAIM_PLACE: Final = "JwtRolesClaim"
GROUP: Final = r"[^,=* \x00-\x1f\x7f](?:[^,=*\x00-\x1f\x7f]*[^,=* \x00-\x1f\x7f])?"  # template.yaml has the same
CLAIM: Final = r"[^, \x00-\x1f\x7f]+"
_SCOPES: Final = frozenset({"scope", "scp"})  # claims whose text is a list, separated by spaces (RFC 8693, section 4.2)
_SPACELESS: Final = _SCOPES | {"cognito:groups", "aud", "client_id"}  # claims whose names cannot contain spaces
_SAME: Final = ("iss", "sub", "jti")  # by which the token is recognised as the one that the gateway has verified
_SEGMENT: Final = "[A-Za-z0-9_-]+"
_BEARER: Final = re.compile(rf"(?:(?i:bearer) +)?{_SEGMENT}\.({_SEGMENT})\.{_SEGMENT}")

Groups = tuple[str, ...]


class _Unusable(Exception):
    """A claim that names no groups; the message says why."""


def expires_ms(authorizer: Mapping[str, Any], headers: Sequence[str]) -> int | None:
    """Returns when the token of a caller ends that the gateway has verified; None if it does not say so. Raises `Forbidden`."""
    texts = _texts(authorizer)
    token = _token(headers, texts)
    return _instant((texts if token is None else token).get("exp"))


class BearerRoles:
    """The roles that `JwtRoles` gives to the groups in the claims that `JwtRolesClaim` names.

    A claim's name is that of a claim of the token (`cognito:groups`, `https://example.com/roles`), or a path into one, with dots
    (`realm_access.roles`). Its value is a list of names or one name; the texts of `scope` and `scp` are lists. Names are compared
    exactly. Several claims are separated by commas. Raises `ConfigError` (invalid_roles) for a malformed setting.
    """

    def __init__(self, issuer: str, audience: str, claim: str, roles: str) -> None:
        self._issuer = issuer.rstrip("/")
        self._audience = frozenset(name.strip() for name in audience.split(",") if name.strip())
        self._claims = tuple(_claim_names(claim))
        self._granted: dict[str, set[Role]] = {}
        for grant in parse_grants(roles, ROLES_PLACE):
            if re.fullmatch(GROUP, grant.name) is None:
                message = f"{grant.name!r} is not the name of a group"
                mend = "write the exact name of the group, without `=` and wildcards, and commas between entries"
                raise ConfigError(message, code="invalid_roles", place=ROLES_PLACE, mend=mend)
            self._granted.setdefault(grant.name, set()).add(grant.role)
        for name, text in (("JwtIssuer", self._issuer), ("JwtAudience", self._audience)):
            if not text:
                raise ConfigError("it is empty", code="invalid_roles", place=name, mend=f"deploy with a {name}")

    def __call__(self, authorizer: Mapping[str, Any], headers: Sequence[str], now_ms: int) -> frozenset[Role]:
        """The roles of the caller. `authorizer` is what the gateway says of it, `headers` are the `Authorization` headers. Raises
        `Forbidden`: 401 (unauthorized) without a token that the gateway has verified and that is valid for this deployment, 403
        (no_role) if its claims give no role."""
        texts = _texts(authorizer)
        token = _token(headers, texts)
        self._check(texts, token, now_ms)
        roles: set[Role] = set()
        reasons: list[str] = []
        for name in self._claims:
            try:
                groups = _groups(name, texts, token)
            except _Unusable as unusable:
                reasons.append(f"the token's claim {name} {unusable}")
                continue
            found = [self._granted[group] for group in groups if group in self._granted]
            roles.update(*found)
            if not found:
                reasons.append(f"no name in the token's claim {name} has a role")
        if roles:
            return implied(roles)
        reason = "; ".join(reasons) or f"{CLAIM_PLACE} is not set"
        mend = f"ask an admin to give one of your groups a role: {CLAIM_PLACE} names the claim, {ROLES_PLACE} maps its values"
        place = ",".join(self._claims) or CLAIM_PLACE
        raise Forbidden(f"no role is given to this caller: {reason}", code="no_role", place=place, mend=mend)

    def _check(self, texts: Mapping[str, str], token: Mapping[str, Any] | None, now_ms: int) -> None:
        """What the gateway has checked too: so a route that was deployed with another authorizer, or none, gives no access."""
        if texts.get("iss", "").rstrip("/") != self._issuer:
            raise _unauthorized("the token is not from this deployment's issuer")
        if self._audience.isdisjoint(_audience(texts, token)):
            raise _unauthorized("the token is not for this deployment's audience")
        times = texts if token is None else token
        expires_ms, begins_ms = _instant(times.get("exp")), _instant(times.get("nbf", 0))
        if expires_ms is None or begins_ms is None:
            raise _unauthorized("the token does not say until when it is valid")
        if not begins_ms - BEARER_SKEW_MS <= now_ms < expires_ms + BEARER_SKEW_MS:
            raise _unauthorized("the token has expired, or is not valid yet")


def _unauthorized(message: str) -> Forbidden:
    mend = "send Authorization: Bearer <token>, with a token that is valid now"
    return Forbidden(message, code="unauthorized", status=401, mend=mend)


def _claim_names(setting: str) -> Iterator[str]:
    names = setting.split(",") if setting.strip(" ") else []
    for name in (name.strip(" ") for name in names):
        if re.fullmatch(CLAIM, name) is None or name.count(".") > MAX_CLAIM_DOTS:
            mend = "write cognito:groups, roles or realm_access.roles; several are separated by commas"
            raise ConfigError(f"{name!r} is not the name of a claim", code="invalid_roles", place=CLAIM_PLACE, mend=mend)
        yield name
    if len(names) > MAX_CLAIM_NAMES:
        message, mend = f"it names {len(names)} claims", f"name at most {MAX_CLAIM_NAMES}"
        raise ConfigError(message, code="invalid_roles", place=CLAIM_PLACE, mend=mend)


# -- the token ----------------------------------------------------------------------------------------------------------


def _texts(authorizer: Mapping[str, Any]) -> Mapping[str, str]:
    """The claims as the gateway passes them on. Raises `Forbidden` if it has verified no token."""
    verified = authorizer.get("jwt")
    claims = verified.get("claims") if isinstance(verified, Mapping) else None
    if not isinstance(claims, Mapping) or not claims:
        raise _unauthorized("the gateway has not authenticated this request")
    return {name: text for name, text in claims.items() if isinstance(text, str)}


def _token(headers: Sequence[str], texts: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The claims of the token that was sent; None where the gateway does not pass the header on. Raises `Forbidden` for anything
    but one token, the one that the gateway has verified: it joins several headers to one, with commas."""
    if not headers:
        return None
    header = headers[0].strip(" ")
    if len(headers) > 1 or len(header) > MAX_BEARER_CHARACTERS or (found := _BEARER.fullmatch(header)) is None:
        raise _unauthorized("the Authorization header is not one token")
    segment = found[1]
    try:
        token = orjson.loads(urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    except ValueError as error:
        raise _unauthorized("the token cannot be read") from error
    if not isinstance(token, dict):
        raise _unauthorized("the token cannot be read")
    for name in _SAME:
        if (isinstance(token.get(name), str) or name in texts) and str(token.get(name)) != texts.get(name):
            raise _unauthorized("the token is not the one that the gateway has verified")
    return token


def _audience(texts: Mapping[str, str], token: Mapping[str, Any] | None) -> Sequence[str]:
    """The audience of the token: `aud`, or `client_id` where there is none, as the gateway reads them."""
    name = "aud" if "aud" in texts else "client_id"
    try:
        return _groups(name, texts, token)
    except _Unusable:
        return ()


def _instant(seconds: object) -> int | None:
    """Seconds since 1970, a number or its text (`1700000000`, `1.7e+09`), in milliseconds; None for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | str):
        return None
    try:
        number = float(seconds)
    except (ValueError, OverflowError):
        return None
    return int(number * 1000) if isfinite(number * 1000) else None


# -- claims -------------------------------------------------------------------------------------------------------------


def _groups(name: str, texts: Mapping[str, str], token: Mapping[str, Any] | None) -> Groups:
    """The names in a claim. Raises `_Unusable` if there is no such claim, or not one of names."""
    if token is None:
        return _words(name, texts)
    found = _found(token, name.split("."))
    if found is None:
        raise _Unusable("is missing")
    claim, value = found
    if isinstance(value, str):
        named = value.split() if name in _SCOPES else [value]
    elif isinstance(value, list) and all(isinstance(group, str) for group in value):
        named = value
    else:
        raise _Unusable("is neither a text nor a list of texts")
    text = texts.get(claim, "")
    return tuple(group for group in named if group in text or json.dumps(group)[1:-1] in text)


def _found(value: Mapping[str, Any], path: Sequence[str]) -> tuple[str, Any] | None:
    """The value at a path, with the name of the claim that it is in. Names may contain dots: the longest that exists is tried
    first, so a claim with the whole path as its name is always the one."""
    for length in range(len(path), 0, -1):
        name = ".".join(path[:length])
        if name not in value:
            continue
        if length == len(path):
            return name, value[name]
        if isinstance(value[name], dict) and (inner := _found(value[name], path[length:])) is not None:
            return name, inner[1]
    return None


def _words(name: str, texts: Mapping[str, str]) -> Groups:
    """The names in a claim's text alone. `[a b]` may be a list of two names, or of one with a space: it is read only where names
    have no spaces."""
    if name not in texts:
        raise _Unusable("is missing")
    text = texts[name]
    if text.startswith("[") and text.endswith("]"):
        words = tuple(text[1:-1].split())
        if len(words) > 1 and name not in _SPACELESS:
            raise _Unusable("cannot be read without the token itself")
        return words
    return tuple(text.split()) if name in _SCOPES else (text,)
