"""Runs the contract in the imported module for every adapter of conftest.py."""

from stepless.testing.contracts.lease_transfers import *  # noqa: F403
