"""Conditions and rules of the template, evaluated when the app is synthesised: the values of the parameters are known by then.

What is left has no conditions: resources that are not made are absent. The checks that `synth` runs on a template then take
seconds; with this one's parameters and conditions they take minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

_ABSENT: Final = object()
_NO_VALUE: Final = {"Ref": "AWS::NoValue"}
_REFERENCES: Final = ("Resources", "Outputs")
Values = Mapping[str, str]
Later = Callable[[str], bool]


class Unknown(Exception):
    """A condition depends on a value that is known at deployment only. Its text is the value's parameter."""


class Conditions:
    """The conditions of one template. `values` has a text per parameter, lists joined by commas. `later` says whether a text is
    known at deployment only: it counts as not empty, and cannot be compared with any other text (`ValueError`).
    """

    def __init__(self, template: Mapping[str, Any], values: Values, later: Later) -> None:
        self._template = template
        self._values = values
        self._later = later

    def settled(self) -> dict[str, Any]:
        """The template without conditions and rules: every `Fn::If` is one of its branches."""
        template = {key: value for key, value in self._template.items() if key not in ("Conditions", "Rules")}
        for section in _REFERENCES:
            every = self._template[section].items()
            kept = {name: each for name, each in every if self._holds(each.get("Condition"))}
            template[section] = {name: self._chosen({**each, "Condition": _NO_VALUE}) for name, each in kept.items()}
        made = template["Resources"]
        for resource in made.values():
            if "DependsOn" in resource:
                given = resource["DependsOn"]
                resource["DependsOn"] = [name for name in ([given] if isinstance(given, str) else given) if name in made]
        return template

    def broken(self) -> Iterator[str]:
        """What the rules of the template say against the values. Rules about values that are not known are not checked."""
        for rule in self._template.get("Rules", {}).values():
            for assertion in rule["Assertions"]:
                try:
                    if self._true(rule["RuleCondition"]) and not self._true(assertion["Assert"]):
                        yield assertion["AssertDescription"]
                except Unknown:
                    continue

    def _holds(self, name: str | None) -> bool:
        try:
            return name is None or self._true(self._template["Conditions"][name])
        except Unknown as error:
            raise ValueError(f"{error} decides which resources are made: give a value that is known when the app runs") from None

    def _true(self, condition: Mapping[str, Any]) -> bool:
        [(function, given)] = condition.items()
        match function:
            case "Condition":
                return self._true(self._template["Conditions"][given])
            case "Fn::Not":
                return not self._true(given[0])
            case "Fn::And":
                return all(self._true(each) for each in given)
            case "Fn::Or":
                return any(self._true(each) for each in given)
            case "Fn::Equals":
                return self._equal(*given)
            case "Fn::Contains":
                return any(self._equal(given[1], each) for each in given[0])
            case "Fn::EachMemberEquals":
                return all(self._same(each, given[0], given[1]) for each in self._text(given[0]).split(","))
        raise NotImplementedError(function)

    def _equal(self, first: Any, second: Any) -> bool:
        return self._same(self._text(first), first, self._text(second))

    def _same(self, text: str, source: Any, other: str) -> bool:
        if self._later(text) and other:
            raise Unknown(source["Ref"])
        return text == other

    def _text(self, value: Any) -> str:
        if isinstance(value, Mapping):
            [(function, given)] = value.items()
            if function == "Ref":
                return self._values[given]
            if function == "Fn::Join":
                return self._text(given[1]).replace(",", given[0])
            raise NotImplementedError(function)
        return str(value)

    def _chosen(self, value: Any) -> Any:
        if value == _NO_VALUE:
            return _ABSENT
        if isinstance(value, Mapping):
            if "Fn::If" in value:
                name, yes, no = value["Fn::If"]
                return self._chosen(yes if self._holds(name) else no)
            inner = ((name, self._chosen(each)) for name, each in value.items())
            return {name: each for name, each in inner if each is not _ABSENT}
        if isinstance(value, list):
            return [each for each in map(self._chosen, value) if each is not _ABSENT]
        return value
