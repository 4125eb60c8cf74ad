"""Reads the source of a flow with `ast`, and writes a workflow document. Pure: no file is read, and nothing of the source is
executed."""
