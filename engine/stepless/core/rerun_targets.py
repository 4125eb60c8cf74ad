"""Reads the instance or the node at which a rerun begins (docs/understand/semantics.md#reruns)."""

from __future__ import annotations

from typing import NamedTuple


class Target(NamedTuple):
    """The instance or the node that a rerun begins at: the containers around it, outer first, each with the number of its
    iteration, and the node. `x@m[0]@l[1]` is `((("l", 1), ("m", 0)), "x")`."""

    iterations: tuple[tuple[str, int], ...]
    node: str

    @property
    def owners(self) -> frozenset[str]:
        """The instances of the containers around it."""
        suffix, found = "", set()
        for name, index in self.iterations:
            found.add(name + suffix)
            suffix = f"@{name}[{index}]{suffix}"
        return frozenset(found)

    @property
    def id(self) -> str:
        return self.node + "".join(f"@{name}[{index}]" for name, index in reversed(self.iterations))


def target_of(text: str) -> Target | None:
    """Returns the target that an instance id names; None for a text that is no instance id."""
    name, *containers = text.split("@")
    iterations = []
    for part in reversed(containers):
        owner, bracket, index = part.partition("[")
        if not owner or not bracket or not index.endswith("]") or not (digits := index[:-1]).isdecimal() or len(digits) > 9:
            return None
        iterations.append((owner, int(digits)))
    return Target(tuple(iterations), name) if name else None
