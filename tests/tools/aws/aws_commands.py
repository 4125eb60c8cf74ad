"""Commands of the AWS CLI as a page prints them, run by boto3: the CLI itself is not installed for the tests."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from botocore import xform_name

Client = Callable[..., Any]


def printed(page: str, heading: str) -> list[str]:
    """The `aws` commands of a section, up to the next heading."""
    section = re.split(r"\n##+ ", page.partition(f" {heading}\n")[2])[0]
    return [line.strip() for line in section.splitlines() if re.match(r" {4,}aws ", line)]


def run(command: str, variables: Mapping[str, str], client: Client, folder: Path | None = None) -> Any:
    """The service's answer. `variables` stand for those of the shell, `folder` for the current one. With `--profile`, the client
    is called with the service and the profile."""
    text = re.sub(r"\$(\w+)", lambda name: variables[name[1]], command)
    text, written = re.split(r" > (?=\S+$)", text) if " > " in text else (text, "")
    _, service, operation, *words = shlex.split(text)
    if "--profile" in words:
        place = words.index("--profile")
        client = partial(_with_profile, client, words[place + 1])
        del words[place : place + 2]
    if (service, operation) == ("s3", "sync"):
        return _sync(client("s3"), *words, folder)
    called = client(service)
    if operation == "wait":
        waiter = called.get_waiter(words[0].replace("-", "_"))
        shape = called.meta.service_model.operation_model(waiter.config.operation).input_shape
        return waiter.wait(**dict(_arguments(words[1:], shape, folder)), WaiterConfig={"Delay": 1})
    names = {xform_name(name, "-"): name for name in called.meta.service_model.operation_names}
    model = called.meta.service_model.operation_model(names[operation])
    asked, _, rest = " ".join(map(shlex.quote, words)).partition(" --query ")
    answer = getattr(called, xform_name(model.name))(**dict(_arguments(shlex.split(asked), model.input_shape, folder)))
    if written and folder is not None:
        (folder / written).write_text(answer[rest.split()[0]])
    return answer


def _with_profile(client: Any, profile: str, service: str) -> Any:
    return client(service, profile)


def _sync(s3: Any, source: str, target: str, folder: Path | None) -> None:
    """Between a bucket and a folder, in either direction."""
    assert folder is not None
    if source.startswith("s3://"):
        bucket, local = source.removeprefix("s3://"), folder / target
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for found in page.get("Contents", []):
                file = local / found["Key"]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(s3.get_object(Bucket=bucket, Key=found["Key"])["Body"].read())
        return
    for file in sorted((folder / source).rglob("*")):
        if file.is_file():
            key = file.relative_to(folder / source).as_posix()
            s3.put_object(Bucket=target.removeprefix("s3://"), Key=key, Body=file.read_bytes())


def _arguments(words: list[str], shape: Any, folder: Path | None) -> Iterator[tuple[str, Any]]:
    members = {xform_name(name, "-"): (name, member) for name, member in shape.members.items()}
    rest = list(words)
    while rest:
        option = rest.pop(0).removeprefix("--")
        if option not in members:
            yield members[option.removeprefix("no-")][0], False
            continue
        name, member = members[option]
        given = rest and not rest[0].startswith("--")
        yield name, _value(rest.pop(0), member, folder) if given else True


def _value(text: str, shape: Any, folder: Path | None) -> Any:
    if text.startswith("file://") and folder is not None:
        content = (folder / text.removeprefix("file://")).read_text()
        return json.loads(content) if shape.type_name == "structure" else content
    if shape.type_name == "structure":
        pairs = (pair.partition("=") for pair in text.split(","))
        return {name: _value(value, shape.members[name], folder) for name, _, value in pairs}
    return {"boolean": lambda: text == "true", "integer": lambda: int(text)}.get(shape.type_name, lambda: text)()
