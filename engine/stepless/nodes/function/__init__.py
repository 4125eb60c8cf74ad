"""`function`: calls registered Python code."""

from stepless.nodes.function.binding import FunctionCall
from stepless.nodes.function.described import describe
from stepless.nodes.function.kind import KIND, run
from stepless.nodes.function.registry import MODULES_VARIABLE, function, load_modules, names

__all__ = ["KIND", "MODULES_VARIABLE", "FunctionCall", "describe", "function", "load_modules", "names", "run"]
