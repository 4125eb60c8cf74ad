"""Serves the routes of runs: start, list, read, follow, change, answer and remove them."""
