"""Holds a workflow under test: scripted nodes, answers and their times, and the run with them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from stepless.compile import parse
from stepless.compile.suggest import did_you_mean
from stepless.errors import InvalidRequest
from stepless.limits import MAX_DOCUMENT_BYTES
from stepless.model.json import JSON
from stepless.testing.script import Entry
from stepless.testing.signals import time_ms
from stepless.testing.simulation import Simulation, simulate

Time: TypeAlias = int | str  # milliseconds, or a duration like 90s, 15m, 2h, 3d
Source: TypeAlias = str | os.PathLike[str] | Mapping[str, JSON]


def returns(value: JSON = None, *, exit: str = "source", takes: Time = 1, sets: Mapping[str, JSON] | None = None) -> Entry:
    """Returns a successful attempt: its output, its exit, its duration, and the run variables that it sets."""
    return {"ok": {"value": value, "handle": exit, "ms": time_ms(takes), "set": dict(sets or {})}}


def fails(
    cause: str = "provider_error", *, code: str | None = None, message: str = "", takes: Time = 1, retry_after: Time | None = None
) -> Entry:
    """Returns a failed attempt. `cause` is one of the causes in the node's `retry_on` (timeout, rate_limit, provider_error…)."""
    options: dict[str, Any] = {"cause": cause, "code": code, "message": message, "ms": time_ms(takes)}
    return {"fail": options if retry_after is None else {**options, "retry_after_ms": time_ms(retry_after)}}


class WorkflowTest:
    """Builds a scenario and runs it, any number of times. Every method but `run` returns the same object, so that calls chain.

    Without a script, pure and waiting nodes do their real work, every other node returns its own id after a millisecond, and
    approvals get no answer. Times count from the start of the run.
    """

    def __init__(self, document: Mapping[str, JSON]) -> None:
        self.document = document
        self._script: dict[str, Entry | Sequence[Entry]] = {}
        self._signals: list[dict[str, Any]] = []
        self._env: dict[str, str] = {}

    @classmethod
    def load(cls, source: Source) -> WorkflowTest:
        """Returns a workflow from a YAML or JSON file, or from its content. Raises `InvalidRequest` if the file cannot be read
        and `DocumentRefused` if it is not YAML or JSON; `run` raises `DocumentRefused` for all other errors in the document."""
        if isinstance(source, Mapping):
            return cls(source)
        try:
            with Path(source).open("rb") as file:
                data = file.read(MAX_DOCUMENT_BYTES + 1)
        except OSError as error:
            message = f"the file cannot be read: {error.strerror or error}"
            raise InvalidRequest(message, code="file_not_read", place=os.fspath(source), mend="check the path") from error
        return cls(parse(data))

    def script(self, node: str, *steps: Entry) -> WorkflowTest:
        """Sets the outcomes of a node: one step per attempt (`returns(…)`, `fails(…)`); the last one applies to all later
        attempts. An instance id (`ship@each[2]`) takes precedence over a node id."""
        self._check(node)
        self._script[node] = steps or (returns(),)
        return self

    def answer(self, pause: str, exit: str = "", fields: Mapping[str, JSON] | None = None, *, at: Time = 0) -> WorkflowTest:
        """Answers an approval (`approved`, `rejected`) or a callback. An answer that arrives before its question is kept; only
        the first answer counts."""
        self._check(pause)
        given = dict(fields) if fields is not None else None
        self._signals.append({"at": time_ms(at), "resume": pause, "handle": exit, "answer": given})
        return self

    def send(
        self, message: str, data: JSON = None, *, at: Time = 0, id: str | None = None, key: str | float | None = None,
        keep: Time | None = None, by: str | None = None,
    ) -> WorkflowTest:
        """Sends a message: to the run, or with a `key` to a run that answers to it, then or within `keep`. A message that arrives
        before a node waits for it stays in the mailbox of the run. A repeated `id` counts once."""
        sent: dict[str, Any] = {"at": time_ms(at), "message": message, "data": data, "id": id, "key": key, "by": by}
        self._signals.append(sent if keep is None else {**sent, "keep": time_ms(keep)})
        return self

    def start(
        self, inputs: JSON = None, *, at: Time, key: str | float | None = None, delay: Time = 0
    ) -> WorkflowTest:
        """Starts the workflow again, with the same key: while the run lives, `on_conflict` says what happens. The result of `run`
        is that of the last run."""
        inputs = {} if inputs is None else inputs
        self._signals.append({"at": time_ms(at), "start": inputs, "key": key, "delay": time_ms(delay)})
        return self

    def hold(self, *, at: Time) -> WorkflowTest:
        """Holds the run: it takes messages and answers, and starts nothing."""
        self._signals.append({"at": time_ms(at), "hold": True})
        return self

    def release(self, *, at: Time) -> WorkflowTest:
        """Ends a hold."""
        self._signals.append({"at": time_ms(at), "hold": False})
        return self

    def rerun(self, origin: str | None = None, *, at: Time) -> WorkflowTest:
        """Reruns the run, which has ended by then: from a node, an instance, what failed (`failed`), or the start (None). The
        result of `run` is that of the rerun."""
        self._signals.append({"at": time_ms(at), "rerun": origin})
        return self

    def cancel(self, *, at: Time) -> WorkflowTest:
        """Cancels the run."""
        self._signals.append({"at": time_ms(at), "cancel": True})
        return self

    def env(self, **values: str) -> WorkflowTest:
        """Sets the values of `${NAME}`."""
        self._env |= values
        return self

    def run(
        self, inputs: JSON = None, *, entry: str | Sequence[str] | None = None, key: str | float | None = None, delay: Time = 0,
        seed: int | None = None,
    ) -> Simulation:
        """Runs the scenario until the run ends, or until only unanswered questions are left. `entry` starts at some of the
        entries instead of all. `key` and `delay` are those of the start. `seed` draws the jitter of retries; without it, delays
        have their full length.

        Raises `DocumentRefused` with every finding, `InvalidRequest` for an invalid scenario, `NotFound` for a message that the
        workflow does not declare.
        """
        return simulate(
            self.document, inputs, entry=entry, script=self._script, signals=self._signals, key=key, delay=delay, seed=seed,
            env=self._env,
        )  # fmt: skip

    def _check(self, instance: str) -> None:
        """Refuses an unknown node: a typing error must not pass as a scenario without effect."""
        known, name = _node_ids(self.document), instance.partition("@")[0]
        if name not in known:
            mend = did_you_mean(name, known, what="nodes")
            raise InvalidRequest(f"the workflow has no node {name!r}", code="unknown_node", place=instance, mend=mend)


def _node_ids(level: Mapping[str, Any]) -> list[str]:
    """The node ids of all levels of a document, which may have faults."""
    found, nodes = [], level.get("nodes")
    for name, node in nodes.items() if isinstance(nodes, Mapping) else ():
        found.append(str(name))
        inner = node.get("with") if isinstance(node, Mapping) else None
        if isinstance(inner, Mapping) and isinstance(inner.get("body"), Mapping):
            found += _node_ids(inner["body"])
    return found
