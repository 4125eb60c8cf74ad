"""Benchmarks of the engine itself, on real and synthetic workloads."""
