"""A function to try a deployment with. Put your own modules here, and name them in the parameter FunctionModules."""

from __future__ import annotations

from stepless.nodes.function import function


@function("hello.greet")
def greet(name: str = "world") -> str:
    return f"Hello, {name}!"
