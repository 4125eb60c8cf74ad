"""Notifies people that a run waits for them, with the links by which they can answer.

`notify` is the target: a URL receives a POST, `arn:aws:sns:…` is a topic, `mailto:…` is a mailbox (SES). Delivery is at least
once: after a crash, a notice may be sent again, with the same idempotency key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stepless.core.deciding.pauses import TIMEOUT
from stepless.core.state import Instance, State, Wait
from stepless.core.values.inputs import merged_inputs
from stepless.core.values.reference_values import Reading
from stepless.limits import LINK_LIFE_MS, NOTICE_TIMEOUT_MS
from stepless.model.json import JSON
from stepless.model.texts.company import NONE, Company
from stepless.model.texts.details import details_of
from stepless.model.work import NodeFailure
from stepless.ports import Aws, Http, HttpRequest
from stepless.runtime.access.invitations import Invitations
from stepless.runtime.access.question_formats import Question, is_slack, mail_html, mail_text, slack
from stepless.runtime.origin import command

_TOPIC, _MAIL = "arn:", "mailto:"
_SUBJECT_CHARACTERS = 100  # SNS takes no more


class Notifier:
    """Sends notices. `sender` is the address from which mail is sent. Without `aws`, only URLs can be notified, by `http`.
    `company` is whose mail it is."""

    def __init__(
        self, invitations: Invitations, http: Http, aws: Aws | None, sender: str | None, company: Company = NONE
    ) -> None:
        self._invitations = invitations
        self._http = http
        self._aws = aws
        self._sender = sender
        self._company = company

    async def send(self, state: State, instance: Instance, wait: Wait, env: Mapping[str, str], now_ms: int) -> None:
        """Sends the notice of a waiting instance. The target is evaluated again, since the log holds it masked. Raises
        `NodeFailure` if the notice cannot be delivered, and `SteplessError` if the target cannot be evaluated."""
        reading = Reading(state, instance, merged_inputs(state, instance), now_ms, env)
        target = str(instance.node.config.template.render(reading).get("notify") or "")
        notice = self._notice(state, instance, wait)
        token = f"{state.run_id}:{instance.id}:notice:{wait.sent + 1}"
        if target.startswith(_TOPIC):
            given = {"TopicArn": target, "Subject": _subject(notice), "Message": json.dumps(notice, ensure_ascii=False)}
            await self._call("sns", "Publish", given, token)
        elif target.startswith(_MAIL):
            await self._call("sesv2", "SendEmail", self._mail(target.removeprefix(_MAIL), notice, wait), token)
        else:
            body = slack(_question(notice, wait)) if is_slack(target) else notice
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
            headers = {"content-type": "application/json", "idempotency-key": token}
            await self._http.send(HttpRequest("POST", target, headers, content=content, timeout_ms=NOTICE_TIMEOUT_MS))

    def _notice(self, state: State, instance: Instance, wait: Wait) -> dict[str, Any]:
        """The content of the notice: the question and its links, and nothing else of the run."""
        expires_ms = wait.deadline_ms if wait.deadline_ms is not None else wait.since_ms + LINK_LIFE_MS
        approvers = wait.details.get("approvers") or [None]

        def links(approver: str | None) -> dict[str, str]:
            def url(exit: str | None) -> str:
                return self._invitations.invite(state.run_id, instance.id, expires_ms, exit, approver)["url"]

            return {"answer": url(None), **{exit: url(exit) for exit in wait.exits if exit != TIMEOUT}}

        return {
            "type": "pause.waiting",
            "workflow": state.graph.workflow_id,
            "workflow_name": state.graph.name,
            "run_id": state.run_id,
            "pause": instance.id,
            "label": instance.node.label,
            "reason": wait.reason,
            "message": wait.details.get("message"),
            "details": wait.details.get("details") or [],
            "asked_by": wait.details.get("asked_by"),
            "fields": wait.details.get("fields"),
            "deadline_ms": wait.deadline_ms,
            "reminder": wait.sent,
            "links": links(None) if approvers == [None] else {str(name): links(str(name)) for name in approvers},
        }

    def _mail(self, to: str, notice: Mapping[str, Any], wait: Wait) -> dict[str, JSON]:
        if self._sender is None:
            raise NodeFailure("config", "notice_without_sender", "mail needs a sender address", mend="set STEPLESS_NOTIFY_FROM")
        question = _question(notice, wait)
        body = {"Text": {"Data": mail_text(question)}, "Html": {"Data": mail_html(question, self._company)}}
        simple = {"Subject": {"Data": _subject(notice)}, "Body": body}
        return {"FromEmailAddress": self._sender, "Destination": {"ToAddresses": [to]}, "Content": {"Simple": simple}}

    async def _call(self, service: str, action: str, given: Mapping[str, JSON], token: str) -> None:
        if self._aws is None:
            message = "this installation cannot send notices through AWS"
            raise NodeFailure("config", "notice_without_aws", message, mend=f"install what it needs: {command('aws')}")
        await self._aws.call(service, action, given, token=token, timeout_ms=NOTICE_TIMEOUT_MS)


def _subject(notice: Mapping[str, JSON]) -> str:
    words = " ".join(f"{notice['workflow']}: {notice['message'] or notice['label']}".split())
    return words.encode("ascii", "replace").decode()[:_SUBJECT_CHARACTERS]


def _question(notice: Mapping[str, Any], wait: Wait) -> Question:
    links = notice["links"]
    people = {"": links} if isinstance(links.get("answer"), str) else links
    return Question(
        str(notice["workflow_name"]), str(notice["message"] or notice["label"]), str(notice["asked_by"] or ""),
        details_of(wait.details), wait.deadline_ms, people,
    )  # fmt: skip
