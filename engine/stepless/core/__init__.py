"""Implements the state machine of a run: takes facts and returns decisions. Pure and synchronous: no I/O, no clock, no
randomness.

`decide` is the entry point: from graph, state and facts to events and effects; `deciding/` has its parts. `fold` applies an event
to a state, with the parts in `folding/`; no other module changes one. `branches` holds the join rule as tables
(docs/understand/semantics.md#branches). `history/` presents logs to readers, `stored/` encodes and decodes events and snapshots.
"""
