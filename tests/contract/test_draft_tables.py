"""The rules of a draft have one set of tables: the console reads every row of contract/draft-tables.json, and declares none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from contract import draft_tables
from stepless.drafts import rules

SOURCE: Final = draft_tables.ROOT / "console" / "src"
EDITING: Final = SOURCE / "editing"
TABLES: Final[dict[str, Any]] = json.loads(draft_tables.FILE.read_text("utf-8"))
IMPORT: Final = re.compile(r'^import (?:type )?\{([^}]*)\} from "[./a-z]*/tables\.ts";$', re.MULTILINE)

# Limits that only the server's side of the rules has: they bound what it reads, and the diffs and fixes that it makes.
OF_THE_SERVER: Final = {"MAX_COUNT", "MAX_FIX_CHARACTERS", "MAX_INTEGER_BITS", "MAX_RENAME_PAIRS"}
# Limits that the server has outside the rules: what it takes over the network.
OF_ITS_DOORS: Final = {"MAX_INTENT_BYTES"}


def sources(folder: Path) -> dict[str, str]:
    files = (path for kind in ("ts", "tsx") for path in folder.rglob(f"*.{kind}") if path != draft_tables.TYPESCRIPT)
    return {str(path.relative_to(SOURCE)): path.read_text("utf-8") for path in files}


def test_every_table_of_the_console_is_read() -> None:
    lists = [names for text in sources(SOURCE).values() for names in IMPORT.findall(text)]
    imported = {name.strip().removeprefix("type ") for names in lists for name in names.split(",")}
    declared = set(re.findall(r"^export (?:const|type) (\w+)", draft_tables.TYPESCRIPT.read_text("utf-8"), re.MULTILINE))
    assert set(TABLES["limits"]) < declared
    assert declared - imported == set(), "read it where the rule is, or take it out of contract/draft_tables.py"


def test_every_part_of_the_tables_reaches_the_console() -> None:
    parts = {name for row in TABLES["shapes"].values() for name in row} - {"fields"}
    assert parts == {*draft_tables.LISTS, *draft_tables.FLAGS}, "give it a table in contract/draft_tables.py"
    assert set(TABLES) == {"limits", "codes", "values", "shapes", "dropped"}


@pytest.mark.parametrize("code", [code for codes in TABLES["codes"].values() for code in codes])
def test_every_code_is_given_by_the_console_and_has_words(code: str) -> None:
    given = [name for name, text in sources(EDITING / "rules").items() if f'"{code}"' in text]
    assert given, "no rule of console/src/editing/rules gives it"
    words = (SOURCE / "canvas/page/findings.tsx").read_text("utf-8")
    assert re.search(rf"\b{code}: [\"A-Z]", words), "say in `CODES` what a person reads"


def test_every_shape_and_every_verdict_is_known_to_the_rules_of_the_console() -> None:
    checks = (EDITING / "rules/shapes.ts").read_text("utf-8").partition("const CHECKS")[2].partition("};")[0]
    known = {quoted or plain for quoted, plain in re.findall(r'^  (?:"([^"]+)"|(\w+)):', checks, re.MULTILINE)}
    assert known == set(TABLES["values"])
    verdicts = {cell for row in TABLES["dropped"].values() for cell in row.values()}
    assert set(re.findall(r'case "(\w+)":', (EDITING / "transform.ts").read_text("utf-8"))) == verdicts
    fields = {one for row in TABLES["shapes"].values() for one in row["fields"].values() if isinstance(one, str)}
    assert fields == set(TABLES["values"])


def test_every_limit_of_the_rules_is_shared_or_named() -> None:
    found: set[str] = set()
    for path in Path(rules.__file__).parent.rglob("*.py"):
        for names in re.findall(r"^from stepless\.limits import (\([^)]*\)|.*)$", path.read_text("utf-8"), re.MULTILINE):
            found |= set(re.findall(r"\w+", names))
    shared = set(draft_tables.LIMITS)
    assert found - shared == OF_THE_SERVER
    assert shared - found == OF_ITS_DOORS


def test_the_console_has_no_limit_of_the_same_name() -> None:
    own = {
        (name, limit) for name, text in sources(SOURCE).items()
        for limit in re.findall(r"^(?:export )?const ([A-Z_]+) = ", text, re.MULTILINE) if limit in TABLES["limits"]
    }
    assert own == set(), "import it from editing/tables.ts"
