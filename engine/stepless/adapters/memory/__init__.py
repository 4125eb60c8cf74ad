"""Every port in the memory of one process: for tests, simulation and runs that need not outlive it."""
