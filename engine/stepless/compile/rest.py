"""What a compilation asks of the collector of garbage once it is over."""

from __future__ import annotations

import gc
from typing import Final

from stepless.model.graph import Graph

_LARGE: Final = 1_000  # nodes


def set_apart(graph: Graph) -> None:
    """The collector is told not to look at a large graph again: it holds no garbage and is shared by runs, and walking it at
    every full collection would make each node of a large run dearer than one of a small run.

    To be called when whatever the graph was made from is gone, and the garbage that there is goes first: what is set apart is
    never looked for again.
    """
    if len(graph.root.nodes) >= _LARGE:
        gc.collect()
        gc.freeze()
