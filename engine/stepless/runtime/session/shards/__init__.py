"""Runs the distributions and shards of `distributed` nodes, each under its lease in one invocation."""
