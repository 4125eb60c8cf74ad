"""Describes runs from outside: keys, statuses, filters, traces, and what they use of AWS."""
