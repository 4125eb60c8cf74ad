"""Computes values that nodes read: inputs, references, variables. Masks secrets in texts."""
