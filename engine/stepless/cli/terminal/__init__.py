"""Writes terminal output: tables, live trees, timelines, questions, errors and tracebacks."""
