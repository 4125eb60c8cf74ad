"""See the module: each of its tests is run for every adapter of conftest.py."""

from stepless.testing.contracts.versions import *  # noqa: F403
