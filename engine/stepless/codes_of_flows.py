"""Lists the codes of refusals and warnings on the source of a flow, each with its meaning and its fix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "bad_arguments": ("a call does not fit the signature", "See the signature in the message."),
    "bare_raise": ("`raise` outside of a handler", "Write it inside `except`."),
    "conditional_await": ("an await inside of a format", "Assign its result to a name first."),
    "except": ("a handler names something other than classes of exceptions", "Write `except NodeError as e`."),
    "flow_refused": ("the source has faults and was not compiled", "Fix every fault; all are listed."),
    "gather": ("`gather` takes calls, or `*` and one comprehension", "Write it in one of the two forms."),
    "global": ("a workflow changes a name of its module", "Return the value from a step."),
    "identity": ("`is` with something other than None", "Write `==`."),
    "lifted": ("an expression must become a node of its own, and `lift` is `never`", "Move it into a step."),
    "mutation": ("something other than a name is changed in place", "Assign a new value to a name."),
    "no_effect": ("a statement does nothing", "Assign its value, or remove it."),
    "no_such_construct": ("Python that a graph cannot have", "Use the statement in the message."),
    "no_such_field": ("a model or an object has no such attribute", "See the fields in the message."),
    "no_value": ("a value that cannot be recorded would have to outlive an await", "Make it again behind the await."),
    "not_a_step": ("an awaited call is not a step", "Put `@step` above it, or call it without await."),
    "not_awaited": ("a step is called without await", "Write `await` before it."),
    "option_not_constant": ("an option of a step is computed", "Use a literal, or a constant of the module."),
    "parameters": ("a workflow takes any number of arguments", "Name the parameters."),
    "race": ("`race` takes named calls of what a graph can cancel", "Write `race(paid=receive(…), late=sleep(…))`."),
    "raise": ("an exception makes its text itself, from what is awaited", "Assign the awaited value to a name first."),
    "recursion": ("a part calls itself, or parts nest too deep", "Write a loop, or make it a workflow."),
    "shared_mutation": ("a value that changes in place may have a second name", "Assign a new value."),
    "source_missing": ("the source of the function cannot be read", "Put it into a module."),
    "spread_arguments": ("`*` or `**` in arguments that cannot be bound to a signature", "Name them one by one."),
    "text_of_unknown": ("the text of a value whose type is not known (warning)", "Annotate it."),
    "unbound": ("a name can have no value where it is read", "Assign it before the branch, loop or try."),
    "unknown_await": ("the awaited expression is not a call", "Await a step, a workflow, or a word such as gather or sleep."),
    "unknown_name": ("a name is defined nowhere", "Import or assign it."),
    "unknown_option": ("a step has no such option", "See the options in the message."),
    "unreachable": ("a statement can never be reached (warning)", "Remove it."),
    "where": ("a condition on messages is no expression of a document", "Write a lambda that compares fields of the message."),
}
