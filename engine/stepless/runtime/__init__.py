"""Executes what the pure core decides: loads, commits, dispatches and waits. All decisions about a run are made in the core.

`session/` executes one run in one invocation, and `hosting/` serves runs in a process. `verbs/` and `triggers/` implement what
callers request, `access/` and `billing/` support them, and `wiring/` chooses the adapters. Modules here are shared by all rooms.
"""
