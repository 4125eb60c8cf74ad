"""The state machine: facts in, decisions out. Pure and synchronous: no I/O, no clock, no chance.

    events.py      the closed list of event types and the event itself
    state.py       a run in memory: scopes, instances, queues
    branches.py    the theory: branch resolution and the one join rule (docs/semantics.md#branches), as tables
    fold.py        state + event → state; with consequences.py the only code that changes a state
    consequences.py  what follows from an end by itself
    clocks.py      the instants that folding arms
    decide.py      the door: state + facts → events + effects
    start.py       a node's pipeline up to its first attempt: inputs, parameters, contracts, pure work
    settle.py      what an attempt's end leads to: retry, completion, failure
    containers.py  loops and parallels, turn by turn
    pauses.py      waiting, answers, timers
    ending.py      cancel, deadline, guards, halt; the run's own end and status
    inputs.py      merging what edges carry
    variables.py   copy-on-write run variables and their conflicts
    reading.py     answers references while a node is decided
    trace.py       the log as people read it: envelopes, node records, tags
    codec.py       events and snapshots as bytes
"""
