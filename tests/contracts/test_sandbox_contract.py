"""The contract of `Sandbox`, for the local process and for a Lambda function (whose service is a server on loopback)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pytest
from author_code import failing, run

from stepless.adapters.aws.effects.sandbox import CONFIG, LambdaSandbox
from stepless.adapters.process.sandbox import ProcessSandbox
from stepless.limits import MAX_CODE_PRINT_CHARACTERS
from stepless.model.effects.program import Ran
from stepless.ports import Sandbox
from stepless.runtime.wiring.sandbox import sandboxed

Reply = Callable[[bytes], tuple[int, dict[str, str], bytes]]


def child(request: bytes) -> tuple[int, dict[str, str], bytes]:
    """The response of the function `sandbox`."""
    return 200, {}, json.dumps(sandboxed(json.loads(request))).encode()


@pytest.fixture
def function() -> Iterator[Callable[[Reply], LambdaSandbox]]:
    """A sandbox over a Lambda service that returns the scripted response."""
    replies: list[Reply] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/2015-03-31/functions/author-code/invocations"
            status, headers, data = replies[0](self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Logs nothing."""

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever, args=(0.01,))
    thread.start()
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    url = f"http://127.0.0.1:{served.server_port}"
    client = boto3.client("lambda", region_name="eu-central-1", endpoint_url=url, config=CONFIG, **keys)

    def made(reply: Reply) -> LambdaSandbox:
        replies[:] = [reply]
        return LambdaSandbox("author-code", client)

    yield made
    served.shutdown()
    thread.join()
    served.server_close()


@pytest.fixture(params=["process", "lambda"])
def sandbox(request: pytest.FixtureRequest, function: Callable[[Reply], LambdaSandbox]) -> Sandbox:
    return ProcessSandbox() if request.param == "process" else function(child)


def test_what_main_returns_and_what_it_prints_come_back(sandbox: Sandbox) -> None:
    code = "import re, statistics\nprint('once')\ndef main(args):\n  print('né')\n  return {'mean': statistics.mean(args['of'])}"
    assert run(sandbox, code, of=[1, 2, 6]) == Ran({"mean": 3}, "once\nné\n")


def test_printing_has_a_bound_and_does_not_fail(sandbox: Sandbox) -> None:
    ran = run(sandbox, "def main(args):\n  for _ in range(99): print('x' * 999)")
    assert len(ran.printed) == MAX_CODE_PRINT_CHARACTERS


@pytest.mark.parametrize(("code", "line", "expected"), [
    ("def main(args):\n  x = {}\n  return x['nowhere']", 3, "KeyError: 'nowhere'"),
    ("x = 1\ny = 1 / 0\ndef main(args): pass", 2, "ZeroDivisionError"),
    ("def main(args):\n  return len(5) +", 2, "SyntaxError"),
    ("import json\ndef main(args):\n  \n  json.loads('{')", 4, "JSONDecodeError"),
    ("def main(args):\n  raise SystemExit(3)", 2, "SystemExit: 3"),
    ("def main(args):\n  import numpy", 2, "no module 'numpy'"),
    ("class Odd(Exception):\n  def __str__(self): raise self\ndef main(args): raise Odd", 3, "Odd"),
])  # fmt: skip
def test_an_error_names_the_line_of_the_authors_code(sandbox: Sandbox, code: str, line: int, expected: str) -> None:
    failure = failing(sandbox, code)
    assert (failure.cause, failure.code) == ("execution", "code_raised")
    assert failure.message.startswith(f"line {line}: ")
    assert expected in failure.message


@pytest.mark.parametrize(("code", "expected"), [
    ("def main(args): return 'x' * (1 << 30)", "code_memory"),
    ("def main(args):\n  held = []\n  while True: held.append('x' * 9999)", "code_memory"),
    ("def main(args): return 'x' * 6_000_000", "code_output_too_large"),
    ("def main(args): return {1, 2}", "result_not_json"),
    ("def main(args): return float('nan')", "result_not_json"),
    ("def main(args):\n  round = []\n  round.append(round)\n  return round", "result_not_json"),
    ("import sys\ndef main(args): sys.modules['os']._exit(0)", "code_raised"),
    ("x = 1", "code_raised"),
])  # fmt: skip
def test_every_other_end_has_a_code_of_its_own(sandbox: Sandbox, code: str, expected: str) -> None:
    failure = failing(sandbox, code)
    assert (failure.cause, failure.code) == ("execution", expected)


def test_nothing_is_left_over_from_a_former_run(sandbox: Sandbox) -> None:
    code = "import math\ndef main(args):\n  seen = getattr(math, 'seen', 0)\n  math.seen = 1\n  return seen"
    assert [run(sandbox, code).value, run(sandbox, code).value] == [0, 0]


# -- the function -----------------------------------------------------------------------------------------------------


def broken(message: str) -> Reply:
    return lambda request: (200, {"X-Amz-Function-Error": "Unhandled"}, json.dumps({"errorMessage": message}).encode())


def refused(status: int, code: str) -> Reply:
    return lambda request: (status, {"x-amzn-ErrorType": code}, json.dumps({"message": "no"}).encode())


@pytest.mark.parametrize(("reply", "cause", "code"), [
    (broken("2026-01-01T00:00:00Z 1234 Task timed out after 3.00 seconds"), "timeout", "code_timeout"),
    (broken("RequestId: 1 Error: Runtime exited with error: signal: killed"), "execution", "code_memory"),
    (broken("No module named 'app'"), "provider_error", "sandbox_unavailable"),
    (refused(429, "TooManyRequestsException"), "rate_limit", "sandbox_unavailable"),
    (refused(500, "ServiceException"), "provider_error", "sandbox_unavailable"),
    (refused(404, "ResourceNotFoundException"), "config", "sandbox_unavailable"),
    (lambda request: (200, {}, b"what"), "execution", "code_raised"),
])  # fmt: skip
def test_a_function_that_fails_is_told_from_code_that_fails(
    function: Callable[[Reply], LambdaSandbox], reply: Reply, cause: str, code: str
) -> None:
    failure = failing(function(reply), "def main(args): return 1")
    assert (failure.cause, failure.code) == (cause, code)
