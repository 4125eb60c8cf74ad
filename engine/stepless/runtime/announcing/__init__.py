"""What other systems and people learn of runs: their events, and their failures (docs/events.md)."""
