"""Prints the schemas of CloudFormation's resource types, as cfn-lint has them: the types of resources are the arguments."""

from __future__ import annotations

import json
import sys

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER


def main(*kinds: str) -> None:
    found = {kind: PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema for kind in kinds}
    sys.stdout.write(json.dumps(found, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
