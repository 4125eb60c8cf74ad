"""Runs the contract in the imported module for every adapter of conftest.py."""

import pytest

from stepless.testing.contracts.stores import *  # noqa: F403

pytestmark = pytest.mark.long
