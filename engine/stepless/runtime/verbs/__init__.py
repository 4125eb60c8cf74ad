"""Implements what a caller may request: publish, start, answer, hold, rerun, search, inspect. Each verb is one function over the
ports of a `World`. It returns immediately and waits for no run. `runtime/service.py` combines them for the API, the CLI and
Python callers.
"""
