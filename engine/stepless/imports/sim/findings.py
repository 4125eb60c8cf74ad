"""Lists the importer's findings: message and fix by code. All are warnings: the document compiles regardless of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from stepless.imports.finding_report import Reporting

TABLE: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({
    # -- blocks
    "sim_note": ("the note `{name}` is not a node; its text is in the workflow's description", ""),
    "sim_block_without_equivalent": (
        "there is no kind for `{type}`: `{node}` calls the function `{call}` with the block's inputs as args",
        "Register a function of that name, or use a kind that does the same.",
    ),
    "sim_code_kept_as_text": (
        "{language} code does not run in Stepless: `{node}` calls the function `{call}` with the code as text, and its values",
        "Register a Python function of that name that does the same.",
    ),
    "sim_trigger_without_equivalent": (
        "there is no entry kind for `{type}`: `{node}` is started by hand or by API, with the event as the run's inputs",
        "Let the other service start runs by API, or use a webhook, a schedule or an event.",
    ),
    "sim_trigger_in_container": (
        "`{node}` is a trigger inside a container, where runs cannot start: it returns its input unchanged", "",
    ),
    "sim_no_trigger": ("the workflow has no trigger: every node without incoming edges starts", "Add an entry node."),
    "sim_disabled_block": (
        "`{node}` is disabled: in Sim nothing after it runs, in Stepless it passes its input on by its first exit",
        "Remove it, or the nodes after it.",
    ),
    "sim_block_unreachable": (
        "`{name}` ({type}) is left out: no path leads to it from a trigger or from the start of its container",
        "To keep it, connect it and import again.",
    ),
    "sim_block_unreadable": ("the block is left out, because it has no type: {detail}", "Correct the export."),
    "sim_block_refused": (
        "the compiler refuses the converted `{node}` ({type}): {detail}. It calls the function `{call}` with its original texts",
        "Correct the parameter in the export, or register the function.",
    ),
    "sim_name_twice": ("another block has the name `{name}` too: references read the first one", "Rename one of them."),
    "sim_open_webhook": ("anyone who knows the path of `{node}` can start runs", 'Set `auth: {{hmac: "${{NAME}}"}}`.'),
    "sim_schedule_unreadable": ("the schedule cannot be read ({detail}): `{node}` is started by hand", "Set `cron` or `rate`."),
    "sim_model_missing": ("`{node}` has no model", "Set `model`, or a default of the installation."),
    "sim_approval_answers": (
        "in Sim every answer continues; `{node}` can be approved or rejected, and only `approved` has edges",
        "Add edges from `{node}.rejected`.",
    ),
    "sim_description_cut": ("the description and the notes are cut: they are longer than {limit} characters", ""),
    "sim_child_workflow": (
        "`{node}` runs the workflow with the id `{workflow}` in Sim", "Import that workflow too, and write its new id here.",
    ),
    # -- fields
    "sim_field_ignored": ("`{field}` has no equivalent in `{kind}` and is left out: {detail}", ""),
    "sim_field_unreadable": ("`{field}` cannot be read: {detail}", "Correct it in the export, or set it in the document."),
    "sim_input_format": (
        "the document does not declare the inputs of `{node}`: {detail}", "Pass them with each start, including defaults.",
    ),
    "sim_tool_without_equivalent": (
        "there is no equivalent for the tool `{name}`: the model may call the function `{call}`",
        "Register a function of that name.",
    ),
    "sim_secret": (
        "{detail} is replaced by `${{{name}}}`",
        "Keep the value in the environment or the secret store, and revoke the exported one.",
    ),
    # -- containers
    "sim_cyclic_parents": ("the container of `{name}` is inside `{name}`: it moves to the top level", "Correct `parentId`."),
    "sim_unknown_parent": (
        "`{name}` is inside a block that is not a container: it moves to the top level", "Correct `parentId`.",
    ),
    "sim_unknown_subflow": ("there is no block for this container: its settings are left out", ""),
    "sim_empty_container": ("`{node}` has an empty body, which fails in Sim: it gets a node that does nothing", ""),
    "sim_container_start": (
        "no edge leaves the start of `{node}`, which fails in Sim: the nodes without incoming edges start", "",
    ),
    "sim_loop_count": (
        "the number of iterations of `{node}` cannot be read ({detail}): it runs {used}, as in Sim", "Set the number.",
    ),
    "sim_items_missing": ("the items of `{node}` cannot be read ({detail}): it runs no iteration", "Set `items`."),
    "sim_turn_value_kept": (
        "the test of `{node}` reads `{name}` inside it: the variable `{variable}` keeps its output for the test", "",
    ),
    # -- conditions
    "sim_condition_untranslated": (
        "the test `{name}` cannot be translated ({detail}): it fails when it is evaluated: {source}",
        "Write it as an expression.",
    ),
    "sim_condition_loose": (
        "the test `{name}` compares with `==` or `!=`: in Sim 5 equals '5', in Stepless types must match", "Check the types.",
    ),
    "sim_no_cases": ("`{node}` has no {what} that can be read: it gets a single one", "Add the {what}."),
    # -- edges
    "sim_edge_unreadable": ("the edge is left out, because it has no source or target", "Correct the export."),
    "sim_edge_end_unknown": ("the edge is left out: `{name}` is not a block of the document", ""),
    "sim_edge_crosses_container": (
        "the edge is left out: it leads into or out of a container, which has no effect in Sim either", "",
    ),
    "sim_edge_to_itself": ("the edge is left out: it leads from a block to itself", "Use a loop."),
    "sim_edge_in_circle": ("the edge is left out: it closes a cycle, whose blocks never run in Sim", "Use a loop."),
    "sim_edge_into_trigger": ("the edge is left out: it leads into a trigger, where runs start", ""),
    "sim_edge_after_end": ("the edge is left out: `{name}` ends the run in Sim", ""),
    "sim_edge_exit_unknown": ("the edge is left out: `{name}` has no exit `{handle}`", "Connect it again."),
    # -- references and variables
    "sim_unknown_reference": ("there is no block or variable for `{text}`: it stays text, as in Sim", "Correct the name."),
    "sim_reference_outside_container": ("`{text}` is not inside such a container: it stays text, as in Sim", ""),
    "sim_reference_not_upstream": (
        "`{text}` reads a block from which no path leads here: it reads as empty, as in Sim",
        "Connect the block, or remove the reference.",
    ),
    "sim_inner_block_read": ("`{text}` reads a block inside a container: it reads as empty", "Read the container's results."),
    "sim_output_without_equivalent": ("`{text}` reads an output that does not exist in Stepless: it reads as empty", ""),
    "sim_results_reshaped": (
        "`{text}` reads results: in Stepless one value per iteration, in Sim a list of outputs per iteration", "Check the path.",
    ),
    "sim_variable_unreadable": ("the variable `{name}` cannot be read as {type}: {detail}", "Set its initial value."),
    "sim_variable_unknown": ("there is no variable `{name}`: the assignment is left out", "Declare it in `variables`."),
})  # fmt: skip


class Report(Reporting):
    """The findings of one import of Sim."""

    def __init__(self) -> None:
        super().__init__(TABLE)
