"""Decides how the items of a `distributed` node are worked off: sizes of shards, chunks of a log, items, rows of results."""
