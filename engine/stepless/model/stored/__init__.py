"""Encodes what is stored or sent: documents, metadata of versions, cursors. Describes damage to it."""
