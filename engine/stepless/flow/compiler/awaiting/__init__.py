"""Compiles what a function awaits: steps, workflows, people, `gather` and inlined parts."""
