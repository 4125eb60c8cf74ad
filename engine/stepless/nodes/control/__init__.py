"""Holds the kinds that the core decides by itself: they direct the run, or compute values."""
