"""Defines the data types of the engine: the document, its findings, the compiled graph, kinds, JSON values.

These types have no side effects and make no decisions. Only `declaration` builds pydantic models; a run uses frozen dataclasses.
"""
