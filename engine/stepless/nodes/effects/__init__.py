"""Holds kinds with effects outside of the run. `function`, `http` and `llm` have folders of their own."""
