"""Checks the arguments that a node passes to a registered callable, against the callable's signature.

A text with a reference fits every type: its value is known only at run time, and is checked then. The rest of the value around
it is checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stepless.compile.parsed import Parsed, ParsedBody, ParsedNode, readable
from stepless.compile.suggest import did_you_mean, listed, nearest
from stepless.compile.values.fields import Known
from stepless.compile.values.open_values import open_values
from stepless.model.findings import Change, Finding, remove, use
from stepless.model.json import JSON
from stepless.model.signature import Signature
from stepless.model.work import NodeFailure


def unfit_arguments(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    signatures = parsed.functions if isinstance(parsed.functions, Mapping) else {}
    known: Known | None = None
    for node in body.order if signatures else ():
        if node.kind is None or node.kind.arguments is None:
            continue
        for place, name in node.kind.functions(node.document.with_).items():
            if name in signatures:
                known = known or readable(parsed)
                yield from _checked(node, place, name, signatures[name], known)


def _checked(node: ParsedNode, place: str, name: str, read: Callable[[], Signature], known: Known) -> Iterator[Finding]:
    assert node.kind is not None and node.kind.arguments is not None
    try:
        signature = read()
    except NodeFailure as failure:
        yield Finding(failure.code, f"{node.path}.with.{place}", failure.message, _sentence(failure.mend), node.id)
        return
    field = node.kind.arguments
    args = node.document.with_.get(field, {})
    if isinstance(args, Mapping):  # a reference in its place is checked at run time
        yield from _unfit_names(node, f"{node.path}.with.{field}", name, signature, args)
        for parameter in signature.parameters:
            if parameter in args:
                yield from _unfit_value(node, f"{node.path}.with.{field}.{parameter}", name, signature, parameter, args, known)


def _unfit_names(
    node: ParsedNode, path: str, name: str, signature: Signature, args: Mapping[str, JSON],
) -> Iterator[Finding]:
    takes = _takes(signature)
    for given in args:
        if given == signature.filled_in:
            message = f"`{given}` of `{name}` is filled in by the engine"
            yield Finding("invalid_arguments", f"{path}.{given}", message, "Leave it out.", node.id, fix=remove(given))
        elif given not in signature.parameters and not signature.takes_any:
            message = f"`{name}` has no parameter `{given}`"
            near = did_you_mean(given, signature.parameters)
            fix = use(nearest(given, signature.parameters), change=Change.RENAME)
            yield Finding("invalid_arguments", f"{path}.{given}", message, f"{near} {takes}".strip(), node.id, fix=fix)
    for parameter in signature.parameters:
        if parameter in signature.required and parameter not in args:
            message = f"`{name}` needs `{parameter}`, which is not given"
            yield Finding("invalid_arguments", path, message, f"Add `{parameter}`. {takes}", node.id)


def _takes(signature: Signature) -> str:
    if not signature.parameters:
        return "It takes any names." if signature.takes_any else "It takes no arguments."
    required = [parameter for parameter in signature.parameters if parameter in signature.required]
    optional = [parameter for parameter in signature.parameters if parameter not in signature.required]
    more = f"{listed(optional)} may be left out" if optional else ""
    return f"It takes {listed(signature.parameters)}{f'; {more}' if required and more else ''}."


def _unfit_value(
    node: ParsedNode, path: str, name: str, signature: Signature, parameter: str, args: Mapping[str, JSON], known: Known,
) -> Iterator[Finding]:
    for misfit in signature.misfits(parameter, args[parameter], open_values(known)):
        where = ".".join(map(str, (path, *misfit.place)))
        inner = ".".join(map(str, (parameter, *misfit.place)))
        message = f"`{inner}` of `{name}` {misfit.sentence()}"
        mend = misfit.fix_text(str(misfit.place[-1]) if misfit.place else parameter)
        yield Finding("invalid_arguments", where, message, mend or f"See the type hint of `{parameter}`.", node.id)


def _sentence(mend: str) -> str:
    return f"{mend[:1].upper()}{mend[1:]}." if mend else ""
