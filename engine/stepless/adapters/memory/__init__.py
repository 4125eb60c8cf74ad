"""Implements the ports in the memory of one process, for tests, simulation and runs that need not outlive the process."""
