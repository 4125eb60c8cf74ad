"""`function`: calls registered Python code."""

from stepless.nodes.function.binding import FunctionCall
from stepless.nodes.function.kind import KIND, run
from stepless.nodes.function.registry import function, load_modules, names

__all__ = ["KIND", "FunctionCall", "function", "load_modules", "names", "run"]
