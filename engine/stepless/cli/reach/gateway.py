"""Calls the API for a verb: over a URL, or over a local file. Both serve the same API."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote

import httpx

from stepless.cli.terminal.waiting_line import waiting_line
from stepless.client.settings import KEY_VARIABLE, URL_VARIABLE, is_address, is_key, uses_proxies
from stepless.errors import DocumentRefused, InvalidRequest, SteplessError
from stepless.limits import CLIENT_TIMEOUT_MS, MAX_PAGE_ITEMS
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON

DEFAULT_DB: Final = ".stepless/dev.db"  # the file of `stepless dev`
_PROBLEM: Final = "application/problem+json"
_STATED: Final = ("type", "title", "status", "detail", "code", "place", "mend", "findings")


class Gateway:
    """Calls the API and raises its errors. `where` is its name in messages. `file` is what --db names, empty for a server;
    `holder` is the process that serves it, empty if there is none."""

    def __init__(self, client: httpx.Client, where: str, file: str = "", holder: str = "") -> None:
        self._client = client
        self.where = where
        self.file = file
        self.holder = holder

    def ask(
        self, method: str, *path: str, query: Mapping[str, Any] | None = None, body: JSON = None,
        content: bytes | None = None, headers: Mapping[str, str] | None = None, quietly: bool = False,
    ) -> Any:
        """Returns the JSON of the response. Raises an error of the API as `DocumentRefused` or `InvalidRequest` with the API's
        code, and `InvalidRequest` (unreachable, no_stepless) if no Stepless API responds. `quietly` shows no line while it
        waits."""
        return self.answer(method, *path, query=query, body=body, content=content, headers=headers, quietly=quietly).json()

    def answer(
        self, method: str, *path: str, query: Mapping[str, Any] | None = None, body: JSON = None,
        content: bytes | None = None, headers: Mapping[str, str] | None = None, quietly: bool = False,
    ) -> httpx.Response:
        """Asks like `ask`, but returns the whole response."""
        url = "/" + "/".join(quote(part, safe="") for part in path)
        asked = {name: value for name, value in (query or {}).items() if value not in (None, [])}
        sent = {"json": body} if content is None and body is not None else {"content": content}
        try:
            with waiting_line(f"waiting for {self.where}", quietly):
                answer = self._client.request(method, url, params=asked, headers=headers, **sent)
        except httpx.TimeoutException as error:
            raise self._unreachable("the server took too long to respond", "try again") from error
        except httpx.TransportError as error:
            mend = "check the address, and that the server is running"
            raise self._unreachable(f"the server cannot be reached: {str(error) or type(error).__name__}", mend) from error
        if answer.is_success and answer.headers.get("content-type", "").startswith("application/json"):
            return answer
        raise self._refusal(answer)

    @property
    def base(self) -> str:
        """The address of the server, without a slash at its end."""
        return str(self._client.base_url).rstrip("/")

    def send(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> httpx.Response:
        """Sends exactly this, without the API key, and returns any response. Raises `InvalidRequest` (unreachable)."""
        request = self._client.build_request(method, path, content=content or None)
        request.headers.pop("authorization", None)
        request.headers.update(headers)
        try:
            return self._client.send(request)
        except httpx.TransportError as error:
            mend = "check the address, and that the server is running"
            raise self._unreachable(f"the server cannot be reached: {str(error) or type(error).__name__}", mend) from error

    def listed(
        self, path: str, name: str, limit: int, query: Mapping[str, Any] | None = None, *, cursor: str | None = None,
        most: int = MAX_PAGE_ITEMS,
    ) -> tuple[list[Any], str | None]:  # fmt: skip
        """Returns at most `limit` items of a listing, read in pages of at most `most`, and the cursor that continues it; None if
        it is complete."""
        found: list[Any] = []
        while True:
            size = min(limit - len(found), most)
            page = self.ask("GET", *path.split("/"), query={**(query or {}), "limit": size, "cursor": cursor})
            found += page[name]
            cursor = page["cursor"]
            if cursor is None or len(found) >= limit:
                return found, cursor

    def _unreachable(self, message: str, mend: str) -> InvalidRequest:
        return InvalidRequest(message, code="unreachable", place=self.where, mend=mend)

    def _refusal(self, answer: httpx.Response) -> SteplessError:
        if answer.headers.get("content-type", "").startswith(_PROBLEM):
            return _problem(answer.json(), answer.status_code)
        message = f"this is not a Stepless API: it responded {answer.status_code} {answer.reason_phrase}".rstrip()
        mend = "give the address that `stepless dev` prints, or the stack's output Url"
        if answer.status_code in (401, 403):
            mend = "the gateway refused the credentials: with Auth jwt give a valid token as --key, with Auth iam give the "
            mend += "address of a proxy that signs requests"
        elif answer.is_redirect:
            mend = f"it redirects to {answer.headers.get('location')}: give that address"
        return InvalidRequest(message, code="no_stepless", place=self.where, mend=mend)


def _problem(problem: Mapping[str, Any], status: int) -> SteplessError:
    """The error that a problem document describes."""
    if problem.get("findings"):
        return DocumentRefused([_finding(found) for found in problem["findings"]])
    code, mend = str(problem.get("code", "error")), str(problem.get("mend", ""))
    if code == "unauthorized":
        mend = f"give an API key or a token: --key, or the variable {KEY_VARIABLE}"
    if "report" in problem:
        mend = f"search the server's log for report {problem['report']}"
    facts = {name: value for name, value in problem.items() if name not in _STATED}
    place = str(problem.get("place", ""))
    return InvalidRequest(str(problem.get("detail", "")), code=code, place=place, mend=mend, status=status, **facts)


def _finding(found: Mapping[str, Any]) -> Finding:
    """A finding of a response. One of a draft also has the key of a block, which means nothing here."""
    known = {name: value for name, value in found.items() if name != "key"}
    return Finding(**{**known, "severity": Severity(found["severity"])})


@contextmanager
def opened(arguments: argparse.Namespace, *, create: bool = False) -> Iterator[Gateway]:
    """Opens the API behind --url (or STEPLESS_URL), else that of the file --db. `create` creates the file if it does not
    exist."""
    url = arguments.url or ("" if arguments.db else os.environ.get(URL_VARIABLE, ""))
    if arguments.url and arguments.db:
        raise InvalidRequest("--url and --db cannot be used together", code="usage", mend="give one of them")
    if url:
        with _client(url, arguments.api_key or os.environ.get(KEY_VARIABLE, "")) as client:
            yield Gateway(client, url)
        return
    from stepless.cli.reach.file_transport import URL, FileTransport  # it takes half a second to import
    from stepless.runtime.wiring.stores import shown

    file = arguments.db or DEFAULT_DB
    with waiting_line(f"opening {shown(file)}"):
        transport = FileTransport(file, create=create)
    with httpx.Client(transport=transport, base_url=URL) as client:
        yield Gateway(client, shown(file), file, transport.attached.holder)


def _client(url: str, key: str) -> httpx.Client:
    if not is_address(url):
        mend = "write it like https://abc123.execute-api.eu-central-1.amazonaws.com"
        raise InvalidRequest("this is not the URL of a server", code="usage", place=url, mend=mend)
    if not is_key(key):
        mend = "copy the key again: it has letters, digits and punctuation only"
        raise InvalidRequest("the API key has characters that no key has", code="usage", place="--key", mend=mend)
    headers = {"accept": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    return httpx.Client(base_url=url, headers=headers, timeout=CLIENT_TIMEOUT_MS / 1000, trust_env=uses_proxies(url))
