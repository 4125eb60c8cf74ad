"""Decides when an attempt may start: permits under limits per key, exclusive attempts, lingering code."""
