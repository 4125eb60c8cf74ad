"""Parses short texts: durations, ids, targets of notices, secrets."""
