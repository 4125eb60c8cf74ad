"""`stepless import sim`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepless.cli import main
from stepless.compile import parse
from stepless.compile.reading.write_yaml import write_yaml

STATE = {
    "blocks": {
        "s": {"type": "start_trigger", "name": "Start"},
        "x": {"type": "slack", "name": "Say", "subBlocks": {"text": {"value": "Hi <start.name>,\n\nbye"}}},
    },
    "edges": [{"id": "e", "source": "s", "target": "x"}],
    "metadata": {"name": "Say hello"},
}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"version": "1.0", "state": STATE}, indent=1))
    return path


def test_the_document_goes_to_standard_output_and_findings_to_standard_error(
    export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "sim", str(export)]) == 0
    told = capsys.readouterr()
    assert parse(told.out)["nodes"]["Say"]["with"] == {"call": "sim.slack", "args": {"text": "Hi <Start.name>,\n\nbye"}}
    line = 1 + [*map(str.strip, export.read_text().split("\n"))].index('"x": {')
    assert f"{export}:{line}: warning: " in told.err
    assert "[sim_block_without_equivalent]" in told.err
    assert told.err.endswith("1 warning\n")


def test_a_file_can_be_named_for_it_and_is_then_valid(export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "hello.yaml"
    assert main(["import", "sim", str(export), "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert out.read_text().startswith("id: say-hello\nname: Say hello\n")
    assert main(["validate", str(out)]) == 0


def test_as_json_document_and_findings_are_one_object(export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "hello.yaml"
    for words in ([], ["-o", str(out)]):
        assert main(["import", "sim", str(export), "--json", *words]) == 0
        told = capsys.readouterr()
        assert told.err == ""
        answer = json.loads(told.out)
        assert answer["file"] == str(export)
        assert answer["document"]["nodes"]["Say"]["type"] == "function"
        [finding] = answer["findings"]
        assert (finding["code"], finding["severity"]) == ("sim_block_without_equivalent", "warning")
    assert parse(out.read_text()) == answer["document"]
    export.write_text("[1]")
    assert main(["import", "sim", str(export), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "no_sim_export"


@pytest.mark.parametrize("text", ["", "no json", "[1]", "{}", '{"state": {"blocks": {}}}', "[" * 5000, '{"a": NaN}', "\x00"])
def test_what_is_no_export_is_bad_input(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    assert main(["import", "sim", str(path)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "no_sim_export" in told.err
    assert "that Sim writes as" in told.err


def test_files_that_cannot_be_read_or_written_are_bad_input(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "sim", str(tmp_path / "none.json")]) == 2
    assert main(["import", "sim", str(export), "-o", str(tmp_path / "no" / "where.yaml")]) == 2
    assert main(["import", "n8n", str(export)]) == 2
    assert "file_not_written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "no",
        "1e3",
        "1_000",
        "0x1f",
        "0o17",
        "+1",
        ".5",
        "-.inf",
        "~",
        "null",
        "True",
        "2026-01-01",
        "12:30",
        "=",
        "<<",
        "- a",
        "a: b",
        "# a",
        "",
        " a ",
        "a\nb",
        "a \nb\n\n",
        "\ta\n",
        "é ☃ 😀",
        "{{ x }}",
        "'",
        '"',
        "%a",
        "@a",
        "`a",
        "a\r\nb",
        "\u2028",
        "x" * 300,
        "line\n" * 3,
        "  lead\nnext",
        "-",
        "?",
        "on",
        "y",
    ],
)
def test_any_text_survives_being_written_and_read(text: str) -> None:
    assert parse(write_yaml({"id": "x", "texts": [text, {"k": text}], text or "empty": text})) == {
        "id": "x",
        "texts": [text, {"k": text}],
        text or "empty": text,
    }


def test_an_export_of_n8n_is_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "export.json"
    say = {"name": "Say", "type": "n8n-nodes-base.slack", "typeVersion": 1, "parameters": {"text": "=Hi {{ $execution.id }}"}}
    path.write_text(json.dumps({"name": "Say hello", "connections": {}, "nodes": [say]}, indent=1))
    assert main(["import", "n8n", str(path)]) == 0
    told = capsys.readouterr()
    assert parse(told.out)["nodes"]["Say"]["with"] == {"call": "n8n.slack", "args": {"text": "Hi <run.id>"}}
    assert "[n8n_node_without_equivalent]" in told.err and "[n8n_no_trigger]" in told.err
    path.write_text("{")
    assert main(["import", "n8n", str(path)]) == 2
    assert "[no_n8n_export]" in capsys.readouterr().err
