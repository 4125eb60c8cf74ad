"""Does what pauses of a run need outside of the core: signals, messages, child runs, notices."""
