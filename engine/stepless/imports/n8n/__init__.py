"""Converts exports of n8n to documents.

`convert(export)` returns a document that compiles, and a finding for everything that was not converted unchanged. The path of a
finding is a path in the export. The modules, in the order of the conversion:

    export.py       the export's shape: nodes, connections, settings; secrets are replaced
    wiring.py       the graph: bodies of loops, edges, nodes that never run, which node is upstream of which
    references.py   `$json`, `$('X').item.json`, `$node["X"].json` to `<node.path>`
    templates.py    texts with `{{ … }}` and JSON texts to values of documents
    site.py         one node during its conversion
    conditions.py   If, Switch and Filter
    triggers.py     entries
    actions.py      all other nodes
    convert.py      the whole conversion, and the check of its result by the compiler
    findings.py     the table of all findings

JavaScript, names and secrets are read by the modules of `stepless.imports.sim`.

The main difference: n8n passes lists of items, and runs a node once for each. Here a node handles one value. What n8n calls the
`json` of an item is the value; a node that returns several items returns a list here, and a loop runs nodes for each.

Left out without a finding, since they do not affect behaviour: positions, ids, notes on nodes, tags, versions, and settings of
what n8n keeps of its executions.
"""

from stepless.imports.n8n.convert import convert

__all__ = ["convert"]
