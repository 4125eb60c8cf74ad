"""What a deployment says for each parameter of the template: decided from what was given, what samconfig.toml records and what
the stack has. Pure: no file, no AWS.

A parameter without a default decides where data is kept. On an existing stack it keeps its value, unless another is given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

Values = Mapping[str, str]
Parameter = Mapping[str, Any]
Declared = Mapping[str, Parameter]  # the template's `Parameters`

FIRST: Values = {"SecretsSource": "ssm"}  # at a stack's first deployment, of what has no default. The others: empty
QUESTIONS: Mapping[str, tuple[str, ...]] = {  # of a first deployment, by Auth
    "api-key": ("ApiKeyHashes", "FunctionModules", "AlarmTopic"),
    "iam": ("IamRoles", "FunctionModules"),
    "jwt": ("JwtIssuer", "JwtAudience", "JwtRolesClaim", "FunctionModules"),
}
GIVES_ROLES: Mapping[str, tuple[str, str]] = {  # by Auth: the parameter without which no caller has a role, and an example
    "iam": ("IamRoles", "IamRoles=arn:aws:iam::123456789012:role/NAME=admin"),
    "jwt": ("JwtRolesClaim", "JwtRolesClaim=cognito:groups JwtRoles=GROUP=admin"),
}
POOL = "WithCognito"
OF_THE_POOL = ("JwtIssuer", "JwtAudience", "JwtRolesClaim")  # not asked for where the stack makes a user pool
RELEASE = "Release"  # the parameter with which a version of every function is published
MAX_TAGS = 40  # of 50 that a resource may have: CloudFormation and SAM add their own
TAG_NAME, TAG_VALUE = (re.compile(rf"[A-Za-z0-9_.:/+@-]{{1,{most}}}") for most in (128, 256))  # what `sam` and every service take
HASHES = re.compile(r"sha256:[0-9a-f]{64}(,sha256:[0-9a-f]{64})*")


class Refused(Exception):
    """A deployment that is not begun; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Decided:
    """`sent` goes to CloudFormation. `recorded` goes to samconfig.toml: no defaults, and nothing that is NoEcho."""

    sent: dict[str, str]
    recorded: dict[str, str]


def next_question(known: Values) -> str | None:
    """What a first deployment asks next, six questions at most with the one whether to deploy."""
    if "Auth" not in known:
        return "Auth"
    made = OF_THE_POOL if known.get(POOL) == "yes" else ()
    return next((name for name in QUESTIONS.get(known["Auth"], ()) if name not in known and name not in made), None)


def decide(declared: Declared, given: Values, recorded: Values, stack: Values | None) -> Decided:
    """`stack` is None where there is none yet. A value given as "" stands for the default."""
    if RELEASE in given or RELEASE in recorded:
        raise Refused(f"{RELEASE} is not given: each deployment that changes something sets it")
    for name in (*given, *recorded):
        if name not in declared:
            raise Refused(f"{name} is not a parameter of the template. There are: {', '.join(declared)}")
    declared = {name: parameter for name, parameter in declared.items() if name != RELEASE}
    found = {name: _value(name, parameter, given, recorded, stack or {}) for name, parameter in declared.items()}
    sent = {name: value for name, value in found.items() if value is not None}
    shown = {name: value for name, value in sent.items() if name in recorded or not _hidden(declared[name])}
    _check(declared, given, sent, stack)
    return Decided(sent, {name: value for name, value in shown.items() if value != _default(declared[name])})


def decide_tags(given: Values, recorded: Values, stack: Values) -> dict[str, str]:
    """The tags of a stack, and with it of every resource that can have some. One that is not given keeps its value; one that is
    given as "" is removed. What samconfig.toml records counts before what the stack has."""
    tags = {name: value for name, value in {**stack, **recorded, **given}.items() if value}
    for name in {**given, **tags}:
        if not TAG_NAME.fullmatch(name) or name.lower().startswith("aws:"):
            raise Refused(f"the tag {name[:140]!r} is malformed: 1 to 128 letters, digits and _.:/+@-, not beginning with aws:")
        if not TAG_VALUE.fullmatch(tags.get(name, "-")):
            raise Refused(f"the value of the tag {name} is malformed: 1 to 256 letters, digits and _.:/+@-")
    if len(tags) > MAX_TAGS:
        raise Refused(f"{len(tags)} tags are too many: a stack may have {MAX_TAGS}")
    return dict(sorted(tags.items()))


