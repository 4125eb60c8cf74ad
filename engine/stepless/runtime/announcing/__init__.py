"""Announces the events and failures of runs to other systems and to people (docs/run/events.md)."""
