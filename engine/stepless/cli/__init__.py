"""The `stepless` command.

    main.py         arguments in, an exit code out: 0 done, 1 the run did not complete, 2 bad input
    dev.py          API, runner and timers in one process
    run.py          one run in the terminal
    check.py        validate, schema, graph: what can be told without running
    import_sim.py   exports of other tools
    files.py        documents, inputs and function modules from disk
    complaints.py   how a fault is told: the place, one sentence, the mend
    progress.py     what a run's events come to, node by node
    live.py         the same as a tree that moves, or as plain lines
    timeline.py     the same as bars over time
    questions.py    approvals, asked at the prompt
    drawing.py      a graph as Mermaid or DOT
"""

from stepless.cli.main import main

__all__ = ["main"]
