"""Implements `version`: prints the release of Stepless and the version of Python."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

from stepless.cli.terminal.formatting import put_json

UNKNOWN = "unknown"  # run from a folder that is not installed


def version(arguments: argparse.Namespace) -> int:
    if arguments.json:
        put_json({"stepless": _release(), "python": platform.python_version()})
    else:
        print(f"stepless {_release()} (Python {platform.python_version()})")
    return 0


def _release() -> str:
    try:
        return installed("stepless")
    except PackageNotFoundError:
        return UNKNOWN
