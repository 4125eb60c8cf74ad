"""The `stepless` command.

    main.py             arguments in, an exit code out: 0 done, 1 the run did not complete, 2 bad input
    verbs_here.py       the verbs that work on files: their words, arguments and examples
    verbs_there.py      the verbs that speak to runs
    verb.py             what a verb is, and what several share
    manual.py           docs/cli.md, made from them
    version.py          version
    completion.py       what completes them in a shell

    gateway.py          the API behind a URL or over a file, asked and its refusals raised
    inprocess.py        the API over a file, in this process
    listing.py          runs list; workflows list
    publish.py          publish; workflows show
    runs.py             runs show, events, cost
    acting.py           start; runs cancel, resume, rerun, pause, unpause
    keys.py             API keys and signing keys
    following.py        a run's events as they come
    cost.py             what a run cost, as lines
    init.py             a project to begin with; project/ is what it is made of
    packing.py          this copy as a wheel, to lie beside it

    dev.py              API, runner and timers in one process
    dev_folder.py       its folder, published and watched; dev_modules.py its modules, loaded and loaded again
    dev_telling.py      what it says
    dev_verbs.py        runs skip, redeliver
    run.py              one run in the terminal
    check.py            validate, schema, graph: what can be told without running
    import_sim.py       exports of other tools
    files.py            documents, inputs and function modules from disk

    showing.py          tables that fit, labelled lines, JSON
    complaints.py       how a fault is told: the place, one sentence, the mend
    extras.py           and what is not installed
    field_docs.py       what the JSON Schema says of each field
    patience.py         what is being waited for
    progress.py         what a run's events come to, node by node
    live.py             the same as a tree that moves, or as plain lines
    timeline.py         the same as bars over time
    questions.py        approvals, asked at the prompt
    drawing.py          a graph as Mermaid, DOT or JSON
    layout.py svg.py    a graph as a picture
"""

from stepless.cli.command.main import main

__all__ = ["main"]
