"""Processes that serve runs: the queue, the timers and the sweep around the runner, and what becomes of dead letters."""
