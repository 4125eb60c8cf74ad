"""Decides: one module for each cause of events, called by `decide`."""
