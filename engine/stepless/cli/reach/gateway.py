"""Where a verb's runs are: behind a URL, or in a file on this machine. Either way the same API is asked."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote, urlsplit

import httpx

from stepless.cli.terminal.waiting_line import waiting_line
from stepless.errors import DocumentRefused, InvalidRequest, SteplessError
from stepless.limits import CLIENT_TIMEOUT_MS, MAX_PAGE_ITEMS
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON

URL_VARIABLE: Final = "STEPLESS_URL"
KEY_VARIABLE: Final = "STEPLESS_API_KEY"
DEFAULT_DB: Final = ".stepless/dev.db"  # the file of `stepless dev`
_PROBLEM: Final = "application/problem+json"
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_STATED: Final = ("type", "title", "status", "detail", "code", "place", "mend", "findings")


class Gateway:
    """The API, asked and its refusals raised. `where` names it for people; `file` is the path of a file's runs, empty behind a
    URL, and `holder` who serves that file, empty for nobody."""

    def __init__(self, client: httpx.Client, where: str, file: str = "", holder: str = "") -> None:
        self._client = client
        self.where = where
        self.file = file
        self.holder = holder

    def ask(
        self, method: str, *path: str, query: Mapping[str, Any] | None = None, body: JSON = None,
        content: bytes | None = None, headers: Mapping[str, str] | None = None, quietly: bool = False,
    ) -> Any:
        """The answer's JSON. Raises the refusal as `DocumentRefused` or `InvalidRequest` with the API's own code, and
        `InvalidRequest` (unreachable, no_stepless) when nothing that is a Stepless API answers. `quietly` tells nobody what is
        being waited for."""
        return self.answer(method, *path, query=query, body=body, content=content, headers=headers, quietly=quietly).json()

    def answer(
        self, method: str, *path: str, query: Mapping[str, Any] | None = None, body: JSON = None,
        content: bytes | None = None, headers: Mapping[str, str] | None = None, quietly: bool = False,
    ) -> httpx.Response:
        """`ask`, for those who need the status too."""
        url = "/" + "/".join(quote(part, safe="") for part in path)
        asked = {name: value for name, value in (query or {}).items() if value not in (None, [])}
        sent = {"json": body} if content is None and body is not None else {"content": content}
        try:
            with waiting_line(f"waiting for {self.where}", quietly):
                answer = self._client.request(method, url, params=asked, headers=headers, **sent)
        except httpx.TimeoutException as error:
            raise self._unreachable("it took too long to answer", "try again") from error
        except httpx.TransportError as error:
            mend = "see whether the address is right and the server runs"
            raise self._unreachable(f"it cannot be reached: {str(error) or type(error).__name__}", mend) from error
        if answer.is_success and answer.headers.get("content-type", "").startswith("application/json"):
            return answer
        raise self._refusal(answer)

    def listed(self, path: str, name: str, limit: int, query: Mapping[str, Any] | None = None) -> tuple[list[Any], bool]:
        """At most `limit` items of a listing, page after page, and whether there are more."""
        found: list[Any] = []
        cursor = None
        while True:
            size = min(limit - len(found), MAX_PAGE_ITEMS)
            page = self.ask("GET", path, query={**(query or {}), "limit": size, "cursor": cursor})
            found += page[name]
            cursor = page["cursor"]
            if cursor is None or len(found) >= limit:
                return found, cursor is not None

    def _unreachable(self, message: str, mend: str) -> InvalidRequest:
        return InvalidRequest(message, code="unreachable", place=self.where, mend=mend)

    def _refusal(self, answer: httpx.Response) -> SteplessError:
        if answer.headers.get("content-type", "").startswith(_PROBLEM):
            return _problem(answer.json(), answer.status_code)
        told = f"it answers {answer.status_code} {answer.reason_phrase}".rstrip() + ", and not as Stepless does"
        mend = "give the address that `stepless dev`, or the stack's output Url, names"
        if answer.status_code in (401, 403):
            mend = "the gateway in front refuses: with Auth iam or jwt, ask it with the credentials that it wants"
        elif answer.is_redirect:
            mend = f"it leads to {answer.headers.get('location')}: give the address that it leads to"
        return InvalidRequest(told, code="no_stepless", place=self.where, mend=mend)


def _problem(problem: Mapping[str, Any], status: int) -> SteplessError:
    """The error that a problem document tells."""
    if problem.get("findings"):
        return DocumentRefused([Finding(**{**found, "severity": Severity(found["severity"])}) for found in problem["findings"]])
    code, mend = str(problem.get("code", "error")), str(problem.get("mend", ""))
    if code == "unauthorized":
        mend = f"give an API key: --key, or the variable {KEY_VARIABLE}"
    if "report" in problem:
        mend = f"look for report {problem['report']} in the server's log"
    facts = {name: value for name, value in problem.items() if name not in _STATED}
    place = str(problem.get("place", ""))
    return InvalidRequest(str(problem.get("detail", "")), code=code, place=place, mend=mend, status=status, **facts)


@contextmanager
def opened(arguments: argparse.Namespace, *, made: bool = False) -> Iterator[Gateway]:
    """The API behind --url (or STEPLESS_URL), else that of the file --db. `made` allows a file that does not exist yet."""
    url = arguments.url or ("" if arguments.db else os.environ.get(URL_VARIABLE, ""))
    if arguments.url and arguments.db:
        raise InvalidRequest("--url and --db exclude each other", code="usage", mend="keep the one that you mean")
    if url:
        with _client(url, arguments.key or os.environ.get(KEY_VARIABLE, "")) as client:
            yield Gateway(client, url)
        return
    from stepless.cli.reach.file_transport import URL, FileTransport  # what answers in this process takes half a second to import

    file = arguments.db or DEFAULT_DB
    with waiting_line(f"opening {file}"):
        transport = FileTransport(file, made=made)
    with httpx.Client(transport=transport, base_url=URL) as client:
        yield Gateway(client, file, file, transport.attached.holder)


def _client(url: str, key: str) -> httpx.Client:
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname
    except ValueError:
        wrong = True
    if wrong:
        mend = "write it like https://abc123.execute-api.eu-central-1.amazonaws.com"
        raise InvalidRequest("this is no address of a server", code="usage", place=url, mend=mend)
    if key and not (key.isascii() and key.isprintable()):
        mend = "copy it again: letters, digits and punctuation"
        raise InvalidRequest("an API key has no such characters", code="usage", place="--key", mend=mend)
    headers = {"accept": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    # A proxy of the environment is for the world outside.
    trusted = parts.hostname not in _LOOPBACK
    return httpx.Client(base_url=url, headers=headers, timeout=CLIENT_TIMEOUT_MS / 1000, trust_env=trusted)
