"""What the engine itself costs, measured on real and made workloads."""
