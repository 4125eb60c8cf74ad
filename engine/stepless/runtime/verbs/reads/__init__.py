"""Reads runs: their status, events, values, costs, and the search for them."""
