"""The project's samconfig.toml. The stack that `[default]` names is the one of `sam deploy` without arguments. Every other stack
has a table with its own name, which `sam deploy --config-env NAME` reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit
from samcli.cli.types import CfnParameterOverridesType, CfnTags


class Samconfig:
    """What is recorded of one stack. The rest of the file, its comments and its order stay as they are."""

    def __init__(self, path: Path, stack: str) -> None:
        self.path = path
        self._stack = stack
        self._file = tomlkit.parse(path.read_text("utf-8")) if path.exists() else tomlkit.document()
        self._file.setdefault("version", 0.1)
        default = _plain(self._file.get("default", {})).get("deploy", {}).get("parameters", {})
        self.environment = "default" if stack not in self._file and default.get("stack_name") == stack else stack

    @property
    def parameters(self) -> dict[str, str]:
        """In any of the forms that `sam` reads."""
        recorded = self._read("deploy", "parameters").get("parameter_overrides", {})
        return dict(CfnParameterOverridesType().convert(_plain(recorded), None, None))

    @property
    def tags(self) -> dict[str, str]:
        """In any of the forms that `sam` reads."""
        recorded = _plain(self._read("deploy", "parameters").get("tags", []))
        return {name.strip('"'): value.strip('"') for name, value in CfnTags().convert(recorded, None, None).items()}

    @property
    def region(self) -> str | None:
        return self._read("deploy", "parameters").get("region")

    @property
    def facts(self) -> dict[str, str]:
        """What `sam` does not ask: the account, the folder of the functions, and where data is kept."""
        return dict(self._read("stepless", "stack"))

    def record(self, region: str, parameters: dict[str, str], tags: dict[str, str]) -> None:
        deploy = self._table("deploy", "parameters")
        fixed = {"stack_name": self._stack, "region": region, "capabilities": "CAPABILITY_IAM", "resolve_s3": True}
        _change(deploy, fixed)
        if not isinstance(deploy.get("parameter_overrides"), dict):  # in one of the other forms that `sam` reads
            deploy["parameter_overrides"] = tomlkit.table()
        overrides = deploy["parameter_overrides"]
        for name in [name for name in overrides if name not in parameters]:
            del overrides[name]
        _change(overrides, parameters)
        if tags:
            deploy["tags"] = [f"{name}={value}" for name, value in tags.items()]
        else:
            deploy.pop("tags", None)
        self._write()

    def record_facts(self, **facts: str) -> None:
        self._table("stepless", "stack").update(facts)
        self._write()

    def _read(self, *names: str) -> Any:
        table: Any = self._file.get(self.environment, {})
        for name in names:
            table = table.get(name, {})
        return _plain(table)

    def _table(self, *names: str) -> Any:
        table: Any = self._file
        for name in (self.environment, *names):
            if name not in table:
                table[name] = tomlkit.table(is_super_table=name != names[-1])
            table = table[name]
        return table

    def _write(self) -> None:
        self.path.write_text(tomlkit.dumps(self._file), "utf-8")


def _change(table: Any, values: dict[str, Any]) -> None:
    """Writes what differs: the rest of the table keeps its comments and its order."""
    table.update({name: value for name, value in values.items() if table.get(name) != value})


def _plain(value: Any) -> Any:
    return value.unwrap() if hasattr(value, "unwrap") else value
