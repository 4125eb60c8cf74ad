"""Chooses how callers that a gateway has authenticated get their roles, from the settings of the deployment.

Nothing here gives a role by default. Where the settings are malformed, every caller is refused and the message names the setting.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from stepless.errors import ConfigError, Forbidden
from stepless.runtime.access.roles import Role

Gateway: TypeAlias = Callable[[Mapping[str, Any], Sequence[str], int], frozenset[Role]]
"""The roles of a caller, by what the gateway says of it, the `Authorization` headers, and the time in milliseconds. Raises
`Forbidden` where there are none."""

_log: Final = logging.getLogger("stepless.access")


def gateway(auth: str, setting: Callable[[str, str], str]) -> Gateway | None:
    """Returns the gateway of the parameter `Auth`. None: the callers have API keys. `setting` reads a variable of the
    environment, with a default. Raises nothing: a malformed setting is logged, and refuses every caller with 403
    (access_misconfigured)."""
    try:
        return _gateway(auth, setting)
    except ConfigError as error:
        _log.error("callers cannot be given roles: %s", error)
        return _closed(error)


def _gateway(auth: str, setting: Callable[[str, str], str]) -> Gateway | None:
    match auth:
        case "api-key":
            return None
        case "iam":
            from stepless.runtime.access.principals import PrincipalRoles

            return PrincipalRoles(setting("STEPLESS_IAM_ROLES", ""))
        case "jwt":
            from stepless.runtime.access.bearers import BearerRoles

            names = ("ISSUER", "AUDIENCE", "ROLES_CLAIM", "ROLES")
            return BearerRoles(*(setting(f"STEPLESS_JWT_{name}", "") for name in names))
    message, mend = f"{auth!r} is not a way to authenticate", "use api-key, iam or jwt"
    raise ConfigError(message, code="invalid_roles", place="Auth", mend=mend)


def _closed(error: ConfigError) -> Gateway:
    def refuse(authorizer: Mapping[str, Any], headers: Sequence[str], now_ms: int) -> frozenset[Role]:
        message = "no caller can be given a role: a setting of this deployment is malformed"
        mend = f"ask the operator to correct {error.place}; the log of the API function says what is wrong"
        raise Forbidden(message, code="access_misconfigured", place=error.place, mend=mend)

    return refuse
