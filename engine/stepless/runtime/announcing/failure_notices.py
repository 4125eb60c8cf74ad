"""Notifies people of failed runs, as an exporter: `on_failure_notify` of the workflow, or else of the deployment.

A notice is delivered at least once: when one of several targets fails, only that one is tried again by the same process, and all
of them by another. A rerun that fails at the same node with the same code is not notified again.
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from stepless.core.events import RUN_ENDS, Event, EventType
from stepless.errors import SteplessError
from stepless.limits import EXPORT_TIMEOUT_MS, MAX_KNOWN_NOTICES
from stepless.model.graph import Graph
from stepless.model.texts.failure_targets import FailureTarget, parse_target
from stepless.model.work import NodeFailure
from stepless.ports import Aws, Blobs, Clock, Http, HttpRequest, Meter, Secrets, Store
from stepless.runtime.announcing.details import detail_of, id_of
from stepless.runtime.announcing.notice_formats import (
    FailureNotice,
    channel_of,
    notice_of,
    slack,
    subject_of,
    teams,
    text_of,
    webhook,
)
from stepless.runtime.exporting.exporter import ExportedRun
from stepless.runtime.origin import command
from stepless.runtime.runlog import RunLog

_log = logging.getLogger(__name__)
_FORMATS: Final[Mapping[str, Callable[[FailureNotice], dict[str, Any]]]] = {"slack": slack, "teams": teams, "webhook": webhook}
_FAILURES: Final = frozenset({EventType.RUN_FAILED, EventType.RUN_TIMED_OUT})


class FailureChannels:
    """What sends a notice. `sender` is the address that mail comes from; `sign` makes the header `X-Signature` of a webhook, None
    if there is no secret for it. Without `aws` there are no mail and no topics."""

    def __init__(
        self, http: Http, aws: Aws | None, clock: Clock, sender: str | None, sign: Callable[[bytes, int], str] | None
    ) -> None:
        self._http = http
        self._aws = aws
        self._clock = clock
        self._sender = sender
        self._sign = sign

    async def send(self, target: FailureTarget, url: str, notice: FailureNotice, token: str) -> None:
        """Sends one notice. `url` is the value of the target's secret. Raises `NodeFailure`."""
        if target.channel == "topic":
            given: dict[str, Any] = {"TopicArn": target.value, "Subject": subject_of(notice), "Message": text_of(notice)}
            if target.value.endswith(".fifo"):
                given |= {"MessageGroupId": str(notice.detail["run"]), "MessageDeduplicationId": token}
            await self._call("sns", "Publish", given, token)
        elif target.channel == "mail":
            await self._call("sesv2", "SendEmail", self._mail(target.value, notice), token)
        else:
            await self._post(url, target.channel or channel_of(url), notice, token)

    async def _post(self, url: str, channel: str, notice: FailureNotice, token: str) -> None:
        content = json.dumps(_FORMATS[channel](notice), ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"content-type": "application/json", "idempotency-key": token}
        if channel == "webhook" and self._sign is not None:
            headers["x-signature"] = self._sign(content, self._clock.now_ms())
        await self._http.send(HttpRequest("POST", url, headers, content=content, timeout_ms=EXPORT_TIMEOUT_MS))

    def _mail(self, to: str, notice: FailureNotice) -> dict[str, Any]:
        if self._sender is None:
            raise NodeFailure("config", "notice_without_sender", "mail needs a sender address", mend="set STEPLESS_NOTIFY_FROM")
        simple = {"Subject": {"Data": subject_of(notice)}, "Body": {"Text": {"Data": text_of(notice)}}}
        return {"FromEmailAddress": self._sender, "Destination": {"ToAddresses": [to]}, "Content": {"Simple": simple}}

    async def _call(self, service: str, action: str, given: Mapping[str, Any], token: str) -> None:
        if self._aws is None:
            message = "this installation cannot send notices through AWS"
            raise NodeFailure("config", "notice_without_aws", message, mend=f"install what it needs: {command('aws')}")
        await self._aws.call(service, action, given, token=token, timeout_ms=EXPORT_TIMEOUT_MS)


