"""The reader of pages refuses wrong blocks, and accepts correct ones."""

from __future__ import annotations

import pytest
import yaml
from flow_blocks import NAMES
from pages import Block, in_lines
from reader import Reader

MODEL = "from pydantic import BaseModel\n\n\nclass Order(BaseModel):\n    amount: int\n"


def block(language: str, text: str, *marks: str) -> Block:
    return Block("page.md", 1, language, marks, text)


@pytest.mark.parametrize(
    "wrong",
    [
        block("rust", "fn main() {}\n"),
        block("", "anything\n"),
        block("yaml", "id: x\nnodes: {a: {type: nothing}}\n"),
        block("yaml", "id: x\nnodes: {a: {type: manual}}\n", "broken"),
        block("json", "{'a': 1}\n"),
        block("python", "raise SystemExit(1)\n"),
        block("python", "# test_x.py\ndef test_x():\n    assert False\n"),
        block("python", "# test_x.py\ndef test_x():\n    assert True\n", "fails"),
        block("python", "return 1\n", "refused"),
        block("python", "# mutation: something other than a name is changed in place\nreturn 1\n", "refused"),
        block("python", "# bare_raise: another meaning\nraise\n", "refused"),
        block("python", "raise\n", "compiled"),
        block("python", "return 1\n", "lifted"),
        block("python", "return 1\n\nreturn 2 ** 8\n", "compiled"),
        block("python", "# unreachable: a statement can never be reached (warning)\nreturn 1\n", "warned"),
        block("console", "$ echo one\ntwo\n"),
        block("bash", "false\n"),
        block("bash", "make no-such-target\n"),
        block("bash", "aws ssm put-parametre --name x\n"),
        block("bash", "aws ssm put-parameter --nome x\n"),
        block("sh", "aws dynamodb wait table-is --table-name x\n"),
        block("sh", "aws ssm get-parameters-by-path --path / | xargs -n 1 aws ssm lose-parameter --name\n"),
        block("sh", "start all\n"),
        block("bash", "curl $URL/no/such/route\n"),
        block("bash", "stepless dance https://example.com\n"),
        block("text", "nothing was run\n"),
    ],
    ids=lambda wrong: f"{wrong.language}-{wrong.text[:20]!r}",
)
def test_the_reader_refuses(wrong: Block, reader: Reader) -> None:
    (reader.folder / NAMES).write_text(MODEL, "utf-8")
    with pytest.raises((AssertionError, SyntaxError, ValueError, yaml.YAMLError)):
        reader.read(wrong)


def test_the_reader_follows_a_page(reader: Reader) -> None:
    for good in (
        block("yaml", "# hello.yaml\nid: hello\nnodes: {begin: {type: manual}}\n"),
        block("bash", "NAME=hello\nstepless validate \\\n  $NAME.yaml\n"),
        block("text", "hello.yaml: fine\n"),
        block("console", "$ echo $NAME; cat nowhere\nhello\ncat: …\n\n$ pwd\n"),
        block("python", "print(open('hello.yaml').readline())\n"),
        block("text", "# hello.…\n"),
        block("bash", "make deploy STACK=x\ncurl \"$URL/health\"\n"),
        block("sh", "stop() { for f in a b; do aws lambda list-functions; done; }\nstop a\n"),
        block("sh", "aws s3 ls | xargs -n 1 aws s3 rm\naws dynamodb wait table-exists --table-name x\n"),
    ):
        reader.read(good)


def test_the_reader_compiles_sources_of_flows(reader: Reader) -> None:
    (reader.folder / NAMES).write_text(MODEL, "utf-8")
    for good in (
        block("python", "# bare_raise: `raise` outside of a handler\nraise\n", "refused"),
        block("python", "# unreachable: a statement can never be reached (warning)\nreturn 1\nreturn 2\n", "warned"),
        block("python", "return order.amount + 1\n", "compiled"),
        block("python", "return order.amount ** 2\n\nprint(order.amount)\n", "lifted"),
    ):
        reader.read(good)


def test_blocks_are_found_wherever_they_stand() -> None:
    page = """\
Text.

    make one

* an item

  that goes on

      make two

1. another

   ```sh
   make three
   ```

Text
    that is no code.
"""
    found = [(block.line, block.language, block.text) for block in in_lines("page.md", page.splitlines())]
    assert found == [(3, "bash", "make one\n"), (9, "bash", "make two\n"), (13, "sh", "make three\n")]
