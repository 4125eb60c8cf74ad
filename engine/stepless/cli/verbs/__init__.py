"""Implements the verbs, one module per group: sends requests to a file, a folder or a server, and prints the results."""
