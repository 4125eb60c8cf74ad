"""What publishing finds in the `auth` of a webhook."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(("auth", "found"), [
    ({"template": "{id}.{body}"}, [("invalid_value", ".auth.template", "error")]),
    ({"prefix": "v2=", "template": "{timestamp}{body}"}, [("invalid_value", ".auth.prefix", "error")]),
    ({"template": "{body}", "timestamp_header": "X-Time"}, [("unused_parameter", ".auth.timestamp_header", "warning")]),
    ({"template": "{body}", "url": "https://a/b"}, [("unused_parameter", ".auth.url", "warning")]),
    ({"template": "{url}{body}", "url": "https://a/b"}, []),
    ({"hmac": ["${A}", "${B}"]}, []),
    ({"hmac": ["${A}", "b"]}, [("secret_in_document", ".auth", "warning")]),
])  # fmt: skip
def test_a_template_that_cannot_be_filled_in_is_refused(auth: dict[str, Any], found: list[Any], findings: Any) -> None:
    assert findings("webhook", path="/a", auth={"hmac": "${A}", **auth}) == found


def test_fields_of_the_general_scheme_are_pointed_out_where_they_do_nothing(findings: Any) -> None:
    for name, value in (("algorithm", "sha1"), ("template", "{body}"), ("header", "X-A"), ("prefix", "a=")):
        found = findings("webhook", path="/a", auth={"scheme": "github", "secret": "${A}", name: value})
        assert found == [("unused_parameter", f".auth.{name}", "warning")]
