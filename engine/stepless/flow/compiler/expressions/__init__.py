"""Expressions: in the words of a document, or lifted."""
