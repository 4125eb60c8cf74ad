"""validate, schema, graph: the commands that run nothing."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from stepless.cli import main
from stepless.expressions import compile_contract

BROKEN = """\
id: broken
nodes:
  start: {type: manual}
  greet:
    type: transfrom
    after: start
  send:
    type: http
    after: [start, nowhere]
    with: {method: GET}
"""
NESTED = """\
id: nested
nodes:
  start: {type: manual}
  end: {type: join, after: [each, alert.source]}
  each:
    type: loop
    after: start
    with: {items: [1], body: {nodes: {inner: {type: transform, with: {value: 1}}}}}
  alert: {type: transform, label: 'say "no" to <b>', after: each.error, with: {value: 1}}
"""

Write = Callable[[str, str], str]


def test_a_sound_workflow_is_fine(hello: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", hello]) == 0
    assert capsys.readouterr().out == f"{hello}: fine\n"


def test_every_finding_is_told_at_its_line_with_its_mend(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("broken.yaml", BROKEN)
    assert main(["validate", file]) == 2
    told = capsys.readouterr()
    assert f"{file}:5: error: " in told.err and "transfrom" in told.err and "`transform`" in told.err
    assert f"{file}:9: error: " in told.err and "nowhere" in told.err
    assert f"{file}: 3 errors" in told.out
    assert "Traceback" not in told.err


def test_one_broken_file_does_not_hide_the_others(write: Write, hello: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write("broken.yaml", BROKEN), write("text.yaml", "id: x\nid: y\n"), hello, "missing.yaml"]
    assert main(["validate", *files]) == 2
    told = capsys.readouterr()
    assert f"{hello}: fine" in told.out
    assert "text.yaml:2: error:" in told.err
    assert "missing.yaml: error: it cannot be read" in told.err


def test_a_warning_is_told_and_refuses_nothing(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = "  ask: {type: approval, with: {message: ok}}\n  on: {type: join, after: ask.approved}\n"
    file = write("warned.yaml", f"id: warned\nnodes:\n{nodes}")
    assert main(["validate", file]) == 0
    told = capsys.readouterr()
    assert "warning: " in told.err
    assert "1 warning" in told.out


def test_a_misspelt_function_is_found_where_functions_are_known(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("cli_check_shop.py", "from stepless import function\n@function('cli_check.refund')\ndef refund() -> None: ...\n")
    file = write("calls.yaml", "id: calls\nnodes:\n  pay: {type: function, with: {call: cli_check.refun}}\n")
    assert main(["validate", file]) == 2
    assert "cli_check.refund" in capsys.readouterr().err


@pytest.mark.parametrize("value", [None, ""], ids=["unset", "empty"])
def test_a_name_without_a_value_is_a_warning(
    value: str | None, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLI_CHECK_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("CLI_CHECK_KEY", value)
    file = write("a.yaml", "id: a\nenv:\n  - CLI_CHECK_KEY\nnodes: {a: {type: manual}}\n")
    assert main(["validate", file]) == 0
    told = capsys.readouterr()
    assert f"{file}:3: warning: `CLI_CHECK_KEY` is not set here" in told.err and "[unset_env]" in told.err
    assert told.out == f"{file}: 1 warning\n"
    monkeypatch.setenv("CLI_CHECK_KEY", "k")
    assert main(["validate", file]) == 0
    assert capsys.readouterr().out == f"{file}: fine\n"


def test_arguments_that_a_function_does_not_take_are_found(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("cli_check_args.py", "from stepless import function\n@function('cli_check.pay')\n"
          "def pay(order: str, amount: float) -> None: ...\n")
    args = "{order: 7, amuont: 1}"
    file = write("a.yaml", f"id: a\nnodes:\n  a:\n    type: function\n    with:\n      call: cli_check.pay\n      args: {args}\n")
    assert main(["validate", file]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{file}:7: error: `cli_check.pay` needs `amount`, which is not given [invalid_arguments]",
        "    at nodes.a.with.args. Add `amount`. It takes `order`, `amount`.",
        f"{file}:7: error: `order` of `cli_check.pay` should be text, not 7 [invalid_arguments]",
        '    at nodes.a.with.args.order. Put it in quotes: `"7"`.',
        f"{file}:7: error: `cli_check.pay` has no parameter `amuont` [invalid_arguments]",
        "    at nodes.a.with.args.amuont. Did you mean `amount`? It takes `order`, `amount`.",
    ]


def test_a_function_module_that_fails_is_told_with_its_line(write: Write, hello: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = write("cli_check_bad.py", "from stepless import function\n\nimport no_such_module\n")
    assert main(["validate", hello]) == 2
    assert f"{module}:3: error: the file cannot be imported" in capsys.readouterr().err


def test_a_python_file_that_does_not_import_stepless_is_left_alone(write: Write, hello: str) -> None:
    write("setup.py", "raise SystemExit('never run')\n")
    assert main(["validate", hello]) == 0


def test_the_schema_takes_what_is_valid_and_refuses_what_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    contract = compile_contract(json.loads(capsys.readouterr().out))
    document: Any = {"id": "x", "nodes": {"a": {"type": "manual"}}}
    assert contract.violations(document) == ()
    assert contract.violations({**document, "nodes": {"a": {"type": "manuel"}}})


def test_a_graph_shows_containers_as_frames_and_error_edges_dashed(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", write("nested.yaml", NESTED)]) == 0
    assert capsys.readouterr().out == (
        "flowchart LR\n"
        '  n0(["start: manual"])\n'
        '  n1("end: join")\n'
        '  subgraph n2["each: loop"]\n'
        '    n2_n0("inner: transform")\n'
        "  end\n"
        '  n3("say #quot;no#quot; to #lt;b#gt;: transform")\n'
        "  n2 --> n1\n"
        "  n3 --> n1\n"
        "  n0 --> n2\n"
        '  n2 -.->|"error"| n3\n'
    )


def test_a_graph_as_dot_ties_edges_to_frames(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", write("nested.yaml", NESTED), "--format", "dot"]) == 0
    drawn = capsys.readouterr().out
    assert 'subgraph cluster_n2 {' in drawn
    assert 'n2 -> n3 [label="error", style=dashed, ltail=cluster_n2];' in drawn
    assert "n0 -> n2 [lhead=cluster_n2];" in drawn
    assert r'label="say \"no\" to <b>: transform"' in drawn


def test_a_broken_workflow_is_not_drawn(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("broken.yaml", BROKEN)
    assert main(["graph", file]) == 2
    told = capsys.readouterr()
    assert told.out == "" and f"{file}:5: error:" in told.err


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["dance"], "there is no command `stepless dance`"),
        (["stert", "hello"], "did you mean `start`? see `stepless --help`."),
        (["runs", "lst"], "did you mean `list`? see `stepless runs --help`."),
        (["help", "runz"], "did you mean `run`?"),
        (["graph", "x.yaml", "--format", "svgg"], "--format must be one of `mermaid`, `dot`, `svg`, not `svgg`"),
        (["run", "--budget-ms", "soon", "x.yaml"], "not a number of milliseconds"),
        (["dev", "--port", "70000"], "is not a port"),
        (["run"], "give a workflow to run"),
        (["run", "--continue", "run_1"], "add --db FILE"),
        (["run", "nowhere.yaml"], "nowhere.yaml: error: it cannot be read"),
        (["dev", "nowhere"], "there is no such folder"),
    ],
)
def test_a_mistake_in_the_arguments_is_one_sentence_and_the_mend(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(argv) == 2
    said = capsys.readouterr().err.lower()
    assert told.lower() in said and "traceback" not in said


@pytest.mark.parametrize("command", [[], ["dev"], ["run"], ["validate"], ["schema"], ["graph"]])
def test_help_shows_examples(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    assert "examples:\n  stepless" in capsys.readouterr().out


@pytest.mark.parametrize("argv", [[], ["help"], ["--help"]])
def test_the_command_alone_says_what_there_is(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 0
    assert "validate" in capsys.readouterr().out


@pytest.mark.parametrize(("argv", "usage"), [
    (["help", "run"], "usage: stepless run "), (["help", "runs", "list"], "usage: stepless runs list "),
    (["runs"], "usage: stepless runs "), (["help", "runs"], "usage: stepless runs "),
])  # fmt: skip
def test_help_of_a_verb_is_its_help(argv: list[str], usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 0
    assert capsys.readouterr().out.startswith(usage)


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    release = version("stepless")
    assert main(["--version"]) == main(["version"]) == main(["version", "--json"]) == 0
    line, again, as_json = capsys.readouterr().out.splitlines()
    assert line == again == f"stepless {release} (Python {platform.python_version()})"
    assert json.loads(as_json) == {"stepless": release, "python": platform.python_version()}


# -- folders ----------------------------------------------------------------------------------------------------------

COMPOSE = "services:\n  web:\n    image: nginx\n    environment: {NODES: '3'}\nx-node: 1\n"


def test_other_yaml_of_a_folder_is_left_alone(write: Write, hello: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in {"docker-compose.yml": COMPOSE, "list.yaml": "- node\n", "broken.yml": "a: [node\n",
                       "data.json": '["nodes"]', "cluster.yaml": "kind: Cluster\nspec: {nodes: 3}\n", "empty.yaml": ""}.items():
        write(name, text)
    assert main(["validate", str(Path(hello).parent)]) == 0
    told = capsys.readouterr()
    assert told.err == "" and told.out == f"{hello}: fine\n"


@pytest.mark.parametrize("text", [
    "id: a\nnodes:\n\ta: {type: manual}\n", "nodes: {}\n", "id: a\nnode:\n  a: {type: manual}\n", "{id: a, nodes: {a: }: }\n",
])  # fmt: skip
def test_a_workflow_with_faults_is_not_taken_for_something_else(text: str, write: Write) -> None:
    assert main(["validate", str(Path(write("a.yaml", text)).parent)]) == 2


def test_a_file_that_is_named_is_always_judged(write: Write) -> None:
    assert main(["validate", write("docker-compose.yml", COMPOSE)]) == 2


def test_a_node_that_would_not_fit_into_an_invocation_is_a_warning_before_it_is_deployed(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("cli_check_slow.py", "from stepless import function\n@function('cli_check.slow')\ndef slow() -> None: ...\n")
    file = write("slow.yaml", "id: slow\nnodes:\n  a: {type: function, timeout_ms: 200000, with: {call: cli_check.slow}}\n")
    assert main(["validate", file]) == 0
    said = capsys.readouterr().err
    assert f"{file}:3: warning: an attempt may take 200000 ms" in said and "[timeout_too_long]" in said
    assert main(["validate", file, "--target-timeout", "208"]) == 0
    assert capsys.readouterr().err == ""
