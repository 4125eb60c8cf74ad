"""A function for testing a deployment. Put your own modules here, and list them in the parameter FunctionModules."""

from __future__ import annotations

from stepless.nodes.function import function


@function("hello.greet")
def greet(name: str = "world") -> str:
    return f"Hello, {name}!"
