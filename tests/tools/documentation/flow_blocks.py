"""Checks blocks of pages that show what the compiler of flows does with a source.

A block has the mark `refused`, `warned`, `lifted` or `compiled`, and one or more examples. In blocks of the first two marks an
example follows a comment `# code: meaning`, and the meaning is that of the table of codes. Below what is refused, and the comment
`# mended`, stands what compiles. An example is a workflow of its own if
it has `workflow(`, else the body of `async def example(order: Order)`. The names that it uses come from a file that an earlier
block of the page has written.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pages import Block

from stepless.codes_of_flows import TEXTS
from stepless.flow import Flow, FlowRefused, workflow
from stepless.nodes.function import replacing_registrations

MARKS = ("refused", "warned", "lifted", "compiled")
NAMES = "shop.py"  # the file whose names the examples use
_HEAD = re.compile(r"# ([a-z_]+): (.+)$")


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a block; `code` and `meaning` are empty where no comment stands above it."""

    place: str
    code: str
    meaning: str
    text: str
    mended: str = ""


def mark_of(block: Block) -> str | None:
    return next((mark for mark in block.marks if mark in MARKS), None)


def examples(block: Block) -> Iterator[Example]:
    """The examples of a block: separated by empty lines."""
    for text in re.split(r"\n\n+", block.text.strip("\n")):
        head = _HEAD.match(text.partition("\n")[0])
        body, _, mended = (text.partition("\n")[2] if head else text).partition("\n# mended\n")
        yield Example(block.place, head[1] if head else "", head[2] if head else "", body, mended)


def check(block: Block, folder: Path) -> None:
    """Compiles each example of a block, and compares. Raises AssertionError."""
    mark = mark_of(block)
    with replacing_registrations([]):
        names = _names(folder)
        for number, example in enumerate(examples(block)):
            found = _verdict(_flow(example, names, folder / f"_example_{block.line}_{number}.py"))
            if mark in ("refused", "warned"):
                assert example.code in TEXTS, f"{example.place}: there is no code `{example.code}`"
                meaning = TEXTS[example.code][0]
                assert example.meaning == meaning, f"{example.place}: `{example.code}` means {meaning}"
            expected = {"refused": example.code, "warned": f"warned {example.code}"}.get(mark or "", mark)
            assert found == expected, f"{example.place}: {found}, not {expected}:\n{example.text}"
            if example.mended:
                mended = _flow(replace(example, text=example.mended), names, folder / f"_mended_{block.line}_{number}.py")
                found = _verdict(mended)
                assert found in ("lifted", "compiled"), f"{example.place}: {found}, mended:\n{example.mended}"


def _names(folder: Path) -> Mapping[str, Any]:
    file = str(folder / NAMES)
    names: dict[str, Any] = {"__name__": "shop"}
    exec(compile(Path(file).read_text("utf-8"), file, "exec", dont_inherit=True), names)
    return names


def _flow(example: Example, names: Mapping[str, Any], file: Path) -> Flow[..., Any]:
    whole = "workflow(" in example.text
    body = "".join(f"    {line}\n" for line in example.text.splitlines())
    source = example.text + "\n" if whole else f"async def example(order: Order):\n{body}"
    linecache.cache[str(file)] = (len(source), None, source.splitlines(keepends=True), str(file))
    space = dict(names)
    exec(compile(source, str(file), "exec", dont_inherit=True), space)
    if not whole:
        return workflow("example")(space["example"])
    flow: Flow[..., Any] = next(made for name, made in reversed(space.items()) if isinstance(made, Flow) and name not in names)
    return flow


def _verdict(flow: Flow[..., Any]) -> str:
    try:
        compiled = flow.compile()
    except FlowRefused as refused:
        return " and ".join(dict.fromkeys(finding.code for finding in refused.findings))
    warned = " and ".join(dict.fromkeys(warning.code for warning in compiled.warnings))
    if warned:
        return f"warned {warned}"
    nodes = compiled.document["nodes"].values()
    lifted = any(node["type"] == "code" or ".eval_" in str(node) or ".block_" in str(node) for node in nodes)
    return "lifted" if lifted else "compiled"
