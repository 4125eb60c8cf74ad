"""Converts If, Switch and Filter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from stepless.errors import ExpressionError
from stepless.expressions import compile_expression
from stepless.imports.n8n.site import Node, Site
from stepless.imports.n8n.wiring import MET, NOT_MET, exits_of_switch
from stepless.imports.sim.reference_translation import quoted
from stepless.limits import MAX_EXPRESSION_CHARACTERS
from stepless.model.json import JSON

_ELSE: Final = "else"
_TRUE: Final = "true"
_FALSE: Final = "false"
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_TESTS: Final[Mapping[str, str]] = {
    "equals": "{0} == {1}", "notEquals": "{0} != {1}", "gt": "{0} > {1}", "lt": "{0} < {1}", "gte": "{0} >= {1}",
    "lte": "{0} <= {1}",
    "contains": "contains({0}, {1})", "notContains": "not contains({0}, {1})", "startsWith": "startswith({0}, {1})",
    "notStartsWith": "not startswith({0}, {1})", "endsWith": "endswith({0}, {1})", "notEndsWith": "not endswith({0}, {1})",
    "regex": "matches({0}, {1})", "notRegex": "not matches({0}, {1})", "exists": "{0} != null", "notExists": "{0} == null",
    "true": "{0} == true", "false": "{0} == false", "after": "date({0}) > date({1})", "before": "date({0}) < date({1})",
    "afterOrEquals": "date({0}) >= date({1})", "beforeOrEquals": "date({0}) <= date({1})", "lengthEquals": "len({0}) == {1}",
    "lengthNotEquals": "len({0}) != {1}", "lengthGt": "len({0}) > {1}", "lengthLt": "len({0}) < {1}",
    "lengthGte": "len({0}) >= {1}",
    "lengthLte": "len({0}) <= {1}", "empty": "{0} in [null, \"\", [], {{}}]", "notEmpty": "{0} not in [null, \"\", [], {{}}]",
}  # fmt: skip
_FORMER: Final[Mapping[str, str]] = {
    "equal": "equals", "notEqual": "notEquals", "larger": "gt", "largerEqual": "gte", "smaller": "lt", "smallerEqual": "lte",
    "isEmpty": "empty", "isNotEmpty": "notEmpty",
}  # fmt: skip
_USUAL: Final[Mapping[str, str]] = {"string": "equal", "number": "smaller", "boolean": "equal", "dateTime": "after"}
_NUMERIC: Final = ("number", "length")
_KEPT_CHARACTERS: Final = MAX_EXPRESSION_CHARACTERS // 4


def condition(site: Site) -> Node:
    """Converts If and Filter: one exit if the conditions hold, another one if they do not."""
    test = _group(site, site.take("conditions"), "conditions", site.take("combineOperation"))
    _report_loose(site)
    site.warn_unused("condition")
    return _cases({MET: test, NOT_MET: _ELSE})


def switch(site: Site) -> Node:
    """Cases in the order of the rules. What fits no rule leaves by the last exit, which has edges only if n8n has them."""
    exits = exits_of_switch(site.block)
    rules = site.take("rules")
    cases: dict[str, str] = {}
    if site.take("mode") == "expression":
        chosen = site.expression(site.take("output"), "output")
        site.take("numberOutputs")
        cases = {exit: f"{chosen} == {place}" for place, exit in enumerate(exits[:-1])}
    elif isinstance(rules, dict) and isinstance(rules.get("values"), list):
        cases = dict(_of_rules(site, rules["values"], exits))
    else:
        _former_rules(site, rules, exits, cases)
    fallback = site.option("fallbackOutput")
    if isinstance(fallback, int) and 0 <= fallback < len(exits) - 1 and exits[fallback] in cases:
        others = [test for exit, test in cases.items() if exit != exits[fallback]]
        cases[exits[fallback]] = " and ".join(["true", *(f"not ({test})" for test in others)]) if others else _TRUE
    site.option("renameFallbackOutput")
    if site.option("allMatchingOutputs") is True:
        site.warn("n8n_all_matching", node=site.id)
    _report_loose(site)
    site.warn_unused("condition")
    unused = {exit: _FALSE for exit in exits[:-1] if exit not in cases}
    return _cases(cases | unused | {exits[-1]: _ELSE})


def _of_rules(site: Site, rules: JSON, exits: list[str]) -> Iterator[tuple[str, str]]:
    for exit, rule in zip(exits, rules if isinstance(rules, list) else [], strict=False):
        yield exit, _group(site, rule.get("conditions") if isinstance(rule, dict) else None, "rules", None)


def _former_rules(site: Site, rules: JSON, exits: list[str], cases: dict[str, str]) -> None:
    """The rules of the former versions, each with a number of its output."""
    sort, left = str(site.take("dataType") or "number"), site.take("value1")
    for place, rule in enumerate(site.rows("rules")):
        output = rule.get("output") if isinstance(rule.get("output"), int) else place
        operation = str(rule.get("operation") or _USUAL.get(sort, "equal"))
        test = _test(site, {"type": sort, "operation": operation}, left, rule.get("value2"), "rules", False)
        if isinstance(output, int) and output < len(exits) - 1:
            cases[exits[output]] = f"({cases[exits[output]]}) or ({test})" if exits[output] in cases else test
    fallback = site.take("fallbackOutput")
    if isinstance(fallback, int) and 0 <= fallback < len(exits) - 1 and exits[fallback] not in cases:
        cases[exits[fallback]] = _TRUE


def _cases(cases: dict[str, str]) -> Node:
    return {"type": "condition", "with": {"cases": cases}}


def _group(site: Site, given: JSON, name: str, combined: JSON) -> str:
    """Several conditions as one expression."""
    if not isinstance(given, dict):
        return _TRUE
    listed = given.get("conditions")
    options = given.get("options")
    folds = isinstance(options, dict) and options.get("caseSensitive") is False
    tests = []
    if isinstance(listed, list):
        for entry in listed:
            if isinstance(entry, dict):
                operator = entry.get("operator")
                sort = operator if isinstance(operator, dict) else {}
                tests.append(_test(site, sort, entry.get("leftValue"), entry.get("rightValue"), name, folds))
        word = "or" if given.get("combinator") == "or" else "and"
    else:
        for sort, entries in given.items():
            for entry in entries if isinstance(entries, list) else []:
                if isinstance(entry, dict):
                    operator = {"type": sort, "operation": str(entry.get("operation") or _USUAL.get(sort, "equal"))}
                    tests.append(_test(site, operator, entry.get("value1"), entry.get("value2"), name, False))
        word = "or" if combined == "any" else "and"
    if len(tests) < 2:
        return tests[0] if tests else _TRUE
    return f" {word} ".join(f"({test})" for test in tests)


def _test(site: Site, operator: Mapping[str, JSON], left: JSON, right: JSON, name: str, folds: bool) -> str:
    """One condition. What has no equivalent becomes an expression that raises: the run does not take a guessed exit."""
    sort, operation = str(operator.get("type") or "string"), str(operator.get("operation") or "equals")
    operation = _FORMER.get(operation, operation)
    written = _TESTS.get(operation)
    sides = [site.expression(_typed(side, sort, operation), name) for side in (left, right)]
    if folds and sort == "string":
        sides = [f"lower({side})" for side in sides]
    made = written.format(*(side if _is_simple(side) else f"({side})" for side in sides)) if written is not None else ""
    detail = "" if written is not None else f"there is no test `{operation}` of {sort}"
    try:
        if made:
            compile_expression(made, site.references.known)
    except ExpressionError as error:
        detail = error.message
    if detail:
        source = f"{left} {operation} {right}"
        site.warn("n8n_condition_untranslated", name, node=site.id, detail=detail, source=source)
        return f"json({quoted(f'not translated: {source}'[:_KEPT_CHARACTERS])})"
    return made


def _typed(side: JSON, sort: str, operation: str) -> JSON:
    """A side that is typed as text, as a value of the type that is compared."""
    if not isinstance(side, str):
        return side
    plain = side.removeprefix("=").strip()
    if (sort == "number" or operation.startswith("length")) and _NUMBER.fullmatch(plain):
        return float(plain) if "." in plain else int(plain)
    if sort == "boolean" and plain in ("true", "false"):
        return plain == "true"
    return side


def _is_simple(side: str) -> bool:
    return re.fullmatch(r"<[^<>\s]+>|[\w.]+|\"[^\"\\]*\"|[a-z]+\([^()]*\)", side) is not None


def _report_loose(site: Site) -> None:
    if site.option("looseTypeValidation") is True or site.take("looseTypeValidation") is True:
        site.warn("n8n_condition_loose", node=site.id)
    site.option("ignoreCase")
