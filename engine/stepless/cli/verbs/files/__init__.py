"""Implements the verbs for files on the author's machine: create, check, run, publish, convert."""
