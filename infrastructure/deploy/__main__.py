"""`make deploy`: asks what a first deployment must know, records it in samconfig.toml, builds, and lets `sam deploy` deploy it.

From the second time on it asks nothing. On a terminal `sam` shows the change set and asks whether to execute it; without a
terminal it shows and executes it. Run by the interpreter of `.tools/sam`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from secrets import token_hex, token_urlsafe

from account import DATA, Account
from botocore.exceptions import BotoCoreError, ClientError
from samcli.yamlhelper import yaml_parse
from samconfig import Samconfig
from values import RELEASE, Declared, Refused, decide, decide_tags, next_question, release

ROOT = Path(__file__).resolve().parents[2]
SAM = Path(sys.executable).with_name("sam")


def main() -> int:
    parser = argparse.ArgumentParser(prog="deploy")
    parser.add_argument("stack")
    parser.add_argument("--config", type=Path, default=ROOT / "samconfig.toml")
    parser.add_argument("--functions", default="", help="the folder of your functions; empty: that of the last deployment")
    parser.add_argument("--project", type=Path, default=ROOT, help="the folder with template.yaml and its Makefile")
    arguments = parser.parse_args()
    try:
        config = Samconfig(arguments.config.resolve(), arguments.stack)
        return deploy(arguments.stack, config, arguments.functions, arguments.project.resolve())
    except Refused as error:
        say(f"Not deployed: {error}.")
    except (BotoCoreError, ClientError) as error:
        say(f"Not deployed: AWS answers: {error}")
    return 1


def deploy(name: str, config: Samconfig, functions: str, project: Path) -> int:
    account = Account(config.region)
    number = account.number()
    facts = config.facts
    if facts.get("account", number) != number:
        raise Refused(f"the credentials are of account {number}, {name} is in {facts['account']}: give a second stack a name")
    stack = account.stack(name)
    say(f"{'Updating' if stack else 'Creating'} the stack {name} in {account.region}, account {number}.")
    template = (project / "template.yaml").read_text("utf-8")
    declared = yaml_parse(template)["Parameters"]
    given = given_values(os.environ.get("SET", ""))
    tags = decide_tags(given_values(os.environ.get("TAGS", ""), "TAGS"), config.tags, stack.tags if stack else {})
    recorded = config.parameters
    if stack is None:
        recorded |= attached(facts, given, account)
        given |= asked(declared, {**recorded, **given}) if on_terminal() else {}
    decided = decide(declared, given, recorded, stack.parameters if stack else None)
    was = stack.parameters if stack else None
    decided.sent[RELEASE] = release(template, declared, given, decided.sent, was, mark=token_hex(4))
    functions = functions or facts.get("functions", "layers/functions")
    config.record(account.region, decided.recorded, tags)
    config.record_facts(account=number, functions=functions)
    make = [os.environ.get("MAKE", "make"), "--no-print-directory", "-C", str(project)]
    built = subprocess.run([*make, "build", "check-template", f"FUNCTIONS={functions}"], check=False).returncode
    code = built or sam_deploy(config, decided.sent, tags, project)
    deployed = account.stack(name) if code == 0 else None
    if deployed is not None:  # on a terminal the answer may have been no
        config.record_facts(**{fact: deployed.outputs[output] for fact, output in DATA.items() if output in deployed.outputs})
        if stack is None:
            account.protect(name)
    return code


def sam_deploy(config: Samconfig, values: Mapping[str, str], tags: Mapping[str, str], project: Path) -> int:
    """The values go by a file of their own: what is NoEcho is not in samconfig.toml, and command lines are seen by others."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "parameters.yaml")  # of which JSON is a part
        file.touch(0o600)
        file.write_text(json.dumps(dict(values)), "utf-8")
        command = [str(SAM), "deploy", "--template", ".aws-sam/build/template.yaml", "--config-file", str(config.path)]
        command += ["--config-env", config.environment, "--parameter-overrides", f"file://{file}", "--no-fail-on-empty-changeset"]
        if tags:  # CloudFormation gives them to every resource
            command += ["--tags", " ".join(f"{tag}={value}" for tag, value in tags.items())]
        command += ["--confirm-changeset"] if on_terminal() else ["--no-confirm-changeset", "--no-progressbar"]
        return subprocess.run(command, cwd=project, check=False).returncode


# -- answers ----------------------------------------------------------------------------------------------------------


def given_values(text: str, variable: str = "SET") -> dict[str, str]:
    """`Name=value Name="two words"`, as a shell reads words."""
    pairs = [word.partition("=") for word in shlex.split(text)]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise Refused(f"{variable} is Name=value, several separated by spaces, and not {wrong[0]!r}")
    return {name: value for name, _, value in pairs}


def attached(facts: Mapping[str, str], given: Mapping[str, str], account: Account) -> dict[str, str]:
    """The data of a stack that is gone, for the one that is made in its place."""
    kept = {name: facts[name] for name in DATA if facts.get(name)}
    if not kept or set(DATA) & set(given):
        return {}
    if missing := account.lacks(kept):
        afresh = " ".join(f"{name}=" for name in DATA)
        raise Refused(f"the stack's data is missing: {', '.join(missing)}. To begin with none: make deploy SET='{afresh}'")
    say("The stack is gone, its data is there and is attached to the new one:")
    for name, value in kept.items():
        say(f"  {name}={value}")
    return kept


def asked(declared: Declared, known: Mapping[str, str]) -> dict[str, str]:
    answers: dict[str, str] = {}
    while (name := next_question({**known, **answers})) is not None:
        answers[name] = answer(name, declared[name])
    if answers.get("ApiKeyHashes") == "":
        key = token_urlsafe(32)
        say(f"\nYour API key, shown once: {key}")
        answers["ApiKeyHashes"] = f"sha256:{sha256(key.encode()).hexdigest()}"
    return answers


def answer(name: str, parameter: Mapping[str, object]) -> str:
    default = str(parameter.get("Default", ""))
    empty = "a key is made and shown" if name == "ApiKeyHashes" else default or "none"
    say(f"\n{parameter['Description']}")
    sys.stdout.write(f"{name} [{empty}]: ")
    sys.stdout.flush()
    return sys.stdin.readline().strip() or default


def on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
