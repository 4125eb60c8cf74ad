"""The package's long description: the README, with links that also work on a package index.

A metadata hook of hatchling, see pyproject.toml. Links become absolute with `Source` of `[project.urls]`. Without
such an entry, each becomes the name of the file. A picture becomes a link: a package index shows none from a repository.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE: Final = re.compile(r"!?\[([^\]\[]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
BRANCH: Final = "main"


class Description(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        source = metadata.get("urls", {}).get("Source", "").rstrip("/")
        target = rf"[\1]({source}/blob/{BRANCH}/\2\3)" if source else r"\1 (`\2`)"
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": RELATIVE.sub(target, text)}
