"""Checks commands that a test cannot run, because they need an account or change the machine, against what they name: the targets
of the Makefile, the commands and options of `stepless`, the operations of AWS, the routes of the API."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache

from pages import ROOT

from stepless.cli.command.main import main, parser
from stepless.errors import SteplessError

LEADING = ("do", "then", "else", "if", "while", "until", "{", "!")
SHELL = frozenset({"cd", "mkdir", "export", "cat", "ls", "echo", "rm", "source", "."})
INSIGHTS = {"fields", "filter", "limit", "parse", "sort", "stats"}  # the language of CloudWatch Logs Insights
S3 = {"cp", "ls", "mb", "mv", "rb", "rm", "sync"}
AWS_OPTIONS = {"--output", "--profile", "--query", "--region"}
SAM = {"build", "delete", "deploy", "logs", "validate"}
ASSIGNED = re.compile(r"^\w+=")


def faults(command: str, functions: Collection[str] = ()) -> Iterator[str]:
    """The errors of a command, one sentence each; an unknown program is an error, too. `functions` are the shell functions
    that were defined before."""
    for part in _parts(command.replace("\\\n", " ")):
        words = _without_shell(part)
        if not words or words[0] in SHELL or words[0] in INSIGHTS or words[0] in functions:
            continue
        check = CHECKS.get(words[0].rpartition("/")[2])
        if check is None:
            yield f"there is no check for `{words[0]}`"
        else:
            yield from check(words[1:])


def functions_of(text: str) -> list[str]:
    """The shell functions that a block defines."""
    return re.findall(r"^(\w+)\(\)", text, re.MULTILINE)


def _without_shell(part: list[str]) -> list[str]:
    """The words of a command, without the shell syntax around it."""
    words = [word for word in part if word]
    while words:
        if words[0] in LEADING or ASSIGNED.match(words[0]) or words[0].endswith("()"):
            words.pop(0)
        elif words[0] in ("for", "done", "fi", "}"):
            return []
        elif words[0] == "xargs":
            words.pop(0)
            while words and words[0].startswith("-"):
                words = words[2:] if words[0] in ("-n", "-P", "-I") else words[1:]
        else:
            break
    return words


def _parts(command: str) -> Iterator[list[str]]:
    """The words of every command of a pipe or list."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    part: list[str] = []
    skip = False
    for word in lexer:
        if skip:
            skip = False
        elif set(word) <= {"<", ">"}:
            skip = True
        elif set(word) <= {"|", "&", ";"}:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _make(words: list[str]) -> Iterator[str]:
    makefile = "".join((ROOT / name).read_text() for name in ("Makefile", "tests/checks.mk"))
    for word in words:
        name, is_setting, _ = word.partition("=")
        if is_setting and f"$({name})" not in makefile and f"{name} ?=" not in makefile:
            yield f"the Makefile has no variable {name}"
        elif not is_setting and not re.search(rf"^{re.escape(name)}:", makefile, re.MULTILINE):
            yield f"the Makefile has no target {name}"


def _stepless(words: list[str]) -> Iterator[str]:
    if any(word in ("-h", "--help") for word in words):
        accepted = main(words) == 0
    else:
        try:
            parser().parse_args([word for word in words if word != "--approve"])  # `main` itself joins these into one word
            accepted = True
        except (SystemExit, SteplessError):
            accepted = False
    if not accepted:
        yield f"`stepless {' '.join(words)}` is refused"


def _aws(words: list[str]) -> Iterator[str]:
    import botocore.session
    from botocore import xform_name

    service, operation, *options = words
    if service == "s3":
        yield from () if operation in S3 else (f"`aws s3` has no {operation}",)
        return
    session = botocore.session.get_session()
    if operation == "wait":
        waiters = [xform_name(name, "-") for name in session.get_waiter_model(service).waiter_names]
        yield from () if options[0] in waiters else (f"`aws {service} wait` has no {options[0]}",)
        return
    model = session.get_service_model(service)
    names = {xform_name(name, "-"): name for name in model.operation_names}
    if operation not in names:
        yield f"`aws {service}` has no {operation}"
        return
    shape = model.operation_model(names[operation]).input_shape
    known = {f"--{xform_name(member, '-')}" for member in (shape.members if shape else {})} | AWS_OPTIONS
    for option in options:
        if option.startswith("--") and option.partition("=")[0].replace("--no-", "--") not in known:
            yield f"`aws {service} {operation}` has no {option}"


def _sam(words: list[str]) -> Iterator[str]:
    if words[0] not in SAM:
        yield f"there is no check for `sam {words[0]}`"


def _pip(words: list[str]) -> Iterator[str]:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for word in words:
        named = re.search(r"\bstepless\[(.*)\]", word)
        yield from (f"there is no extra {extra}" for extra in (named[1].split(",") if named else ()) if extra not in extras)


def _python(words: list[str]) -> Iterator[str]:
    if words[0] == "-c":
        compile(words[1], "<page>", "exec")
    elif words[0] == "-m" and words[1] in ("venv", "pytest", "pip", "stepless", "stepless.codes"):
        yield from _stepless(words[2:]) if words[1] == "stepless" else ()
    elif not (ROOT / words[0]).is_file():
        yield f"there is no {words[0]}"


def _curl(words: list[str]) -> Iterator[str]:
    method = words[words.index("-X") + 1] if "-X" in words else "POST" if {"-d", "--data"} & set(words) else "GET"
    url = next(word for word in words if "$URL" in word or "://" in word)
    path = re.sub(r"^(\$URL|https?://[^/]+)", "", url).partition("?")[0]
    path = re.sub(r"\$\{?\w+\}?", "x", path)
    if not any(re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", route), path) and method.lower() in verbs
               for route, verbs in routes().items()):
        yield f"the API has no {method} {path}"


@cache
def routes() -> Mapping[str, frozenset[str]]:
    """The API's paths and their methods, in lower case."""
    from stepless.api.app import create_app
    from stepless.runtime.wiring.local import local

    built = local(None)
    try:
        paths = create_app(built.service, api_keys=["key"], base_url="http://127.0.0.1").openapi()["paths"]
    finally:
        built.close()
    return {path: frozenset(verbs) for path, verbs in paths.items()} | {"/openapi.json": frozenset({"get"})}


CHECKS: Mapping[str, Callable[[list[str]], Iterator[str]]] = {
    "make": _make,
    "stepless": _stepless,
    "aws": _aws,
    "sam": _sam,
    "pip": _pip,
    "python": _python,
    "python3": _python,
    **dict.fromkeys(("dot", "jq", "pytest"), lambda words: iter(())),
    "curl": _curl,
}
