"""Hands the events of runs to systems outside, after their commit: at least once, and without a write of its own."""
