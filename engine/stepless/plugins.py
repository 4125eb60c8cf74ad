"""Finds the objects that other packages announce as entry points, by group. Imports each only when it is needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from stepless.errors import ConfigError, SteplessError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

KINDS: Final = "stepless.kinds"
STORES: Final = "stepless.stores"
MODELS: Final = "stepless.models"


@dataclass(frozen=True, slots=True)
class Announced:
    """One entry point. `package` is the distribution that announces it, with its version; `value` is where the object is."""

    group: str
    name: str
    value: str
    package: str

    @property
    def place(self) -> str:
        """The name of the entry point in error messages."""
        return f"entry point `{self.name}` of {self.group}, announced by {self.package}"

    def load(self) -> Any:
        """Returns the object. Raises `ConfigError` (module_not_loaded)."""
        from importlib.metadata import EntryPoint

        try:
            return EntryPoint(self.name, self.value, self.group).load()
        except Exception as error:
            message = f"{self.value} cannot be imported: {type(error).__name__}: {error}"
            mend = "fix the package, or remove it"
            raise ConfigError(message, code="module_not_loaded", place=self.place, mend=mend) from error

    def make(self, argument: Any, verbs: Collection[str]) -> Any:
        """Calls the object with `argument`. Returns a value that has the methods `verbs`, or None.

        Raises `ConfigError` (module_not_loaded, invalid_plugin), and any `SteplessError` that the callable raises.
        """
        factory = self.load()
        try:
            made = factory(argument)
        except SteplessError:
            raise
        except Exception as error:
            raise self._invalid(f"{self.value} raised {type(error).__name__}: {error}") from error
        missing = [] if made is None else [verb for verb in verbs if not callable(getattr(made, verb, None))]
        if missing:
            raise self._invalid(f"{self.value} returned an object without `{missing[0]}`")
        return made

    def _invalid(self, message: str) -> ConfigError:
        return ConfigError(message, code="invalid_plugin", place=self.place, mend="see docs/write/extending.md")


@cache
def announced(group: str) -> tuple[Announced, ...]:
    """Returns the entry points of a group, sorted by name."""
    from importlib.metadata import entry_points  # slow: it imports the e-mail parser

    points = sorted(entry_points(group=group), key=lambda point: (point.name, point.value))
    return tuple(Announced(group, point.name, point.value, _package(point)) for point in points)


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown package"


def by_name(group: str) -> Mapping[str, Announced]:
    """Returns the entry points of a group by name. Raises `ConfigError` (plugin_taken) for a name that two packages announce."""
    found: dict[str, Announced] = {}
    for one in announced(group):
        if one.name in found:
            message = f"{found[one.name].package} announces {one.name} too"
            raise ConfigError(message, code="plugin_taken", place=one.place, mend="remove one of the two packages")
        found[one.name] = one
    return found
