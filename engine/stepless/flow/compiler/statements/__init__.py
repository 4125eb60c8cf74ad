"""Statements: one file for each family of constructs."""
