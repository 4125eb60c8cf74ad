"""The shell around the pure core: it loads, commits, dispatches and waits; it decides nothing about a run.

    service.py    the verbs: publish, start, trigger, resume, cancel, inspect
    runner.py     THE loop: lease → load → decide → commit → dispatch → collect
    execute.py    one attempt under its deadline
    runlog.py     a run's log in the store: append, load, spill of large values
    budget.py     how much of an invocation is left
    sweep.py      finds runs that nobody looks after
    host.py       queue, timers and runner in one process
    bootstrap.py  the composition root: which adapter fulfils which port
"""
