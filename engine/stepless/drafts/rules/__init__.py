"""Defines what an edit of a draft means: what its log may hold, and which effects follow from a request.

A draft is an append-only log, and appending is a conditional write. A client asks with *writes*; the server decides *effects*;
every replica folds effects. So a replica that stands at entry n shows fold(log[1..n]), and no clock, no order of arrival and no
transformation is part of that: convergence rests on the fold alone.

    effects     the words of the log, and of what a client asks for
    state       the entities by key, with the indexes that the rules need
    fold        effects over a state
    transform   two concurrent lists of writes: what each means after the other
    resolve     the decision: operations over the state as it is when they are committed; `validation`: of one operation
    shapes      what may be written where
    references  what a rename means
    document    a workflow document as entities, and back
    requests    what travels; `messages`: as JSON

Requests transform; effects never do. A client transforms what it has not yet sent with what others committed, to show it and to
send it with offsets that fit; the server transforms a request with what was committed since its base, and only then decides. That
two lists of splices meet in both orders keeps what a person typed where they typed it. It is not what makes replicas equal: a
wrong transformation moves a character, on all replicas alike.

All of it is pure: no clock, no randomness, nothing read or written.
"""
