"""Prints the CloudFormation form of a SAM template, in the interpreter that has aws-sam-translator (`make check-template`).

Parameters may follow as Name=value. `make check-template` asks for a gradual deployment, which has all resources
of any other and more.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform


class NoManagedPolicies:
    """The template names its own roles: no policy of AWS's is looked up."""

    def load(self) -> dict[str, str]:
        return {}


def main(path: str, *given: str) -> None:
    template = yaml_parse(Path(path).read_text())
    for resource in template["Resources"].values():
        for key in ("CodeUri", "ContentUri"):
            if key in resource.get("Properties", {}):
                resource["Properties"][key] = "s3://bucket/key"
    template["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"
    logging.disable(logging.WARNING)  # feature toggles of AWS's own transform, which no other has
    values = dict(pair.split("=", 1) for pair in given)
    sys.stdout.write(json.dumps(transform(template, values, NoManagedPolicies()), indent=1, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
