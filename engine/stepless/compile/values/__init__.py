"""Compiles the values of a document that may hold references: parameters, contracts, keys, messages, limits."""
