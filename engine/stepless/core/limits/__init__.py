"""Limits per key: what an attempt has to wait for, the permits to begin one, and the arithmetic of slots and rates. Pure."""
