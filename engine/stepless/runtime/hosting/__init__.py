"""Serves runs in a process: the queue, the timers and the sweep around the runner, and the handling of dead letters."""
