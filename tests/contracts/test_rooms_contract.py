"""Runs the contract in the imported module for every adapter of conftest.py."""

from stepless.testing.contracts.rooms import *  # noqa: F403
