"""Author code in a process of its own on this machine. `child.py` is what runs there; it imports nothing of the engine."""
