"""Declares the verbs that work on local files: write, check, draw and run workflows."""

from __future__ import annotations

import argparse

from stepless.cli.command.verb import Verb, add_engine, add_json, add_modules, add_target, of_paths, port


def _dev(command: argparse.ArgumentParser) -> None:
    folder = command.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="folder of workflows (default: .)")
    of_paths(folder, "directory")
    kept = "where runs are stored: a file, or the URL of an installed store (default: %(default)s)"
    of_paths(command.add_argument("--db", default=".stepless/dev.db", metavar="FILE", help=kept))
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    named = "accept requests under this name, too; may be repeated (default: localhost, IP addresses, and --host)"
    command.add_argument("--allow-host", action="append", default=[], metavar="NAME", help=named)
    command.add_argument("--port", type=port, default=8400, help="port to listen on, 0 for a free one (default: %(default)s)")
    of_paths(command.add_argument("--port-file", metavar="FILE", help="write the URL to this file once the server listens"))
    text = "remove runs this long after their end, like 30d (default: STEPLESS_RETENTION, or never)"
    command.add_argument("--retention", metavar="TIME", help=text)
    events = "send the events of runs to this URL, signed with STEPLESS_EVENTS_SECRET"
    command.add_argument("--events-url", metavar="URL", help=events)
    command.add_argument("--open", action="store_true", help="open the console in a browser")
    add_target(command)
    add_engine(command)


def _run(command: argparse.ArgumentParser) -> None:
    of_paths(command.add_argument("file", nargs="?", metavar="FILE", help="the workflow: YAML, JSON, Python (FILE[:NAME])"))
    command.add_argument("-i", "--inputs", metavar="JSON", help="inputs: JSON, @file, or - for standard input (default: {})")
    command.add_argument("--entry", action="append", metavar="NODE", help="start at this node only; may be repeated")
    command.add_argument("--approve", choices=("yes", "no"), help="answer every question with yes (or no) instead of asking")
    of_paths(command.add_argument("--db", metavar="FILE", help="store the run there: a file, or a URL (default: in memory)"))
    command.add_argument("--continue", dest="run_id", metavar="RUN", help="continue a run of --db")
    add_json(command)
    add_engine(command)
    command.set_defaults(expected="completed")


def _validate(command: argparse.ArgumentParser) -> None:
    of_paths(command.add_argument("files", nargs="+", metavar="FILE", help="workflows: YAML, JSON, Python; or folders of them"))
    add_modules(command)
    add_target(command)
    add_json(command, "print one JSON document per file")


def _compile(command: argparse.ArgumentParser) -> None:
    text = "a Python file, or one workflow of it as FILE:NAME, by the name of its function or its id"
    of_paths(command.add_argument("file", metavar="FILE[:NAME]", help=text))
    text = "print line by line what was compiled, lifted or refused, and why, instead of the document"
    command.add_argument("--explain", action="store_true", help=text)
    add_modules(command)
    add_json(command, "print JSON, one document per line")


def _schema(command: argparse.ArgumentParser) -> None:
    add_json(command, "on one line")


def _graph(command: argparse.ArgumentParser) -> None:
    of_paths(command.add_argument("file", metavar="FILE", help="the workflow: YAML, JSON, or Python as FILE[:NAME]"))
    command.add_argument("--format", choices=("mermaid", "dot", "svg"), default="mermaid", help="default: %(default)s")
    add_json(command, "print nodes and edges as JSON instead")


def _import(command: argparse.ArgumentParser) -> None:
    command.add_argument("tool", choices=("sim", "n8n"), metavar="TOOL", help="the tool that wrote the export: sim or n8n")
    of_paths(command.add_argument("file", metavar="FILE", help="the export"))
    of_paths(command.add_argument("-o", "--out", metavar="FILE", help="write the workflow to a file (default: standard output)"))
    add_json(command, "print the document and the findings as JSON")


def _init(command: argparse.ArgumentParser) -> None:
    folder = command.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="folder of the project (default: .)")
    of_paths(folder, "directory")
    command.add_argument("--python", action="store_true", help="write the workflow in Python instead of YAML")
    add_json(command)


