"""Starts runs: new ones, reruns, and repetitions of a delivery."""
