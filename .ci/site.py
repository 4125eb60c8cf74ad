"""Prepares docs/ for the site: adds the README as the first page, and shows links into the source as names of files.

A hook of MkDocs, see .mkdocs.yml. Links between pages stay as they are.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parent.parent
README: Final = "README.md"
FENCE: Final = re.compile(r"^(```\w+) [^`\n]+$", re.MULTILINE)  # marks for the tests, after the language
LINK: Final = re.compile(r"\[([^\]\[]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The README is the first page."""
    text = (ROOT / README).read_text("utf-8")
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to pages of docs/ become links of the site; links to anything else become the name of the file."""
    source = README if page.file.src_uri == "index.md" else f"docs/{page.file.src_uri}"

    def shown(match: re.Match[str]) -> str:
        text, path, anchor = match[1], match[2], match[3] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        name = "index.md" if target == README else posixpath.relpath(target, "docs")
        if (ROOT / target).is_dir() and files.get_file_from_path(f"{name}/README.md"):
            name += "/README.md"
        if files.get_file_from_path(name):
            return f"[{text}]({posixpath.relpath(name, posixpath.dirname(page.file.src_uri) or '.')}{anchor})"
        return f"{text} (`{target}`)"

    return LINK.sub(shown, FENCE.sub(r"\1", markdown))
