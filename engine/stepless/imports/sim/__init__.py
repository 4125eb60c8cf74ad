"""Exports of Sim as documents.

`convert(export)` answers a document that compiles, and a finding for everything that was not carried over as it was. The path
of a finding leads into the export. What is read, in this order:

    export.py       the export's shape: blocks, edges, subflows, variables
    secrets.py      secrets that were typed into it: replaced before anything else looks
    names.py        names of people to ids of documents
    choices.py      the exits of conditions and routers
    wiring.py       bodies, edges, what never runs, what is upstream of what
    outputs.py      where the parts of a block's output are found here
    references.py   `<block.path>` and `{{NAME}}` to `<node.path>` and `${NAME}`
    javascript.py   conditions to expressions
    site.py         one block while it is converted
    blocks.py       block types to kinds: the table; triggers.py, containers.py and actions.py hold its rows
    convert.py      all of it, and the last word of the compiler
    findings.py     every finding: the table

Left out without a word, since they are no behaviour: positions, sizes, handles' sides, colours, locks, collapsed lists, basic or
advanced input modes, declared outputs, and fields without a value.

Known to differ: a reference that is a whole value keeps its type here and is text there, except in fields of text (prompts, URLs,
headers), where it is text here too; an empty list or object is false here
and true there; the `error` exit is taken for a failure here, and there also for an output with an `error` field.
"""

from stepless.imports.sim.convert import Imported, convert

__all__ = ["Imported", "convert"]