def release(template: str, declared: Declared, given: Values, sent: Values, stack: Values | None, mark: str) -> str:
    """The value of `Release`: another one if and only if the template or a parameter changes. A hidden parameter counts as
    changed if it is given: the release then carries the new `mark`."""
    was = stack or {}
    visible = {name: parameter for name, parameter in declared.items() if name != RELEASE and not _hidden(parameter)}
    values = {name: sent.get(name, was.get(name, _default(parameter))) for name, parameter in visible.items()}
    digest = sha256(json.dumps([template, values], sort_keys=True).encode()).hexdigest()[:12]
    kept = was.get(RELEASE, "").partition("-")[2]
    is_new = not kept or any(_hidden(declared[name]) for name in given)
    return f"{digest}-{mark if is_new else kept}"


def _value(name: str, parameter: Parameter, given: Values, recorded: Values, stack: Values) -> str | None:
    """None: CloudFormation keeps the value of the stack, or takes the default where there is none."""
    if name in given:
        return given[name] or _default(parameter) or FIRST.get(name, "")
    if _hidden(parameter):
        return recorded.get(name)  # what the stack answers is ****
    if _default(parameter) is not None:
        return recorded.get(name, stack.get(name))
    was = stack.get(name, recorded.get(name, FIRST.get(name, "")))
    if recorded.get(name, was) != was:
        raise Refused(
            f"samconfig.toml says {name}={recorded[name]!r}, the stack has {was!r}. It decides where data is kept, and is only "
            f"changed when it is given: make deploy SET='{name}={recorded[name]}' changes it, SET='{name}={was}' keeps it"
        )
    return was


def _default(parameter: Parameter) -> str | None:
    return str(parameter["Default"]) if "Default" in parameter else None


def _hidden(parameter: Parameter) -> bool:
    return str(parameter.get("NoEcho", False)).lower() == "true"


def _check(declared: Declared, given: Values, sent: Values, stack: Values | None) -> None:
    """Refuses what AWS would refuse in mid-deployment. The template's rules know less: they cannot compare numbers."""
    said = {name: sent.get(name, (stack or {}).get(name, _default(parameter) or "")) for name, parameter in declared.items()}
    timeout, visibility = said["RunnerTimeout"], said["QueueVisibility"]
    if visibility.isdecimal() and timeout.isdecimal() and int(visibility) < int(timeout):
        raise Refused(
            f"QueueVisibility={visibility} is shorter than RunnerTimeout={timeout}, which Lambda refuses: "
            "make deploy SET='QueueVisibility=' leaves it to the template"
        )
    has_pool = said.get(POOL) == "yes"
    if said["Auth"] == "jwt" and not has_pool and not (said["JwtIssuer"] and said["JwtAudience"]):
        raise Refused("Auth=jwt needs JwtIssuer and JwtAudience: make deploy SET='Auth=jwt JwtIssuer=https://… JwtAudience=…'")
    if has_pool and said["PublicUrl"].startswith("http:"):
        raise Refused(f"PublicUrl={said['PublicUrl']} is no address to which Cognito sends people back: it begins with https://")
    parameter, example = GIVES_ROLES.get(said["Auth"], ("", ""))
    chosen = parameter in given or ((stack or {}).get("Auth") == said["Auth"] and parameter in (stack or {}))
    if parameter in declared and not said[parameter] and not chosen:  # the stack may be of a release without roles
        raise Refused(
            f"Auth={said['Auth']} without {parameter} gives no caller a role, all are refused: make deploy SET='{example}'"
        )
    for name, value in sent.items():
        pattern = declared[name].get("AllowedPattern")
        if pattern is not None and re.fullmatch(pattern, value) is None:
            raise Refused(f"{name}={value} is malformed. {declared[name].get('Description', '')}")
    if said["Auth"] == "api-key" and stack is None and "ApiKeyHashes" not in sent:
        raise Refused("ApiKeyHashes is not given, without a key every caller is refused: make deploy SET='ApiKeyHashes=sha256:…'")
    if (hashes := sent.get("ApiKeyHashes")) and HASHES.fullmatch(hashes) is None:
        raise Refused("ApiKeyHashes is sha256: with 64 hex digits, and several are separated by commas")
