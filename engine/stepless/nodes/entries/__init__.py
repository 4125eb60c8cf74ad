"""Holds the kinds that start runs."""
