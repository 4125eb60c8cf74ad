"""JSON values to YAML 1.2, as people write it. Reading it with `read_yaml` gives the same values again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import yaml

from stepless.model.json import JSON

_WIDTH: Final = 120
_AMBIGUOUS: Final = re.compile(r"[-+.]?[0-9]|[-+.]|~|(?i:true|false|null|yes|no|on|off|y|n)\Z")
_OTHER_BREAKS: Final = re.compile("[\x85\u2028\u2029]")


class _Dumper(yaml.SafeDumper):
    """Block style, keys in their order, texts of several lines as such, no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else "'" if _AMBIGUOUS.match(text) else None  # YAML 1.2 reads more numbers than the writer knows
    if _OTHER_BREAKS.search(text):
        style = '"'  # what the reader takes for the end of a line is written as an escape
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def write_yaml(document: Mapping[str, JSON]) -> str:
    """A document in block style, its keys in their order."""
    return yaml.dump(dict(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=False)
