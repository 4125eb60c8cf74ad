"""Workflows in Python on the command line: compile, validate, publish, graph and run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flow_files import BROKEN, PAY_LINE, REFUND, of

from stepless.cli import main
from stepless.compile import check_document, parse
from stepless.model.findings import Finding, Severity
from stepless.nodes import KINDS

Write = Callable[[str, str], str]
Said = pytest.CaptureFixture[str]

TWICE = '''\
from stepless.flow import step, workflow

@step("MODULE.ship")
async def ship(item: str) -> str:
    return item

@workflow("MODULE")
async def twice(item: str) -> list[str]:
    first = await ship(item)
    await ship(first)
    await ship(first + "!")
    return [first]
'''
LIFTED = '''\
from stepless.flow import workflow

def _words(text: str) -> list[str]:
    return text.split()

@workflow("MODULE")
async def lifted(text: str) -> int:
    return len(sorted(_words(text), key=len))
'''
DISCREET = '''\
from stepless.flow import step, workflow

@step("MODULE.say")
async def say(word: str) -> str:
    return word

@workflow("MODULE", concurrency={"limit": 3, "when_ful": "wait"})
async def odd(word: str) -> str:
    return await say(word)
'''


def _errors(document: Any) -> list[Finding]:
    return [finding for finding in check_document(document, KINDS) if finding.severity is Severity.ERROR]


@pytest.fixture
def refund(write: Write) -> Callable[[str], str]:
    return lambda module: write(f"{module}.py", of(REFUND, module))


def test_compile_prints_the_document(refund: Callable[[str], str], capsys: Said) -> None:
    path = refund("cf_compile")
    assert main(["compile", path]) == 0
    said = capsys.readouterr()
    document = parse(said.out.encode())
    assert said.err == "" and document["id"] == "cf-compile" and document["nodes"]["receipt"]["with"]["call"] == "cf_compile.pay"
    assert document["made_by"]["file"] == "cf_compile.py" and not _errors(document)
    for name in ("refund", "cf-compile"):
        assert main(["compile", f"{path}:{name}", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == document


def test_compile_names_a_workflow_that_is_not_there(refund: Callable[[str], str], hello: str, capsys: Said) -> None:
    path = refund("cf_names")
    assert main(["compile", f"{path}:refnd"]) == 2
    assert capsys.readouterr().err == (
        f"{path}: error: the file has no workflow `refnd` [unknown_workflow]\n    Did you mean `refund`?\n"
    )
    assert main(["compile", hello]) == 2
    assert "only workflows in Python are compiled [usage]" in capsys.readouterr().err
    assert main(["compile", path.replace("cf_names", "cf_nowhere")]) == 2
    assert "[file_not_read]" in capsys.readouterr().err


def test_a_file_without_a_workflow_says_so(write: Write, capsys: Said) -> None:
    path = write("cf_none.py", "from stepless.flow import workflow\n")
    assert main(["validate", path]) == 2
    assert "the file has no workflow [unknown_workflow]" in capsys.readouterr().err
    assert main(["validate", str(Path(path).parent)]) == 2  # it is none of the folder's workflows
    assert "no workflow found" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["compile", "validate", "publish", "run"])
def test_all_faults_of_all_workflows_of_a_file_are_shown_at_once(
    verb: str, write: Write, capsys: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = f"cf_broken_{verb}"
    write(f"{module}.py", of(BROKEN, module))
    file = f"{module}.py" + (":broken" if verb == "run" else "")
    assert main([verb, file]) == 2
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        [f"{module}.py:11", "no_such_construct"], [f"{module}.py:13", "not_awaited"], [f"{module}.py:16", "unknown_await"],
        *([] if verb == "run" else [[f"{module}.py:21", "bad_arguments"]]),
    ]
    assert lines[1] == f"{module}.py:13: not_awaited: `grow` is a step, and nothing waits for it here. Write await before it"
    ends = {"validate": f"{module}.py: 4 errors\n", "publish": f"{module}.py: not published, 4 errors\n"}
    assert said.out == ends.get(verb, "")


def test_faults_as_json_have_their_file_and_line(write: Write, capsys: Said) -> None:
    path = write("cf_json.py", of(BROKEN, "cf_json"))
    assert main(["validate", path, "--json"]) == 2
    shown = json.loads(capsys.readouterr().out)
    assert (shown["file"], shown["sound"], len(shown["findings"])) == (path, False, 4)
    assert {name: shown["findings"][2][name] for name in ("severity", "code", "file", "line", "mend")} == {
        "severity": "error", "code": "unknown_await", "file": path, "line": 16,
        "mend": "Await a step, a workflow, or a word such as gather or sleep",
    }
    assert main(["compile", path, "--json"]) == 2
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["code"] == "flow_refused" and [found["line"] for found in error["findings"]] == [11, 13, 16, 21]


def test_a_folder_has_its_documents_and_its_workflows_in_python(
    write: Write, refund: Callable[[str], str], hello: str, tmp_path: Path, capsys: Said
) -> None:
    path = refund("cf_folder")
    write("cf_steps.py", "from stepless.flow import step\n\n@step('cf_steps.a')\nasync def a() -> int:\n    return 1\n")
    write("test_cf.py", of(REFUND, "cf_test"))
    assert main(["validate", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{path}: fine\n{hello}: fine\n"


def test_a_fault_of_the_document_is_shown_at_its_line(write: Write, capsys: Said) -> None:
    path = write("cf_env.py", of(DISCREET, "cf_env"))
    assert main(["validate", path]) == 2
    assert capsys.readouterr().err.startswith(f"{path}:")


def test_publish_makes_a_version_and_a_comment_makes_none(
    refund: Callable[[str], str], write: Write, tmp_path: Path, capsys: Said
) -> None:
    path, db = refund("cf_publish"), str(tmp_path / "runs.db")
    assert main(["publish", path, "--db", db]) == 0
    first = capsys.readouterr().out.split()
    assert (first[0], first[2], first[-1]) == ("cf-publish", "1", "published")
    assert main(["publish", path, "--db", db, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["version"], again["state"], again["file"], again["warnings"]) == (1, "unchanged", path, [])


def test_nodes_keep_their_ids_when_a_statement_is_inserted_before_them(
    write: Write, tmp_path: Path, spawn: Any, capsys: Said
) -> None:
    """Each publication is a process of its own, as for an author: Python reads a module once."""
    db, text = str(tmp_path / "runs.db"), of(TWICE, "cf_ids")
    write("cf_ids.py", text)
    assert spawn("publish", "cf_ids.py", "--db", db).ended() == 0
    write("cf_ids.py", text.replace("    await ship(first)\n", "    await ship('new')\n    await ship(first)\n"))
    assert spawn("publish", "cf_ids.py", "--db", db).ended() == 0
    documents = [_shown(capsys, "cf-ids", number, db) for number in ("1", "2")]
    before, after = [{id: node["with"]["args"]["item"] for id, node in each["nodes"].items() if node["type"] == "function"}
                     for each in documents]
    assert len(before) == 3 and len(after) == 4
    assert {id: item for id, item in after.items() if id in before} == before


def _shown(capsys: Said, workflow: str, version: str, db: str) -> Any:
    assert main(["workflows", "show", workflow, "--version", version, "--db", db, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["document"]


def told(child: Any) -> Any:
    """The JSON that a command printed."""
    return json.loads(next(line for line in child.said if line.startswith("{")))


def test_graph_draws_it(refund: Callable[[str], str], capsys: Said) -> None:
    assert main(["graph", f"{refund('cf_graph')}:refund"]) == 0
    assert 'n4["receipt: function"]' in capsys.readouterr().out


def test_run_calls_the_steps_of_the_module(refund: Callable[[str], str], capsys: Said) -> None:
    path = refund("cf_run")
    assert main(["run", path, "-i", '{"id": "A-1", "amount": 400}', "--approve", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"] == {"status": "paid", "receipt": "R-A-1"}
    assert main(["run", f"{path}:refund", "-i", '{"id": "A-1", "amount": 400}', "--approve", "no", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"] == {"status": "denied"}


def test_run_asks_for_a_name_if_a_file_has_several_workflows(write: Write, capsys: Said) -> None:
    path = write("cf_several.py", of(TWICE, "cf_several") + of(TWICE, "cf_other").partition("\n")[2].replace("twice", "other"))
    assert main(["run", path]) == 2
    said = capsys.readouterr().err
    assert "the file has 2 workflows: `twice`, `other` [usage]" in said and f"{path}:twice" in said
    assert main(["run", f"{path}:cf-other", "-i", '{"item": "a"}', "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["workflow_id"], shown["outputs"]) == ("cf-other", ["a"])


def test_a_failure_names_the_line_of_the_source(refund: Callable[[str], str], tmp_path: Path, capsys: Said) -> None:
    path, db = refund("cf_fails"), str(tmp_path / "runs.db")
    line = f"cf_fails.py:{PAY_LINE}: receipt = await pay(order.id)"
    bad = ["-i", '{"id": "bad", "amount": 4}', "--db", db]
    assert main(["run", path, *bad]) == 1
    assert f"receipt: the card was declined [card_declined]\n    {line}\n" in capsys.readouterr().out
    assert main(["run", path, *bad, "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["error"]["source"], shown["nodes"]["receipt"]["error"]["source"]) == (line, line)
    assert main(["runs", "show", shown["run_id"], "--db", db]) == 0
    assert line in capsys.readouterr().out
    assert main(["runs", "show", shown["run_id"], "--node", "receipt", "--db", db]) == 0
    assert line in capsys.readouterr().out
    assert main(["runs", "show", shown["run_id"], "--db", db, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"]["source"] == line


def test_a_run_is_continued_with_what_its_workflow_lifts(write: Write, tmp_path: Path, spawn: Any) -> None:
    text = of(LIFTED, "cf_lifted").replace("    return len", "    await approval('Go on?')\n    return len")
    write("cf_lifted.py", text.replace("import workflow", "import approval, workflow"))
    db = str(tmp_path / "runs.db")
    begun = spawn("run", "cf_lifted.py", "-i", '{"text": "a bb c"}', "--db", db, "--json")
    begun.process.stdin.close()
    assert begun.ended() == 1, begun.said
    run_id = told(begun)["run_id"]
    ended = spawn("run", "--db", db, "--continue", run_id, "--approve", "--json")
    assert ended.ended() == 0, ended.said
    assert told(ended)["outputs"] == 3


def test_two_workflows_of_a_file_with_one_id_are_refused(write: Write, capsys: Said) -> None:
    text = 'from stepless.flow import workflow\n\n\n@workflow("twice")\nasync def one(n: int) -> int:\n    return n\n\n\n'
    path = write("cf_twice.py", text + '@workflow("twice")\nasync def two(n: int) -> int:\n    return n\n')
    assert main(["validate", path]) == 2
    assert ":9: workflow_id_taken: `two` has the id `twice`, as `one` has. Choose another id" in capsys.readouterr().err


FAILING = '''\
from stepless.flow import step, workflow


@step("MODULE.one")
async def one(n: int) -> int:
    return n


def item(rows: list[int]) -> int:
    return rows[5]


@workflow(
    "MODULE",
)
async def failing(kind: str):
    """Its text
    has two lines."""
    text = """a
    b"""
    await one(1)
    with open("/dev/null") as file:
        def inner(value: str):
            if value == "def":
                return {}["x"]
            return file.read()
        size = (
            inner(kind)
        )
    await one(2)
    if kind == "expression":
        total = sum(
            item([row])
            for row in [1]
        )
    return [size, text]
'''


@pytest.mark.parametrize(("kind", "said"), [
    ("def", ['line 28, in failing\n', "inner(kind)", 'line 25, in inner\n', 'return {}["x"]', "KeyError"]),
    ("expression", ["line 32, in <lambda>\n", "total = sum(", "line 10, in item\n", "return rows[5]", "IndexError"]),
])  # fmt: skip
def test_an_exception_in_what_is_lifted_names_its_lines(write: Write, capsys: Said, kind: str, said: list[str]) -> None:
    file = write(f"trace{kind}.py", FAILING.replace("MODULE", f"trace{kind}"))
    assert main(["run", file, "-i", json.dumps({"kind": kind})]) == 1
    told = capsys.readouterr()
    found = (told.out + told.err).rpartition("Traceback")[2]
    place = 0
    for part in said:
        place = found.index(part, place)
