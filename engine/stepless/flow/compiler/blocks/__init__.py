"""Lifts blocks: statements that a graph cannot say are evaluated by Python, together, in one node.

A workflow is a graph of nodes whose outputs are recorded. What a node cannot say must be evaluated once, and recorded. The
smallest such piece is an expression; the largest is a run of statements without an await, because at an await the run may end and
go on in another process. So a *block* is a maximal run of statements of one suite that await nothing and of which one cannot be
said. It becomes a function from the names that it reads to the names that are read behind it, and one node that calls it.

Why this is exact follows from four facts, each established by one module:

1. *What it reads and what it leaves are all that others can notice.* `liveness` finds the names that are live behind each way
   out: at the next statement, at the jumps out of the block, and at the handlers around it. A name that is not certainly bound is
   passed in and out with the mark of a name without a value.
2. *A way out is a value.* `functions` makes each jump of the block a `return` that says which way it takes; Python itself passes
   every `with` and `finally`. `rewriting` writes the jump again behind the node, as a statement of the source. An exception stays
   one, unless a handler reads a name that the block has bound before it was raised: then it is a way out too.
3. *A value that crosses the border has one name.* A node gets copies, so a change of a value that has another name outside is
   refused (`facts/aliases`, which relates names through blocks). Inside of a block, Python does as it does.
4. *A value that crosses the border comes back the same.* JSON is stored as it is, a model by its fields, anything else in a form
   that names its type (`flow/carried.py`); the compiler reads none of those, so an expression that touches one is lifted too
   (CARRIED in `facts/types`). What has no such form is made again where it is read, if that is the same (`prelude`: modules,
   functions, loggers), or refused, if an await comes between (`valueless`).

`plan` says which statements these are. Before it, `pulling` and `cases` take awaits and `match` apart.
"""
