"""Commands of the AWS CLI as a page prints them, run by boto3: the CLI itself is not installed for the tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore import xform_name

Client = Callable[[str], Any]


def printed(page: str, heading: str) -> list[str]:
    """The `aws` commands of a section, up to the next heading."""
    section = re.split(r"\n##+ ", page.partition(f" {heading}\n")[2])[0]
    return [line.strip() for line in section.splitlines() if re.match(r" {4,}aws ", line)]


def run(command: str, variables: Mapping[str, str], client: Client) -> Any:
    """The service's answer. `variables` stand for those of the shell."""
    text = re.sub(r'"?\$(\w+)"?', lambda name: shlex.quote(variables[name[1]]), command)
    _, service, operation, *words = shlex.split(text)
    called = client(service)
    if operation == "wait":
        waiter = called.get_waiter(words[0].replace("-", "_"))
        shape = called.meta.service_model.operation_model(waiter.config.operation).input_shape
        return waiter.wait(**dict(_arguments(words[1:], shape)), WaiterConfig={"Delay": 1})
    names = {xform_name(name, "-"): name for name in called.meta.service_model.operation_names}
    model = called.meta.service_model.operation_model(names[operation])
    return getattr(called, xform_name(model.name))(**dict(_arguments(words, model.input_shape)))


def _arguments(words: list[str], shape: Any) -> Iterator[tuple[str, Any]]:
    members = {xform_name(name, "-"): (name, member) for name, member in shape.members.items()}
    rest = list(words)
    while rest:
        option = rest.pop(0).removeprefix("--")
        if option not in members:
            yield members[option.removeprefix("no-")][0], False
            continue
        name, member = members[option]
        given = rest and not rest[0].startswith("--")
        yield name, _value(rest.pop(0), member) if given else True


def _value(text: str, shape: Any) -> Any:
    if shape.type_name == "structure":
        pairs = (pair.partition("=") for pair in text.split(","))
        return {name: _value(value, shape.members[name]) for name, _, value in pairs}
    return {"boolean": lambda: text == "true", "integer": lambda: int(text)}.get(shape.type_name, lambda: text)()
