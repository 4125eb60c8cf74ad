"""Runs the contract in the imported module for every adapter of conftest.py."""

from stepless.testing.contracts.drafts import *  # noqa: F403
