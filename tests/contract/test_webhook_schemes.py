"""A webhook scheme is one row and its name: what documents may write, what is verified, signed and documented follows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, get_args

import pytest

from contract import tables
from stepless.errors import Forbidden
from stepless.model.triggers.webhook_schemes import SCHEMES, SchemeName
from stepless.nodes.entries.webhook import Signed
from stepless.runtime.triggers.signatures import verify
from stepless.runtime.triggers.signing import prepared, signed_headers

ROOT: Final = Path(__file__).resolve().parents[2]
NOW_MS: Final = 1_767_225_600_000
URL: Final = "https://flows.example.com/hooks/in"

# The page of a webhook in the console can sign with a time, the body and a delivery id, by HMAC-SHA256 alone.
NOT_IN_A_PAGE: Final = {"hubspot", "linear", "trello", "twilio", "gitlab", "sendgrid"}


def test_a_document_may_name_each_scheme() -> None:
    assert set(get_args(SchemeName)) == set(SCHEMES)
    assert len(get_args(SchemeName)) == len(SCHEMES)


@pytest.mark.parametrize("name", sorted(set(SCHEMES) - {"sendgrid"}))
def test_what_is_signed_by_a_row_is_verified_by_it(name: SchemeName) -> None:
    """`sendgrid` has a key pair: tests/unit/runtime has its own."""
    secret = "whsec_c2VjcmV0" if SCHEMES[name].key == "whsec" else "secret"
    auth = Signed(scheme=name, secret=secret)
    body, url = prepared(auth, b'{"order": 7}', NOW_MS, URL)
    headers = {key.lower(): value for key, value in signed_headers(auth, body, NOW_MS, secret=secret, url=url).items()}
    assert verify(auth, headers, body, NOW_MS, urls=[url]).secret == secret
    if SCHEMES[name].proof == "hmac":
        with pytest.raises(Forbidden, match="signature"):
            verify(auth, headers, body + b" ", NOW_MS, urls=[url])


def test_a_page_signs_each_scheme_or_leaves_it_out() -> None:
    signed = set(re.findall(r"^  (\w+): \{ sender", tables.schemes(), re.MULTILINE))
    assert signed | NOT_IN_A_PAGE == set(SCHEMES), "leave it out here, and the page says that it cannot sign it"
    assert signed & NOT_IN_A_PAGE == set(), "it is signed"


def test_each_sender_has_a_page_and_a_name() -> None:
    assert {name for name, row in SCHEMES.items() if not row.documentation.startswith("https://")} == {"hmac"}
    assert len({row.sender for row in SCHEMES.values()}) == len(SCHEMES)
