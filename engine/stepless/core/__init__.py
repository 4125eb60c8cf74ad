"""The state machine: facts in, decisions out. Pure and synchronous: no I/O, no clock, no randomness.

`decide` is the entry: graph, state and facts to events and effects. `fold` applies an event to a state; `consequences` is the
only other module that changes one. `branches` holds the join rule as tables (docs/semantics.md#branches). `history/` reads logs
for people, `stored/` turns events and snapshots into bytes and back.
"""
