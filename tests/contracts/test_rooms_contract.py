"""Runs the contract in the imported module for every adapter of conftest.py."""

from stepless.testing.contracts.draft_connections import *  # noqa: F403
