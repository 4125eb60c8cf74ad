"""Decides whether a request is let in, by its host, its origin and its caller, and records what it is about to change."""
