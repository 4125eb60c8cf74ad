"""What was uploaded for a deployed function: its zip and those of its layers, unpacked as Lambda does."""

from __future__ import annotations

import zipfile
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import urlopen


@dataclass(frozen=True)
class Function:
    """`code` and `layers` are folders, the layers' `python` as on PYTHONPATH, the later layers first."""

    code: Path
    layers: list[Path]
    variables: dict[str, str]
    role: str
    timeout_s: int
    memory: int


class Shipped:
    def __init__(self, folder: Path, service: Callable[..., Any]) -> None:
        self._folder = folder
        self._service = service

    def function(self, name: str, version: str, region: str, owner: str) -> Function:
        """A published version. Raises `ValueError` if its zip cannot be had any more: the emulator keeps the newest."""
        client = self._service("lambda", region, owner)
        found = client.get_function(FunctionName=name, Qualifier=version)
        described = found["Configuration"]
        code = self._unpacked(found["Code"]["Location"], described["CodeSha256"])
        layers = [self._layer(client, layer["Arn"]) for layer in described.get("Layers", [])]
        variables = described.get("Environment", {}).get("Variables", {})
        return Function(code, layers[::-1], variables, described["Role"], described["Timeout"], described["MemorySize"])

    def _layer(self, client: Any, arn: str) -> Path:
        content = client.get_layer_version_by_arn(Arn=arn)["Content"]
        return self._unpacked(content["Location"], content["CodeSha256"]) / "python"

    def _unpacked(self, location: str, digest: str) -> Path:
        with urlopen(location, timeout=60) as answer:
            data: bytes = answer.read()
        read = sha256(data)
        if b64encode(read.digest()).decode() != digest:
            raise ValueError(f"{location} is not the zip with the digest {digest}")
        folder = self._folder / read.hexdigest()
        if not folder.exists():
            with zipfile.ZipFile(BytesIO(data)) as packed:
                packed.extractall(folder)
        return folder
