"""Computes what turns one state of a draft into another: the writes for a document that came as a text, a file or a former
version.

    sequences   orders for a sequence of which a part was there before, and which items of two sequences are the same
    aligning    the entities of a document under the keys that the state has for the same things
    values      the writes that turn one entity into another
    texts       the splices that turn one text into another
    steps       the writes that turn one state into another, in an order in which each can be done

`resolve` over the state makes of these writes a state with exactly the wanted document, the keys in their order included.
"""

from stepless.drafts.rules.diff.entity_keys import aligned
from stepless.drafts.rules.diff.texts import hunks, transplanted
from stepless.drafts.rules.diff.writes import OtherWorkflow, difference, flattened, towards

__all__ = ["OtherWorkflow", "aligned", "difference", "flattened", "hunks", "towards", "transplanted"]
