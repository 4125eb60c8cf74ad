"""Initializes a function once, and restores it twice, as SnapStart does: forks after the initialization, and serves one event in
each copy. Prints one line of JSON for the snapshot and one for each copy.

    python tests/functions/restored.py <folder of the function> <event> <event>
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from secrets import token_hex
from types import SimpleNamespace
from uuid import uuid4

from awslambdaric.lambda_runtime_hooks_runner import run_after_restore, run_before_snapshot


def sockets() -> list[str]:
    """The connections of this process over IP, as the kernel lists them."""
    open_files = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink() and path.exists()]
    lines = [line for name in ("tcp", "tcp6") for line in Path("/proc/self/net", name).read_text().splitlines()]
    known = {f"socket:[{line.split()[9]}]" for line in lines}
    return sorted(known.intersection(open_files))


def read_keys() -> bool:
    """Whether the keys that sign links are in memory."""
    from stepless.runtime.wiring.aws import signer

    return "_keys" in vars(signer())


def say(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def main() -> None:
    folder, events = sys.argv[1], [json.loads(text) for text in sys.argv[2:]]
    sys.path.insert(0, folder)
    import app

    run_before_snapshot()
    say(sockets=sockets(), keys=read_keys())
    drawn = random.getstate()
    for number, event in enumerate(events):
        if (child := os.fork()) == 0:
            random.setstate(drawn)  # Python seeds again in a fork; a snapshot does not
            run_after_restore()
            context = SimpleNamespace(
                get_remaining_time_in_millis=lambda: 60_000, function_name="f", memory_limit_in_mb=512,
                invoked_function_arn="arn:aws:lambda:us-east-1:000000000000:function:f", aws_request_id=f"request-{number}",
            )  # fmt: skip
            answer = app.handler(event, context)
            say(random=random.random(), token=token_hex(8), uuid=str(uuid4()), answer=answer, keys=read_keys())
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
