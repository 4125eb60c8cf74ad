"""Implements the verbs for the operators of a store: API keys, the audit log, checks, shared values."""
