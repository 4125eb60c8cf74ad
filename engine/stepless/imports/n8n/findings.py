"""Lists the importer's findings: message and fix by code. All are warnings: the document compiles regardless of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from stepless.imports.finding_report import Reporting

TABLE: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({
    # -- the workflow
    "n8n_items": (
        "n8n runs a node once for each item; here each node runs once and handles one value: {nodes} may return a list",
        "Put what has to run for each item into a loop.",
    ),
    "n8n_setting_ignored": ("the setting `{name}` has no equivalent and is left out: {detail}", ""),
    "n8n_error_workflow": (
        "the workflow `{workflow}` runs in n8n when this one fails", "Set `on_failure_notify`, or add edges from `error` exits.",
    ),
    "n8n_pinned_data": ("the pinned data of {nodes} is left out", "Pin outputs in a draft of the workflow."),
    "n8n_note": ("the note `{name}` is not a node; its text is in the workflow's description", ""),
    "n8n_description_cut": ("the notes are cut: they are longer than {limit} characters", ""),
    # -- nodes
    "n8n_node_without_equivalent": (
        "there is no kind for `{type}`: `{node}` calls the function `{call}` with the node's parameters as args",
        "Register a function of that name, or use a kind that does the same.",
    ),
    "n8n_code_kept_as_text": (
        "{language} code does not run in Stepless: `{node}` calls the function `{call}` with the code as text, and its input",
        "Register a Python function of that name that does the same.",
    ),
    "n8n_part_of_node": ("`{name}` ({type}) is a part of `{node}`: its parameters are among the args of `{node}`", ""),
    "n8n_node_refused": (
        "the compiler refuses the converted `{node}` ({type}): {detail}. It calls the function `{call}` with its original texts",
        "Correct the parameter in the export, or register the function.",
    ),
    "n8n_node_unreadable": ("the node is left out: {detail}", "Correct the export."),
    "n8n_node_unreachable": (
        "`{name}` ({type}) is left out: no path leads to it from a trigger", "To keep it, connect it and import again.",
    ),
    "n8n_name_twice": ("another node has the name `{name}` too, and this one is left out", "Rename one of them."),
    "n8n_disabled_node": ("`{node}` is disabled: it passes its input on by its first exit, as in n8n", ""),
    "n8n_no_trigger": ("the workflow has no trigger: every node without incoming edges starts", "Add an entry node."),
    "n8n_trigger_without_equivalent": (
        "there is no entry kind for `{type}`: `{node}` is started by hand or by API, with the event as the run's inputs",
        "Let the other service start runs by API, or use a webhook, a schedule or an event.",
    ),
    "n8n_error_trigger": (
        "`{node}` starts in n8n when another workflow fails: here it is started by hand or by API",
        "Set `on_failure_notify` in the workflows whose failures it handles.",
    ),
    "n8n_webhook_auth": (
        "the credential of `{node}` is not in an export: callers need the bearer token `${{{name}}}`",
        "Set the secret, and give it to the callers; or set another `auth`.",
    ),
    "n8n_open_webhook": ("anyone who knows the path of `{node}` can start runs", 'Set `auth: {{hmac: "${{NAME}}"}}`.'),
    "n8n_schedule_unreadable": (
        "the schedule cannot be converted ({detail}): `{node}` is started by hand", "Set `cron` or `rate`.",
    ),
    "n8n_schedule_rules": (
        "`{node}` has {count} rules: only the first one is kept", "Add a schedule node for each of the others.",
    ),
    "n8n_credential": (
        "`{node}` uses the credential `{name}` ({type}), whose values are not in an export",
        "Set the headers or parameters, with the secret as `${{NAME}}`.",
    ),
    "n8n_bearer": ("`{node}` sends the credential `{name}` as the bearer token `${{{secret}}}`", "Set that secret."),
    "n8n_child_workflow": (
        "`{node}` runs the workflow {workflow} in n8n; here it runs `{id}`", "Import that workflow too, and check the id.",
    ),
    "n8n_continues": (
        "`{node}` continues after a failure: the nodes after it get the error, which has other fields than in n8n",
        "Check what they read.",
    ),
    "n8n_merge_list": ("`{node}` returns a list with the value of each branch; in n8n their items follow each other", ""),
    "n8n_http_text": (
        "`{text}` reads the field `data` of a response: if the response is text, it is the whole body here",
        "Then write `{body}`.",
    ),
    # -- fields
    "n8n_field_ignored": ("`{field}` has no equivalent in `{kind}` and is left out: {detail}", ""),
    "n8n_field_unreadable": ("`{field}` cannot be read: {detail}", "Correct it in the export, or set it in the document."),
    "n8n_secret": (
        "{detail} is replaced by `${{{name}}}`",
        "Keep the value in the environment or the secret store, and revoke the exported one.",
    ),
    # -- loops
    "n8n_loop_items": ("`{node}` runs one iteration for each item of `{items}`, which must be a list", "Check what it is."),
    "n8n_loop_batches": ("`{node}` takes {size} items an iteration in n8n; here each iteration has one item", "Check its body."),
    "n8n_loop_open": ("no edge leads back to `{node}`: n8n runs its body once, Stepless once for each item", ""),
    "n8n_loop_empty": ("`{node}` has an empty body: it gets a node that does nothing", ""),
    "n8n_loop_results": (
        "`{text}` reads what `{node}` returns: here it is the list of the results of its iterations", "Check the path.",
    ),
    # -- conditions
    "n8n_condition_untranslated": (
        "a condition of `{node}` cannot be translated ({detail}): it fails when it is evaluated: {source}",
        "Write it as an expression.",
    ),
    "n8n_condition_loose": (
        "`{node}` converts types before it compares; in Stepless types must match", "Check the types.",
    ),
    "n8n_all_matching": (
        "`{node}` takes every exit whose rule is true in n8n, and the first one here", "Use conditions in a row.",
    ),
    # -- edges
    "n8n_edge_unreadable": ("the connection is left out: {detail}", "Correct the export."),
    "n8n_edge_crosses_loop": (
        "the connection is left out: it leads into or out of the body of a loop", "Connect the loop itself.",
    ),
    "n8n_edge_in_circle": ("the connection is left out: it closes a cycle without a Loop Over Items node", "Use a loop."),
    "n8n_edge_into_trigger": ("the connection is left out: it leads into a trigger, where runs start", ""),
    "n8n_edge_exit_unknown": ("the connection is left out: `{name}` has no output {output}", "Connect it again."),
    "n8n_several_branches": (
        "n8n runs `{node}` once for each branch that reaches it, Stepless once for all of them",
        "Give each branch a node of its own, or check that only one of them is taken.",
    ),
    # -- expressions
    "n8n_expression_untranslated": (
        "`{source}` cannot be translated ({detail}): `{node}` fails when it is filled in", "Write it as an expression.",
    ),
    "n8n_expression_loose": ("`{source}` compares with `==` or `!=`: in Stepless types must match", "Check the types."),
    "n8n_reference_unknown": ("`{text}` names a node that does not exist: it reads as empty", "Correct the name."),
    "n8n_reference_not_upstream": (
        "`{text}` reads a node from which no path leads here: it reads as empty", "Connect the node, or remove the reference.",
    ),
    "n8n_inner_node_read": ("`{text}` reads a node inside a loop: it reads as empty", "Read the loop's results."),
    "n8n_output_without_equivalent": ("`{text}` reads an output that does not exist in Stepless: it reads as empty", ""),
})  # fmt: skip


class Report(Reporting):
    """The findings of one import of n8n."""

    def __init__(self) -> None:
        super().__init__(TABLE)