class FailureNotices:
    """`default` are the targets of the deployment, whose secrets `secrets` reads. `name` and the methods: see `Exporter`."""

    name = "notify"
    at_once = 1

    def __init__(
        self, channels: FailureChannels, store: Store, blobs: Blobs, secrets: Secrets, meter: Meter, base_url: Callable[[], str],
        default: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._channels = channels
        self._store = store
        self._blobs = blobs
        self._secrets = secrets
        self._meter = meter
        self._base_url = base_url
        self._default = tuple(default)
        self._sent: OrderedDict[str, None] = OrderedDict()  # tokens of delivered notices, the last ones

    def opened(self, run: ExportedRun) -> None:
        """See `Exporter.opened`."""

    def concerns(self, graph: Graph) -> bool:
        """Returns whether the workflow or the deployment names a target."""
        return bool(self._targets(graph))

    def _targets(self, graph: Graph) -> Sequence[str]:
        return self._default if graph.on_failure_notify is None else graph.on_failure_notify

    def selects(self, event: Event) -> bool:
        """Returns whether the run has failed or timed out."""
        return event.type in _FAILURES

    async def export(self, run: ExportedRun, events: Sequence[Event]) -> int:
        """Notifies every target. Raises the last `NodeFailure` if one is to be tried again."""
        event = events[0]
        if self._is_repeated(run, event):
            return event.sequence
        notice = notice_of(detail_of(run, event, self._base_url()), run.graph.name)
        left: NodeFailure | None = None
        for text in dict.fromkeys(self._targets(run.graph)):
            try:
                await self._send(run, text, notice, f"{id_of(run.head.run_id, event)}:{text}")
            except NodeFailure as failure:
                if not self._is_final(run, failure):
                    left = failure
        if left is not None:
            raise left
        return event.sequence

    async def _send(self, run: ExportedRun, text: str, notice: FailureNotice, token: str) -> None:
        if token in self._sent:
            return
        try:
            target = parse_target(text)
        except ValueError as error:  # of the deployment's setting: the API has checked that of a document
            raise NodeFailure("config", "invalid_config", str(error)) from error
        await self._channels.send(target, self._url(run, target), notice, token)
        self._sent[token] = None
        while len(self._sent) > MAX_KNOWN_NOTICES:
            self._sent.popitem(last=False)

    def _url(self, run: ExportedRun, target: FailureTarget) -> str:
        if target.secret is None:
            return ""
        own = run.graph.on_failure_notify is not None
        url = run.env.get(target.secret) if own else self._secrets.get(target.secret)
        if not url:
            raise NodeFailure("config", "secret_missing", f"`${{{target.secret}}}` has no value", mend="store it as a secret")
        return url

    def _is_final(self, run: ExportedRun, failure: NodeFailure) -> bool:
        """Whether a repetition would fail as well: a wrong configuration is reported, and not tried again."""
        if failure.cause != "config":
            return False
        _log.warning("the notice of the failed run %s was not sent: %s %s", run.head.run_id, failure.code, failure.mend)
        self._meter.report("notice.failed", {"run": run.head.run_id, "workflow": run.head.workflow_id, "code": failure.code})
        return True

    def _is_repeated(self, run: ExportedRun, event: Event) -> bool:
        """Whether this run is a rerun, and the former run failed at the same node with the same code."""
        rerun = run.meta.get("rerun")
        former = self._end_of(str(rerun.get("of"))) if isinstance(rerun, Mapping) else None
        return former is not None and (former.type, _place(former)) == (event.type, _place(event))

    def _end_of(self, run_id: str) -> Event | None:
        """The last event of a run that has ended. None if it cannot be read: then the notice is sent."""
        head = self._store.get_run(run_id)
        if head is None:
            return None
        try:
            last = list(RunLog(self._store, self._blobs, run_id).read(max(0, head.sequence - 1), whole=False))[-1:]
        except SteplessError:
            return None
        return last[0] if last and last[0].type in RUN_ENDS else None


def _place(event: Event) -> tuple[Any, Any]:
    error = event.data.get("error")
    return (error.get("node"), error.get("code")) if isinstance(error, Mapping) else (None, None)
