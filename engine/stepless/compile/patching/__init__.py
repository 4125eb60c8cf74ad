"""Writes a changed document into the text that a person wrote: what did not change keeps its place, its form and its comments.

    tree       the text as a tree of spans
    comments   which comments belong to an entry
    moving     what changed its place goes there with its lines
    edits      the smallest edits that turn one value into another
    anchors    what becomes of an anchor whose node goes
    patch      edits, applied and read back; what does not come back as it should is written anew one level higher
    composing  a document that has no text yet
"""

from stepless.compile.patching.composing import composed
from stepless.compile.patching.patch import patched

__all__ = ["composed", "patched"]
