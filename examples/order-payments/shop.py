"""The functions of a shop. They replace a mail service and a warehouse, so the example needs no network."""

from __future__ import annotations

import os

from stepless import FunctionCall, function

JOURNAL = "SHOP_JOURNAL"  # names a file to which every call adds a line, so that another process can count the calls


@function("shop.remind")
def remind(id: str, call: FunctionCall) -> dict[str, str]:
    _note(f"remind {id}", call)
    return {"reminded": id}


@function("shop.ship")
def ship(id: str, payment: str, call: FunctionCall) -> dict[str, str]:
    """Ships once, even if it is called again: `call.token` is the same in all attempts."""
    _note(f"ship {id}", call)
    return {"shipped": id, "payment": payment}


@function("shop.release")
def release(id: str, call: FunctionCall) -> dict[str, str]:
    _note(f"release {id}", call)
    return {"released": id}


def _note(what: str, call: FunctionCall) -> None:
    path = os.environ.get(JOURNAL)
    if path:
        with open(path, "a", encoding="utf-8") as journal:
            journal.write(f"{what} {call.token}\n")
