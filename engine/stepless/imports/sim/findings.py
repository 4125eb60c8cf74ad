"""Every finding of the importer: its sentence and its mend, by code. All are warnings: the document compiles without them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from stepless.limits import PREVIEW_CHARACTERS
from stepless.model.findings import Finding, Severity

TABLE: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({
    # -- blocks
    "sim_note": ("the note `{name}` is no node; its text is in the description of the workflow", ""),
    "sim_block_without_equivalent": (
        "there is no kind for `{type}`: `{node}` calls the function `{call}` with the block's inputs as args",
        "Register a function of that name, or use a kind that does the same.",
    ),
    "sim_code_kept_as_text": (
        "{language} is not run here: `{node}` calls the function `{call}`, given the code as text and the values that it reads",
        "Register a Python function of that name that does the same.",
    ),
    "sim_trigger_without_equivalent": (
        "nothing here listens for `{type}`: `{node}` is started by hand or by API, with the event as the run's inputs",
        "Let the other side start runs by API, or use a webhook, a schedule or an event.",
    ),
    "sim_trigger_in_container": ("`{node}` is a trigger inside a container, where runs cannot start: it passes its input on", ""),
    "sim_no_trigger": ("the workflow has no trigger: every node without incoming edges starts", "Add an entry node."),
    "sim_disabled_block": (
        "`{node}` is disabled: there nothing behind it runs, here its input passes through it", "Remove it, or what follows it.",
    ),
    "sim_block_unreachable": (
        "`{name}` ({type}) never runs: no path leads to it from a trigger or from the start of its container; it is left out",
        "Wire it and import again, if it is wanted.",
    ),
    "sim_block_unreadable": ("this is no block with a type: {told}; it is left out", "Mend the export."),
    "sim_block_refused": (
        "the compiler refuses what `{node}` ({type}) became: {told}. It calls the function `{call}` with its texts as they were",
        "Mend the parameter in the export, or register the function.",
    ),
    "sim_name_twice": ("another block has the name `{name}` too: references read the first one", "Rename one of them."),
    "sim_open_webhook": ("`{node}` takes requests of anyone who knows its path", 'Set `auth: {{hmac: "${{NAME}}"}}`.'),
    "sim_schedule_unreadable": ("the schedule cannot be read ({told}): `{node}` is started by hand", "Write `cron` or `rate`."),
    "sim_model_missing": ("`{node}` names no model", "Set `model`, or a default of the installation."),
    "sim_approval_answers": (
        "there every answer goes on; here `{node}` is approved or rejected, and only `approved` is wired",
        "Wire `{node}.rejected`.",
    ),
    "sim_description_cut": ("the description and the notes are longer than {limit} characters: the rest is left out", ""),
    "sim_child_workflow": (
        "`{node}` runs the workflow that is known there as `{workflow}`", "Import that one too, and write its id here.",
    ),
    # -- fields
    "sim_field_ignored": ("`{field}` has no equivalent in `{kind}` and is left out: {told}", ""),
    "sim_field_unreadable": ("`{field}` cannot be read: {told}", "Mend it in the export, or set it in the document."),
    "sim_input_format": (
        "the inputs that `{node}` declares are not declared here: {told}", "Give them with each start; defaults too.",
    ),
    "sim_tool_without_equivalent": (
        "the tool `{name}` is not known here: the model may call the function `{call}`", "Register a function of that name.",
    ),
    "sim_secret": (
        "{told} is not copied: `${{{name}}}` stands in its place",
        "Keep the value in the environment or the secret store, and revoke the exported one.",
    ),
    # -- containers
    "sim_cyclic_parents": ("the container of `{name}` is inside of it: it is taken as standing alone", "Mend `parentId`."),
    "sim_unknown_parent": (
        "`{name}` is inside of something that is no container: it is taken as standing alone", "Mend `parentId`.",
    ),
    "sim_unknown_subflow": ("there is no block for this container; its settings are left out", ""),
    "sim_empty_container": ("`{node}` has nothing to run inside, which fails there; here it runs a node that does nothing", ""),
    "sim_container_start": ("nothing is wired to the start of `{node}`, which fails there; here its first nodes start", ""),
    "sim_loop_count": ("the number of turns of `{node}` cannot be read ({told}): {used} are run, as there", "Set it."),
    "sim_items_missing": ("what `{node}` runs over is missing or cannot be read ({told}): it runs over nothing", "Set `items`."),
    "sim_turn_value_kept": (
        "the test of `{node}` reads `{name}` inside of it: the variable `{variable}` keeps its output for the test", "",
    ),
    # -- conditions
    "sim_condition_untranslated": (
        "the test `{name}` is not translated ({told}): it fails whoever reaches it, so that no way is taken by guess: {source}",
        "Write it as an expression.",
    ),
    "sim_condition_loose": (
        "the test `{name}` compares with `==` or `!=`: there 5 equals '5', here types must match", "Check the types.",
    ),
    "sim_no_cases": ("`{node}` has no {what} that can be read: a single one stands in their place", "Write them."),
    # -- edges
    "sim_edge_unreadable": ("this is no edge with source and target; it is left out", "Mend the export."),
    "sim_edge_end_unknown": ("the edge leads from or to `{name}`, which is no block here; it is left out", ""),
    "sim_edge_crosses_container": ("the edge leads into or out of a container, where there is no way either; it is left out", ""),
    "sim_edge_to_itself": ("the edge leads from a block to itself; it is left out", "Use a loop."),
    "sim_edge_in_circle": ("the edge closes a circle of blocks, none of which runs there; it is left out", "Use a loop."),
    "sim_edge_into_trigger": ("the edge leads into a trigger, where runs start; it is left out", ""),
    "sim_edge_after_end": ("nothing follows `{name}`, which ends the run there; the edge is left out", ""),
    "sim_edge_exit_unknown": ("`{name}` has no exit `{handle}`; the edge is left out", "Wire it again."),
    # -- references and variables
    "sim_unknown_reference": ("`{text}` names no block or variable: it stays text, as there", "Mend the name."),
    "sim_reference_outside_container": ("`{text}` stands outside such a container: it stays text, as there", ""),
    "sim_reference_not_upstream": (
        "`{text}` reads a block that no path leads from: it reads as empty, as there", "Wire it, or remove it.",
    ),
    "sim_inner_block_read": ("`{text}` reads a block inside a container: it reads as empty", "Read the container's results."),
    "sim_output_without_equivalent": ("`{text}` reads a part of an output that is not put out here: it reads as empty", ""),
    "sim_results_reshaped": (
        "`{text}` reads results: here they are one value per turn, there a list of outputs per turn", "Check the path.",
    ),
    "sim_variable_unreadable": ("the variable `{name}` cannot be read as {type}: {told}", "Set its initial value."),
    "sim_variable_unknown": ("there is no variable `{name}` to set: the assignment is left out", "Declare it in `variables`."),
})  # fmt: skip


class Report:
    """What was not carried over, in the order in which it was found; nothing is told twice."""

    def __init__(self) -> None:
        self._findings: dict[tuple[str, str, str], Finding] = {}

    def tell(self, code: str, path: str, /, *, at: str | None = None, edge: str | None = None, **facts: Any) -> None:
        """Adds the finding `code` about `path` of the export. `at` is the node that it concerns; `facts` fill the sentence."""
        message, mend = (text.format(**{name: shown(fact) for name, fact in facts.items()}) for text in TABLE[code])
        self._findings.setdefault((code, path, message), Finding(code, path, message, mend, at, edge, Severity.WARNING))

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._findings.values())


def shown(fact: object) -> str:
    """On one line, cut to what a message can hold."""
    text = " ".join(str(fact).split())
    return text if len(text) <= PREVIEW_CHARACTERS else f"{text[: PREVIEW_CHARACTERS - 1]}…"
