"""Converts a workflow document to entities, and back.

`to_document(from_document(document))` is the document, with the same canonical text, for whatever can be read, valid or not. What
has no place in the table of entities stays as it was written in `rest` of the nearest one.
"""

from stepless.drafts.rules.document.reading import from_document
from stepless.drafts.rules.document.writing import to_document

__all__ = ["from_document", "to_document"]
