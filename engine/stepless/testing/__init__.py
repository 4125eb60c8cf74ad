"""Test workflows without a cloud and without waiting: `simulate`."""

from stepless.testing.simulate import Simulation, simulate

__all__ = ["Simulation", "simulate"]
