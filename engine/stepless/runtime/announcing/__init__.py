"""What other systems and people learn of runs: their events, and their failures (docs/run/events.md)."""
