"""Puts the results of a `distributed` node where its author wants them: parts, the list of failures, and last the manifest.

While a node works, `_claim.json` says that the prefix is its own, so no other run replaces its parts. The manifest takes the
claim's place: it exists only if all else does, and is never replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from stepless.limits import MAX_DOCUMENT_BYTES
from stepless.model.stored.packing import dump, load
from stepless.ports import ObjectRefused, Objects
from stepless.runtime.shards.plans import Plan
from stepless.runtime.shards.sources import NodeRefused, objects_of
from stepless.runtime.world import World

TAKEN: Final = "sink_taken"
UNWRITABLE: Final = "sink_unwritable"
FAILURES: Final = "failures.jsonl"
_CLAIM: Final = "_claim.json"
_MANIFEST: Final = "manifest.json"


class SinkRefused(NodeRefused):
    """The results cannot go where they are to go."""


class Sink:
    """The prefix, or the folder, of one node. Raises `SinkRefused`."""

    def __init__(self, world: World, plan: Plan) -> None:
        into = plan.into or {}
        self._world, self._place, self._bucket, self._prefix = world, into["place"], into["bucket"], into["name"]
        self._whose = {"run": plan.run, "node": plan.instance}
        self._own = dump({**self._whose, "token": plan.token})

    def claim(self) -> None:
        """Takes the prefix for this attempt of the node, also from a former one. May be repeated. It is the first write, so it
        also shows whether there is a right to."""
        if not self._put(_CLAIM, self._own, only_new=True):
            self._refuse_other(self._get(_CLAIM))
            self._put(_CLAIM, self._own, only_new=False)
        if (standing := self._get(_MANIFEST)) is not None:  # looked for last: it replaces a claim
            self._refuse_other(standing, release=True)

    def release(self) -> None:
        """Leaves the prefix to others, if it is this attempt's. Without the right to remove an object it stays claimed."""
        with suppress(SinkRefused, ObjectRefused):
            if self._get(_CLAIM) == self._own:
                self._objects.remove(self._bucket, self.key(_CLAIM))

    def part(self, number: int) -> str:
        return self.key(f"part-{number:05}.jsonl")

    def key(self, name: str) -> str:
        return f"{self._prefix}{name}"

    def put(self, key: str, data: bytes) -> str:
        """Stores a part, or the failures. Every process that repeats it stores the same bytes."""
        self._put(key.removeprefix(self._prefix), data, only_new=False)
        return key

    def finish(self, manifest: bytes) -> str:
        """Stores the manifest, and ends the claim. May be repeated."""
        if not self._put(_MANIFEST, manifest, only_new=True) and (standing := self._get(_MANIFEST)) != manifest:
            self._refuse_other(standing)
        self.release()
        return self.key(_MANIFEST)

    # -- the port -----------------------------------------------------------------------------------------------------

    @property
    def _objects(self) -> Objects:
        return objects_of(self._world, self._place)

    def _put(self, name: str, data: bytes, *, only_new: bool) -> bool:
        try:
            return self._objects.put(self._bucket, self.key(name), data, only_new=only_new)
        except ObjectRefused as error:
            raise SinkRefused(UNWRITABLE, str(error)) from error

    def _get(self, name: str) -> bytes | None:
        try:
            return self._objects.get(self._bucket, self.key(name), MAX_DOCUMENT_BYTES)
        except ObjectRefused as error:
            raise SinkRefused(UNWRITABLE, str(error)) from error

    def _refuse_other(self, standing: bytes | None, *, release: bool = False) -> None:
        """Raises `SinkRefused` if what stands there is another node's."""
        names = _names(standing)
        if standing is None or {name: names.get(name) for name in self._whose} == self._whose:
            return
        if release:
            self.release()
        whose = f"the run {names['run']}" if "run" in names else "another program"
        raise SinkRefused(TAKEN, f"{self._prefix or 'the bucket'} holds the results of {whose}")


def _names(data: bytes | None) -> Mapping[str, Any]:
    try:
        found = load(data or b"{}")
    except ValueError:  # not ours at all
        return {}
    return found if isinstance(found, dict) else {}
