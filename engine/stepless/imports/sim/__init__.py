"""Converts exports of Sim to documents.

`convert(export)` returns a document that compiles, and a finding for everything that was not converted unchanged. The path of a
finding is a path in the export. The modules, in the order of the conversion:

    export.py       the export's shape: blocks, edges, subflows, variables
    secrets.py      secrets in the export: replaced before any other module reads the values
    names.py        names of blocks to ids of documents
    choices.py      the exits of conditions and routers
    wiring.py       bodies, edges, blocks that never run, which block is upstream of which
    outputs.py      where the parts of a block's output are in the node's output
    reference_translation.py   `<block.path>` and `{{NAME}}` to `<node.path>` and `${NAME}`
    javascript.py   conditions to expressions
    site.py         one block during its conversion
    blocks.py       the table of block types and kinds; triggers.py, containers.py and actions.py hold the converters
    convert.py      the whole conversion, and the check of its result by the compiler
    findings.py     the table of all findings

Left out without a finding, since they do not affect behaviour: positions, sizes, handles' sides, colours, locks, collapsed lists,
basic or advanced input modes, declared outputs, and fields without a value.

Known differences: a reference that is a whole value keeps its type, and is text in Sim; in fields of text (prompts, URLs,
headers) it is text in both. An empty list or object is false, and true in Sim. The `error` exit is taken for a failure, and in
Sim also for an output with an `error` field.
"""

from stepless.imports.import_result import Imported
from stepless.imports.sim.convert import convert

__all__ = ["Imported", "convert"]
