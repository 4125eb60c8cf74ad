"""What pages name in code exists: paths, dotted names, identifiers and targets of make. A name that the source no longer has is
stale, however well the sentence around it reads."""

from __future__ import annotations

import importlib
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from pages import ROOT, name_of, pages, prose

CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")
FILE = re.compile(r"[a-z]\w*\.(?:py|ts|tsx)")
DOTTED = re.compile(r"[a-z]\w*(?:\.[A-Za-z]\w*)+")
CALLED = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?")
TARGET = re.compile(r"make ([a-z-]+)")
GENERATED = ("build/", ".aws-sam/", ".tools/", ".stepless/")  # folders that no commit has
ENGINE = ROOT / "engine" / "stepless"
FOR_CONTRIBUTORS = ("docs/contribute/", "docs/understand/architecture.md", "docs/understand/decisions/")

FOREIGN: Mapping[str, set[str]] = {  # names of other products, of the operating system, of a page's own examples
    "docs/learn/recipes/from-step-functions.md": {
        "ErrorEquals", "InputPath", "IntervalSeconds", "JsonToString", "MaxAttempts", "MaxConcurrency", "MaxDelaySeconds",
        "OutputPath", "ResultPath", "ResultSelector", "States", "TimeoutSeconds", "ToleratedFailureCount",
    },
    "docs/learn/recipes/saga-with-compensation.md": {"cancel_flight", "cancel_hotel", "hotel"},
    "docs/understand/decisions/0006-sandbox.md": {"PR_SET_DUMPABLE", "PR_SET_NO_NEW_PRIVS"},
    "docs/understand/decisions/0007-triggers.md": {"PutTargets"},
    "docs/understand/decisions/0018-lingering-code.md": {"PyThreadState_SetAsyncExc"},
    "docs/understand/flows-compared.md": {"CallableRuntimeError", "deprecate_patch", "enable_patching"},
    "docs/understand/measurements/console-figures.md": {"threadTicks"},
}  # fmt: skip
OF_EXAMPLES: Mapping[str, set[str]] = {  # paths that are no files of this repository
    "docs/run/http.md": {"application/octet-stream"},
    "docs/run/observability.md": {"http/protobuf"},
    "docs/run/security.md": {"workflow-drafts/"},
    "docs/understand/drafts.md": {"block/"},
    "docs/write/development.md": {"orders/steps.py"},
}


@cache
def files() -> tuple[str, ...]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return tuple(name for name in listed if (ROOT / name).is_file())


@cache
def endings() -> frozenset[str]:
    """Every path of a file or a folder, from any folder above it: pages name files from the engine's folder, or from a room's."""
    found = set()
    for name in files():
        parts = name.split("/")
        for end in range(1, len(parts) + 1):
            found |= {"/".join(parts[begin:end]) for begin in range(end)}
    return frozenset(found)


@cache
def words() -> frozenset[str]:
    """Every word of the source: of the engine, the console, the template, the tests and the tools."""
    found: set[str] = set()
    for name in files():
        generated = name.startswith(("docs/", "engine/stepless/api/console/")) or name.endswith((".png", ".svg", ".lock"))
        if not generated and name not in ("README.md", "CHANGELOG.md", "tests/docs/test_names.py"):
            found.update(re.findall(r"[A-Za-z_]\w*", (ROOT / name).read_text("utf-8", errors="replace")))
    return frozenset(found)


@cache
def quoted() -> str:
    """The engine's source and pyproject.toml, which declare names with dots that are no modules: of metrics, of entry points."""
    return "\n".join(path.read_text("utf-8") for path in (*sorted(ENGINE.rglob("*.py")), ROOT / "pyproject.toml"))


@cache
def targets() -> frozenset[str]:
    texts = [(ROOT / name).read_text("utf-8") for name in ("Makefile", "tests/checks.mk")]
    return frozenset(name for text in texts for name in re.findall(r"^([a-z-]+):", text, re.MULTILINE))


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        value: object = found
        for part in parts[split:]:
            fields = getattr(value, "model_fields", {}) | getattr(value, "__dataclass_fields__", {})
            if not hasattr(value, part) and part not in fields:
                return False
            value = getattr(value, part, None)
        return True
    return False


def rooms() -> set[str]:
    return {path.name for path in ENGINE.iterdir() if (path / "__init__.py").is_file()}


def stale(page: str, code: str) -> str | None:
    """What is wrong with a piece of code in the text of a page, or None."""
    if (target := TARGET.fullmatch(code)) is not None:
        return None if target[1] in targets() else "no target of the Makefile"
    if code in endings():
        return None
    if PATH.fullmatch(code) or FILE.fullmatch(code):
        known = code.startswith(GENERATED) or code in OF_EXAMPLES.get(page, ())
        return None if known or code.rstrip("/") in endings() else "no file or folder"
    if DOTTED.fullmatch(code):
        room = code.partition(".")[0]
        if room == "stepless" and not resolves(code) and f'"{code}"' not in quoted() and f'."{code}"' not in quoted():
            return "no module, and no declared name"
        module = ENGINE.joinpath(*code.split(".")[:2])
        of_a_room = page.startswith(FOR_CONTRIBUTORS) and room in rooms() and not code.startswith("nodes.")
        if of_a_room and not resolves(f"stepless.{code}") and not module.with_suffix(".py").is_file():
            return f"no module in the room {room}"
    if (called := CALLED.fullmatch(code)) is not None and ("." in code or "_" in code or "(" in code or _is_camel(code)):
        unknown = set(called[1].split(".")) - words() - FOREIGN.get(page, set())
        return f"{', '.join(sorted(unknown))}: in no source" if unknown else None
    return None


def _is_camel(code: str) -> bool:
    return re.search("[a-z][A-Z]", code) is not None


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_name_in_a_page_exists(page: Path) -> None:
    found = {code: fault for code in CODE.findall(prose(page)) if (fault := stale(name_of(page), code)) is not None}
    assert not found


@pytest.mark.parametrize(
    "code",
    ["make no-such-target", "core/no_such_module.py", "no_such_module.py", "docs/no-such-folder/", "stepless.no_such_module",
     "stepless.limits.NO_SUCH_LIMIT", "model.no_such_module", "no_such_function()", "NoSuchClass", "Service.no_such_method"],
)  # fmt: skip
def test_a_stale_name_is_found(code: str) -> None:
    assert stale("docs/understand/architecture.md", code) is not None


@pytest.mark.parametrize(
    "code",
    ["make test", "core/decide.py", "fold.py", "docs/learn/", "stepless.testing.simulate", "stepless.limits.LINK_LIFE_MS",
     "model.graph", "decide(graph, state)", "RunFilter", "node.completed", "a sentence", "true"],
)  # fmt: skip
def test_a_name_that_exists_is_none(code: str) -> None:
    assert stale("docs/understand/architecture.md", code) is None


def test_no_exception_is_left_over() -> None:
    for page, names in {**FOREIGN, **OF_EXAMPLES}.items():
        text = prose(ROOT / page)
        assert [name for name in sorted(names) if name not in text] == [], page
    assert {name for names in FOREIGN.values() for name in names} & words() == set()
