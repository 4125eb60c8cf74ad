"""The floor of W11: plain FastAPI on uvicorn, three functions in a row, one SQLite commit after each, then the answer.

    python -m benchmarks.door.bare_server FOLDER PORT_FILE

`POST /hooks/quotes` answers after the third commit. `POST /hooks/orders` answers 202 after one commit, as a queue would, and does
the three functions afterwards.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from benchmarks.door.loads import double
from benchmarks.floor import Journal

STEPS = 3


def app(journal: Journal) -> FastAPI:
    served = FastAPI()
    numbers = itertools.count()
    behind: set[asyncio.Task[int]] = set()

    async def work(run: str, pieces: int) -> int:
        for node in range(1, STEPS + 1):
            pieces = await double(pieces)
            journal.commit(run, node, str(pieces))
        return pieces

    @served.post("/hooks/quotes")
    async def quote(body: dict[str, Any]) -> dict[str, int]:
        return {"price": await work(f"run-{next(numbers)}", body["pieces"])}

    @served.post("/hooks/orders", status_code=202)
    async def order(body: dict[str, Any]) -> dict[str, str]:
        run = f"run-{next(numbers)}"
        journal.commit(run, 0, str(body["pieces"]))
        task = asyncio.create_task(work(run, body["pieces"]))
        behind.add(task)
        task.add_done_callback(behind.discard)
        return {"run_id": run}

    return served


class Announced(uvicorn.Server):
    """Writes its URL to a file once it listens."""

    def __init__(self, config: uvicorn.Config, port_file: Path) -> None:
        super().__init__(config)
        self._port_file = port_file

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        part = self._port_file.with_suffix(".part")
        part.write_text(f"http://127.0.0.1:{port}")
        part.rename(self._port_file)


def main() -> int:
    folder, port_file = Path(sys.argv[1]), Path(sys.argv[2])
    journal = Journal(folder / "floor.db", "NORMAL")
    config = uvicorn.Config(app(journal), host="127.0.0.1", port=0, log_level="warning", access_log=False)
    Announced(config, port_file).run()
    journal.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
