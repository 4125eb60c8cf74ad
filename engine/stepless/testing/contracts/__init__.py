"""Tests the contract of stores and of databases of runs, with pytest. A package that adds a store runs them:

    from stepless.testing.contracts import *

    @pytest.fixture
    def database(tmp_path):
        return MyPlace(f"mine://{tmp_path}")

Each test receives a new, empty database. The fixtures `store`, `blobs` and
`drafts` open it; a module may override them.
"""

from stepless.testing.contracts.blob_stores import *  # noqa: F403
from stepless.testing.contracts.drafts import *  # noqa: F403
from stepless.testing.contracts.fixtures import *  # noqa: F403
from stepless.testing.contracts.inboxes import *  # noqa: F403
from stepless.testing.contracts.lease_transfers import *  # noqa: F403
from stepless.testing.contracts.leases import *  # noqa: F403
from stepless.testing.contracts.limits import *  # noqa: F403
from stepless.testing.contracts.run_databases import *  # noqa: F403
from stepless.testing.contracts.stores import *  # noqa: F403
from stepless.testing.contracts.versions import *  # noqa: F403
