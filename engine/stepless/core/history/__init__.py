"""Presents the log to people and programs: records of nodes, tags, waits, the parameters of calls. Decides nothing."""
