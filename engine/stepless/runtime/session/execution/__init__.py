"""Executes attempts: one attempt of a node, its deadline, its tools and the checks of its values."""
