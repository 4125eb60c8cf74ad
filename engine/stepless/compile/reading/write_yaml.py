"""Writes JSON values as readable YAML 1.2. `read_yaml` reads the same values back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import yaml

from stepless.model.json import JSON

_WIDTH: Final = 120
_AMBIGUOUS: Final = re.compile(r"[-+.]?[0-9]|[-+.]|~|(?i:true|false|null|yes|no|on|off|y|n)\Z")
_DURATION: Final = re.compile(r"(?:[0-9]+(?:ms|[smhdw]))+\Z")  # begins as a number does, and is a text to every reader
_OTHER_BREAKS: Final = re.compile("[\x85\u2028\u2029]")


class _Dumper(yaml.SafeDumper):
    """Block style, keys in order, multi-line texts as blocks, no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    is_ambiguous = _AMBIGUOUS.match(text) and not _DURATION.match(text)
    style = "|" if "\n" in text else "'" if is_ambiguous else None  # YAML 1.2 has more numbers than PyYAML knows
    if text.endswith("\n\n") or text == "\n":
        style = '"'  # as a block it would keep the lines below it, and end the document
    if _OTHER_BREAKS.search(text):
        style = '"'  # characters that the reader treats as line breaks are escaped
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def write_yaml(document: Mapping[str, JSON], *, indent: int = 2) -> str:
    """Returns a document in block style, with its keys in order. `indent`: columns from a key to the block below it."""
    return yaml.dump(
        dict(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=False,
        indent=indent,
    )
