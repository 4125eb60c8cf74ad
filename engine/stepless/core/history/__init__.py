"""The log as people and programs read it: records of nodes, tags, waits, what a node was called with. Nothing here decides."""
