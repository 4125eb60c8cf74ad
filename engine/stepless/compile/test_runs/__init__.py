"""Compiles test runs of drafts, and compares them with the published version."""
