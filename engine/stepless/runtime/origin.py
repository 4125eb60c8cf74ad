"""Finds where this copy of Stepless was installed from, to install it again, with an extra or on another machine.

The bare name is never passed to an installer, because a package index may hold another package under it. Per PEP 610, installers
store the source URL in `direct_url.json` next to the installed files.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

NAME: Final = "stepless"
_EXTRA: Final = re.compile(r"""\s*;.*\bextra\s*==\s*['"]([\w.-]+)['"].*""")


def installed() -> Distribution | None:
    """Returns the metadata that an installer stored for this copy; None for a copy that runs from its source or a layer."""
    try:
        return distribution(NAME)
    except PackageNotFoundError:
        return None


def place() -> str:
    """Returns the URL that this copy was installed from, in the form of a requirement. Empty if it came from an index, or if the
    file or folder no longer exists."""
    found = installed()
    if found is None:
        root = Path(__file__).resolve().parents[3]
        return root.as_uri() if (root / "pyproject.toml").is_file() else ""
    noted = json.loads(found.read_text("direct_url.json") or "{}")
    url: str = noted.get("url", "")
    if "vcs_info" in noted:
        url = f"{noted['vcs_info']['vcs']}+{url}@{noted['vcs_info']['commit_id']}"
    elif is_local(url) and not Path(url2pathname(urlsplit(url).path)).exists():
        return ""
    return f"{url}#subdirectory={noted['subdirectory']}" if url and "subdirectory" in noted else url


def is_local(url: str) -> bool:
    """Returns whether the URL names a file of this machine."""
    return url.startswith("file:")


def command(extra: str) -> str:
    """Returns the command that installs an extra: this copy again, from its source URL. If that is unknown, the extra's
    requirements."""
    where = place()
    if where:
        return f"pip install '{NAME}[{extra}] @ {where}'"
    return "pip install " + " ".join(f"'{requirement}'" for requirement in brought_by(extra))


def brought_by(extra: str) -> list[str]:
    """Returns the requirements of an extra, without their markers."""
    found = installed()
    written = found.requires or [] if found is not None else []
    return [_EXTRA.sub("", line) for line in written if (match := _EXTRA.search(line)) and match[1] == extra]