def _version(command: argparse.ArgumentParser) -> None:
    add_json(command)


def _help(command: argparse.ArgumentParser) -> None:
    command.add_argument("of", nargs="*", metavar="COMMAND", help="the command to explain (default: all)")


def _completion(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


DEV = Verb(
    "dev", "stepless.cli.dev.server:dev", "serve a folder of workflows: API, webhooks and timers in one process", """\
  stepless dev
  stepless dev workflows/ --port 0 --open
  stepless dev workflows/ --modules shop.payments,shop.mail

Subfolders are read too. Python files that import stepless are loaded.
Saving a workflow publishes it; saving a Python file reloads it and publishes its workflows.
STEPLESS_API_KEY sets the API key; without it, one is generated and stored with the runs.
--events-url URL sends the events of runs to a URL, signed with STEPLESS_EVENTS_SECRET.
The server restarts itself when code goes on for more than a minute after the end of its
attempt. STEPLESS_LINGER sets another time, like 5m.
""", _dev,
)  # fmt: skip

VERBS_HERE = (
    Verb("init", "stepless.cli.verbs.files.init:init",
         "create a project: a workflow, its functions, a test, deployment files", """\
  stepless init
  stepless init refunds && cd refunds && python -m pytest
  stepless init refunds --python
""", _init),
    DEV,
    Verb("run", "stepless.cli.verbs.files.run:run", "run one workflow on this machine and watch it", """\
  stepless run hello.yaml -i '{"name": "Ada"}'
  stepless run refund.yaml -i @order.json --approve
  stepless run refund.py:refund -i @order.json
  stepless run refund.yaml --db runs.db
  stepless run --db runs.db --continue run_1a2b3c
  stepless run hello.yaml --json | jq .outputs

Python files in the folder of the workflow that import stepless are loaded too.
""", _run, exits="0 the run completed, 1 it did not, 2 bad input, 130 interrupted"),
    Verb("validate", "stepless.cli.verbs.files.check:validate", "check workflows and show every finding", """\
  stepless validate refund.yaml
  stepless validate refund.py
  stepless validate workflows/
""", _validate, exits="0 no errors, 2 errors found"),
    Verb("compile", "stepless.cli.verbs.files.check:compile_", "print the document of a workflow in Python", """\
  stepless compile refund.py
  stepless compile refund.py:refund --json | jq .nodes
  stepless compile refund.py --explain

All faults of the source are listed at once, each with its line and a fix.
""", _compile, exits="0 compiled, 2 the source has faults"),
    Verb("schema", "stepless.cli.verbs.files.check:schema", "print the JSON Schema of a workflow, for editors", """\
  stepless schema > workflow.schema.json

then, as the first line of a workflow:
  # yaml-language-server: $schema=workflow.schema.json
""", _schema),
    Verb("graph", "stepless.cli.verbs.files.check:graph", "draw a workflow as Mermaid, DOT or SVG", """\
  stepless graph refund.yaml
  stepless graph refund.yaml --format svg > refund.svg
  stepless graph refund.yaml --format dot | dot -Tpdf > refund.pdf
""", _graph),
    Verb("import", "stepless.cli.verbs.files.import_export:import_", "convert the export of another tool into a workflow", """\
  stepless import sim export.json > workflow.yaml
  stepless import n8n export.json -o workflow.yaml

Anything that cannot be converted is listed on standard error.
""", _import, exits="0 converted, 2 the file is not an export"),
    Verb("completion", "stepless.cli.command.completion:completion", "print a shell completion script", """\
  stepless completion bash > ~/.local/share/bash-completion/completions/stepless
  stepless completion zsh > ~/.zfunc/_stepless     # with fpath+=~/.zfunc before compinit
  stepless completion fish > ~/.config/fish/completions/stepless.fish
""", _completion),
    Verb("version", "stepless.cli.verbs.version:version", "print the versions of Stepless and Python", """\
  stepless version
  stepless version --json
""", _version),
    Verb("help", "stepless.cli.command.main:explain", "list the commands, or explain one", """\
  stepless help
  stepless help runs list
""", _help),
)  # fmt: skip
