"""Says how each function of the expression language is called and what it returns: for the reference and for editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CALLS: Final[Mapping[str, tuple[str, str]]] = {
    "len": ("len(x)", "characters of a text, items of a list, fields of an object"),
    "min": ("min(a, b, …), min(list)", "the smallest: all numbers or all texts"),
    "max": ("max(a, b, …), max(list)", "the largest"),
    "sum": ("sum(list)", "the sum of its numbers"),
    "round": ("round(x), round(x, digits)", "to a whole number, or to that many digits; halves go to the even neighbour"),
    "abs": ("abs(x)", "the absolute value"),
    "lower": ("lower(text)", "in lower case"),
    "upper": ("upper(text)", "in upper case"),
    "trim": ("trim(text)", "without white space at both ends"),
    "split": ("split(text), split(text, separator)", "its words, or the pieces between separators"),
    "join": ("join(list), join(list, separator)", "its items in one text"),
    "contains": ("contains(whole, part)", "as `part in whole`"),
    "startswith": ("startswith(text, start)", "whether the text begins with `start`"),
    "endswith": ("endswith(text, end)", "whether the text ends with `end`"),
    "matches": ("matches(text, pattern)", "whether the text contains a match of the regular expression (RE2: bounded in time)"),
    "int": ("int(x)", "a number without its fraction, or a text of digits as a number"),
    "float": ("float(x)", "a number, or a text as a number"),
    "str": ("str(x)", "a text as it is, anything else as JSON"),
    "bool": ("bool(x)", "false for null, 0, empty texts, lists and objects"),
    "keys": ("keys(object)", "its names"),
    "values": ("values(object)", "its values"),
    "items": ("items(object)", "[name, value] for each"),
    "any": ("any(list)", "whether at least one item counts as true"),
    "all": ("all(list)", "whether all items count as true"),
    "default": ("default(x, y)", "x, or y where x is null"),
    "now": ("now()", "the instant of the decision, as ISO-8601 text in UTC"),
    "date": ("date(x)", "an instant (ISO-8601 text, or milliseconds) as ISO-8601 text in UTC"),
    "json": ("json(text)", "the value of a JSON text"),
    "query": ("query(x, text)", "JMESPath: filters and projects collections"),
    "need": ("need(x)", "x; fails with `missing_value` where x is null"),
    "merge": ("merge(object, …)", "one object with the fields of all; of equal names, the last value"),
    "put": ("put(object, name, x), put(list, number, x)", "a copy with x under the name, or at a number that the list has"),
    "sort": ("sort(list), sort(list, true)", "its items in ascending or descending order: all numbers or all texts"),
    "range": ("range(stop), range(start, stop), range(start, stop, step)", "whole numbers from `start` (0) to before `stop`"),
    "zip": ("zip(list, …)", "lists of the first items, the second items …, as many as the shortest list has"),
    "repeat": ("repeat(x, times)", "a text or a list, that often in a row"),
    "text": ("text(x)", "x as Python writes it: `None`, `True`, `1.0`, `['a', 1]`; a text as it is"),
}
"""By name: the forms of a call, separated by commas between calls, and what it returns."""
