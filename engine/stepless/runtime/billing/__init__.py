"""Computes the cost of runs: what each run has used so far, stored in its header, and an estimate where requests are not
counted."""
