"""Keeps the plans and logs of `distributed` nodes: what their shards share, their outcome, their removal."""
