"""Imports optional packages that a command needs: a missing one is reported like any user error, with the command that installs
it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stepless.errors import ConfigError
from stepless.runtime.origin import command

EXTRAS: Final[Mapping[str, str]] = {  # top-level module → the extra of pyproject.toml that installs it
    "aws_lambda_powertools": "aws",
    "boto3": "aws",
    "botocore": "aws",
    "mangum": "aws",
    "fastapi": "local",
    "rich": "local",
    "shtab": "local",
    "starlette": "local",
    "uvicorn": "local",
    "pytest": "dev",
}


def missing_extra(error: ModuleNotFoundError) -> ConfigError | None:
    """Returns the error that names what to install; None for a module that no extra installs."""
    module = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(module)
    if extra is None:
        return None
    message = f"this needs {module}, which is not installed"
    return ConfigError(message, code="extra_missing", mend=f"install it: {command(extra)}")
