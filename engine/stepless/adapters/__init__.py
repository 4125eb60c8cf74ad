"""Implementations of the ports, one folder per medium. Adapters decide nothing about a run, and translate foreign errors."""
