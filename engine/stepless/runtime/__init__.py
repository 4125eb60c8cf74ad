"""The shell around the pure core: it loads, commits, dispatches and waits, and decides nothing about a run.

`session/` runs one run in one invocation, `hosting/` serves a process, `verbs/` and `triggers/` are what callers ask for,
`access/` and `billing/` serve them, and `wiring/` chooses the adapters. What the rooms share lies beside them.
"""
