"""Records the statements that a jump or a failure may have to pass: loops, handlers, `finally` and inlined parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(eq=False)
class LoopFrame:
    """A loop. `escapes` are the jumps that leave it for a place outside, `breaks` the names bound at each `break`,
    `turns` those at each end of an iteration. `risky`: a
    failure in it may be of an expression."""

    number: int
    id: str
    has_else: bool = False
    escapes: list[str] = field(default_factory=list)
    breaks: list[set[str]] = field(default_factory=list)
    turns: list[set[str]] = field(default_factory=list)
    risky: bool = False


@dataclass(eq=False)
class DeadlineFrame(LoopFrame):
    """Statements with a time limit: a container that runs once. Every jump out of them leaves it."""


@dataclass(eq=False)
class TryFrame:
    """The body of a `try` with handlers. `broad`: they catch failures of expressions too; `exact`: one of them names another
    exception than `NodeError`, so expressions must fail as in Python. `entries` are the exits of failed nodes; `mixed`: some of
    them may be failures of expressions; `inner`: some carry the failure inside of a container; `forked`: several
    may have failed side by side, of which Python raises the first by place."""

    broad: bool
    exact: bool
    entries: list[str] = field(default_factory=list)
    mixed: bool = False
    inner: bool = False
    forked: bool = False


@dataclass(eq=False)
class FinallyFrame:
    """The statements that a `finally` follows. `entries` are the exits that lead to it, `kinds` why; `raised` the exits of
    failures. `ends`: nothing of a loop's iteration follows it, so a `continue` leads there as the end of the statements does;
    `ended` are its exits: None without any, and empty at the beginning of an iteration."""

    number: int
    ends: bool = False
    ended: list[str] | None = None
    entries: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    inner: bool = False
    forked: bool = False


@dataclass(eq=False)
class PartFrame:
    """An inlined part. `result` is the variable that holds what it returns; `entries` are the exits of its returns."""

    number: int
    result: str
    entries: list[str] = field(default_factory=list)
    bound: list[set[str]] = field(default_factory=list)


def error_of(frame: TryFrame | FinallyFrame) -> str:
    """Returns the error that arrived: the first by place, of a container the failure inside of it."""
    error = "input[0]" if frame.forked else "input"
    return f"{{{{ default(<{error}.causes[0]>, <{error}>) }}}}" if frame.inner else f"<{error}>"


Frame: TypeAlias = LoopFrame | TryFrame | FinallyFrame | PartFrame


class Framed:
    """Says what surrounds a statement."""

    frames: list[Frame]

    def is_exact(self) -> bool:
        """Returns whether a handler around this place asks which exception an expression raised."""
        return any(isinstance(frame, TryFrame) and frame.exact for frame in self.frames)

    def is_repeated(self) -> bool:
        """Returns whether a statement here may run more than once."""
        return any(isinstance(frame, LoopFrame) for frame in self.frames)

    def is_caught_here(self) -> bool:
        """Returns whether a failure of a step here has an error edge, and so does not end the body."""
        for frame in reversed(self.frames):
            if isinstance(frame, LoopFrame):
                return False
            if isinstance(frame, FinallyFrame | TryFrame):
                return True
        return False

    def is_caught(self) -> bool:
        """Returns whether a failure here leads to a statement of the function, maybe behind the loops around it."""
        return any(isinstance(frame, FinallyFrame | TryFrame) for frame in self.frames)
