"""See the module: each of its tests is run for every adapter of conftest.py."""

import pytest

from stepless.testing.contracts.stores import *  # noqa: F403

pytestmark = pytest.mark.long
