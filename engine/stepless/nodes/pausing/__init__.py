"""Holds the kinds that wait, for a person, a system, a message or a time."""
