"""Planted bugs of the compiler in what it lifts: each with a small program that must find it, or with statements that it must no
longer refuse."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from stepless.flow import carried, lifted
from stepless.flow.compiler.blocks import emitting, functions, pulling, rewriting
from stepless.flow.compiler.expressions import hoisting
from stepless.flow.compiler.facts import liveness, uses
from stepless.flow.compiler.unit import Unit

_LIVE, _WAY, _NOTED = rewriting.Rewriting._live_at, functions._way, rewriting.inputs_of


class Planted(NamedTuple):
    """What is replaced, and what finds it: a program of `directed_blocks`, or the statements that are
    refused without the bug."""

    change: tuple[Any, str, Any]
    program: str = ""
    refused: str = ""


def _no_live_out(self: rewriting.Rewriting, kind: str, run: Any, after: Any, around: Any) -> frozenset[str]:
    return _LIVE(self, kind, run, after, around) - {max(after, default="")}


def _one_turn(self: liveness.Liveness, body: Any, head: Any, after: Any, around: Any, bound: Any) -> Any:
    inner = liveness.replace(around, break_=after, continue_=head)
    return head | (self._suite(body, after, inner) - bound)


def _exchanged(kind: str, value: ast.expr | None) -> ast.stmt:
    return _WAY({"break": "continue", "continue": "break"}.get(kind, kind), value)


def _no_walrus(self: uses.Uses, node: ast.NamedExpr) -> None:
    self.visit(node.value)


def _both_branches(unit: Unit, node: ast.IfExp, sure: Any) -> ast.expr:
    test, body, orelse = (sure(unit, part) for part in (node.test, node.body, node.orelse))
    return ast.copy_location(ast.IfExp(test, body, orelse), node)


def _bound_for_good(self: rewriting.Rewriting, block: Any, name: str, kind: str, value: ast.expr, run: Any) -> ast.stmt:
    return rewriting._at(ast.Assign([rewriting._at(ast.Name(name, ast.Store()), run)], value), run)


def _inputs_certain(run: Sequence[ast.stmt]) -> frozenset[str]:
    return _NOTED(run) - uses.uses_of(*run).bound


def _null(rebuild: Any, stored: Any) -> Any:
    return None if stored == lifted.UNBOUND else rebuild(stored)


_TUPLES: Final = {**carried._DECODERS, "tuple": lambda stored: [*map(carried.decoded, stored)]}
BLOCK_MUTANTS: Final[dict[str, Planted]] = {
    "a name is not live behind a block": Planted(
        (rewriting.Rewriting, "_live_at", _no_live_out), "objects in objects"),
    "what a turn of a loop leaves is not live in the next": Planted(
        (liveness.Liveness, "_loop", _one_turn), "a set that only the next turn reads"),
    "break and continue of a block are exchanged": Planted(
        (functions, "_way", _exchanged), "a block with every exit of a loop"),
    "a return of a block loses its value": Planted(
        (functions, "_way", lambda kind, value: _WAY(kind, None)), "a value that a block returns"),
    "a shared value may change in a block": Planted(
        (emitting, "_check_changes", lambda unit, node: None),
        refused="xs = [1]\nys = xs\nawait half(2)\nxs.append(2)\nreturn ys"),
    "a set is stored as a frozenset": Planted(
        (carried, "_NAMES", {**carried._NAMES, set: "frozenset"}), "an awaited item in an object"),
    "a tuple is read as a list": Planted((carried, "_DECODERS", _TUPLES), "tuples"),
    "both branches of a conditional await are evaluated": Planted((hoisting, "choice", _both_branches), "a conditional await"),
    "an exception of a block has no class": Planted((lifted, "code_of", lambda kind: "exception"), "an exception of a block"),
    "what has no value may outlive an await": Planted(
        (emitting, "maker_of", lambda inner, block, name: None), refused="file = open('x')\nawait half(2)\nreturn file.read()"),
    "what stands in front of an await is evaluated behind it": Planted(
        (pulling, "_is_simple", lambda part: True), "what fails before an awaited item"),
    "a name that a block reads and writes is no input": Planted(
        (rewriting, "inputs_of", _inputs_certain), "a name that a block counts on"),
    "a name of `:=` is not bound": Planted(
        (uses.Uses, "_rules", {**uses.Uses._rules, ast.NamedExpr: _no_walrus}), "a name in the middle of an expression"),
    "what a block wrote before it raised is lost": Planted(
        (rewriting, "_may_raise_late", lambda run, live: False), "what a block wrote before it certainly raised"),
    "a name without a value is null": Planted((lifted, "_read", _null), "a name of one branch in a block"),
    "a deleted name keeps its value": Planted((rewriting.Rewriting, "_bound", _bound_for_good), "a name that is deleted"),
}  # fmt: skip
