"""Prints a hash of the parameters that samconfig.toml records. `sam build` puts it into each function.

A version of a Lambda function keeps the parameters that it was published with. SAM publishes a version when the code of a
function changes, not when a parameter does. With this hash in the code, `sam build && sam deploy` deploys a parameter that
was changed in samconfig.toml like any other change. `sam build` runs this file with the machine's Python, so it imports
nothing else.
"""

from __future__ import annotations

import json
import sys
import tomllib
from hashlib import sha256
from pathlib import Path


def fingerprint(config: Path) -> str:
    """64 hex digits: the hash of `parameter_overrides` of all environments in the file. Nothing else of the file counts, and a
    missing file is one without parameters."""
    environments = tomllib.loads(config.read_text("utf-8")) if config.exists() else {}
    tables = {name: table.get("deploy", {}) for name, table in environments.items() if isinstance(table, dict)}
    found = {name: deploy.get("parameters", {}).get("parameter_overrides") for name, deploy in tables.items()}
    given = {name: parameters for name, parameters in found.items() if parameters}
    return sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()


if __name__ == "__main__":
    sys.stdout.write(f"{fingerprint(Path(sys.argv[1]))}\n")
