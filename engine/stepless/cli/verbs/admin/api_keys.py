"""Implements `keys`: API keys, which give access to the API, and signing keys, which sign and verify the links that answer
questions."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from stepless.cli.reach.gateway import opened
from stepless.cli.terminal.formatting import Column, fields, put_json, say, table, when
from stepless.errors import InvalidRequest
from stepless.limits import MAX_SIGNING_KEYS, MAX_SIGNING_TEXT_BYTES
from stepless.runtime.access.signing_keys import rotate_kept, rotated
from stepless.runtime.access.tokens import Key, parse_keys
from stepless.runtime.wiring.local import attached

_LISTED: Final = (
    Column("KEY"), Column("NAME", least=8), Column("ROLES", least=7), Column("LAST USED"), Column("MADE", spare=True),
)  # fmt: skip


def list_(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        return _put_keys(gateway.ask("GET", "keys")["keys"], arguments.json)


def create(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        return _put_secret(gateway.ask("POST", "keys", body={"name": arguments.name, "roles": arguments.role}), arguments.json)


def revoke(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        left = gateway.ask("DELETE", "keys", arguments.id)["keys"]
        if not arguments.json:
            print(f"{arguments.id} is revoked. Every process refuses it within five seconds.")
        return _put_keys(left, arguments.json)


def rotate(arguments: argparse.Namespace) -> int:
    if bool(arguments.id) == (arguments.signing is not None):
        mend = "`keys rotate KEY` for an API key (see `keys list`), `keys rotate --signing` for the key that signs links"
        raise InvalidRequest("give exactly one key to rotate", code="usage", mend=mend)
    if arguments.signing is not None:
        return _rotate_signing(arguments)
    with opened(arguments) as gateway:
        return _put_secret(gateway.ask("POST", "keys", arguments.id, "rotate"), arguments.json)


def _put_keys(keys: list[Mapping[str, Any]], as_json: bool) -> int:
    if as_json:
        for key in keys:
            put_json(key)
    elif keys:
        rows = [
            (key["id"], key["name"], " ".join(key["roles"]), when(key["last_used_at"]) or "never", when(key["created_at"]))
            for key in keys
        ]
        say(table(_LISTED, rows))
    else:
        print("No API key was created here. Configured keys are not listed.")
    return 0


def _put_secret(key: Mapping[str, Any], as_json: bool) -> int:
    if as_json:
        put_json(key)
        return 0
    print(f"{key['id']}  {key['name']}")
    former = f"until {when(key['former_until'])}" if key["former_until"] else ""
    say(fields([("roles", " ".join(key["roles"])), ("old secret", former and f"valid {former}")]))
    print(f"\n{key['secret']}\n\nThe secret is shown only once. Store it now.")
    return 0


# -- signing keys -----------------------------------------------------------------------------------------------------


def _rotate_signing(arguments: argparse.Namespace) -> int:
    """Rotates the signing keys of a file in place. The keys of a deployment are read from standard input and written to standard
    output."""
    if arguments.signing == "-":
        print(rotated_text(sys.stdin.read(MAX_SIGNING_TEXT_BYTES + 1)))
        return 0
    with opened(arguments) as gateway:
        if not gateway.file:
            mend = "`keys rotate --signing -` prints the new value of the secret: docs/run/operations.md"
            raise InvalidRequest("a deployment stores its signing keys in a secret", code="usage", place=gateway.where, mend=mend)
        built = attached(gateway.file)
        try:
            keys = rotate_kept(built.service.world.store, built.service.world.clock)
        finally:
            built.close()
    if arguments.json:
        put_json({"signs": keys[0].id, "opens": [key.id for key in keys]})
        return 0
    print(f"{keys[0].id} signs the links of {gateway.where} after the next start of `stepless dev`.")
    print(f"Links signed by the {len(keys) - 1} earlier keys stay valid. The oldest of more than {MAX_SIGNING_KEYS} is dropped.")
    print("The API key that `stepless dev` generates changes too.")
    return 0


def rotated_text(text: str) -> str:
    """Returns the configured signing keys after a new one, as JSON. Raises `InvalidRequest` if the text is not a list of keys."""
    keys: tuple[Key, ...] = ()
    if len(text) <= MAX_SIGNING_TEXT_BYTES:
        try:
            keys = parse_keys(text)
        except (ValueError, AttributeError):
            keys = ()
    if not keys:
        mend = 'give the value of the secret: {"id": "secret"} or id:secret'
        raise InvalidRequest("the text is not a list of signing keys", code="usage", place="standard input", mend=mend)
    return json.dumps({key.id: key.secret.decode() for key in rotated(keys)})
