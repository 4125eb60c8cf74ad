"""Comparable engines, each in a separate environment (.tools/peers), measured by the same clock."""
