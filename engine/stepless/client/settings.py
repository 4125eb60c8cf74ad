"""Reads what a client is given: arguments, or the environment variables that the command line reads too."""

from __future__ import annotations

import os
from typing import Any, Final
from urllib.parse import urlsplit

from stepless.client.errors import InvalidSetting
from stepless.limits import CLIENT_RETRY_MS, CLIENT_TIMEOUT_MS, MAX_CLIENT_RETRY_MS, MAX_CLIENT_TIMEOUT_MS

URL_VARIABLE: Final = "STEPLESS_URL"
KEY_VARIABLE: Final = "STEPLESS_API_KEY"
DEFAULT_TIMEOUT_S: Final = CLIENT_TIMEOUT_MS / 1000
DEFAULT_RETRY_FOR_S: Final = CLIENT_RETRY_MS / 1000
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


def connection(url: str | None, key: str | None, timeout_s: float) -> dict[str, Any]:
    """Returns the settings of the HTTP client of httpx. Raises `InvalidSetting`."""
    url = url if url is not None else os.environ.get(URL_VARIABLE, "")
    key = key if key is not None else os.environ.get(KEY_VARIABLE, "")
    if not url:
        mend = f"give url=…, or set {URL_VARIABLE} to the address that `stepless dev` prints, or to the stack's output Url"
        raise InvalidSetting("no server is named", code="setting_missing", place=URL_VARIABLE, mend=mend)
    if not is_address(url):
        raise InvalidSetting("this is not the URL of a server", place=url, mend="write it like https://flows.example.com")
    if not is_key(key):
        raise InvalidSetting("the API key has characters that no key has", place=KEY_VARIABLE, mend="copy the key again")
    if not 0 < timeout_s <= MAX_CLIENT_TIMEOUT_MS / 1000:
        mend = f"give seconds, at most {MAX_CLIENT_TIMEOUT_MS // 1000}"
        raise InvalidSetting("the time-out is out of its bounds", place="timeout_s", mend=mend)
    headers = {"accept": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    return {"base_url": url, "headers": headers, "timeout": timeout_s, "trust_env": uses_proxies(url)}


def retry_time(retry_for_s: float) -> float:
    """Returns how long a call is tried again. Raises `InvalidSetting`."""
    if not 0 <= retry_for_s <= MAX_CLIENT_RETRY_MS / 1000:
        mend = f"give seconds, at most {MAX_CLIENT_RETRY_MS // 1000}, or 0 to try each call once"
        raise InvalidSetting("the time for retries is out of its bounds", place="retry_for_s", mend=mend)
    return retry_for_s


def is_address(url: str) -> bool:
    """Returns whether this is the URL of a server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def is_key(key: str) -> bool:
    """Returns whether this can be an API key or token; an empty one is none."""
    return not key or (key.isascii() and key.isprintable())


def uses_proxies(url: str) -> bool:
    """Returns whether the proxy settings of the environment apply: to remote servers only."""
    return urlsplit(url).hostname not in _LOOPBACK
