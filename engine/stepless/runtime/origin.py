"""Where this copy of Stepless came from: what installs it again, with an extra or elsewhere.

The bare name is never given to an installer: a package index may hold something else under it. PEP 610 keeps the place in
`direct_url.json`, beside what was installed.
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
    """What an installer noted of this copy; None for a copy that runs from its source or a layer."""
    try:
        return distribution(NAME)
    except PackageNotFoundError:
        return None


def place() -> str:
    """The URL that this copy was installed from, as a requirement names it; empty when it came from an index, or when the
    file or folder is no longer there."""
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
    """Whether only this machine can read it."""
    return url.startswith("file:")


def command(extra: str) -> str:
    """What a user types to have an extra: this copy once more, from its place; where that is not known, what the extra brings."""
    where = place()
    if where:
        return f"pip install '{NAME}[{extra}] @ {where}'"
    return "pip install " + " ".join(f"'{requirement}'" for requirement in brought_by(extra))


def brought_by(extra: str) -> list[str]:
    """The requirements of an extra, without their markers."""
    found = installed()
    written = found.requires or [] if found is not None else []
    return [_EXTRA.sub("", line) for line in written if (match := _EXTRA.search(line)) and match[1] == extra]
