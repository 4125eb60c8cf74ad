"""A client of the draft of one workflow in `stepless dev`."""

from __future__ import annotations

from typing import Any

from draft_client import op

TEXT = """\
# Greets. Owner: the greeters
id: w
nodes:
  begin: {type: manual}     # by hand
  said:
    type: transform
    after: begin
    with:
      value: <begin>   # all of it
"""


class Draft:
    """A client of the draft of `w`."""

    def __init__(self, dev: Any, **body: Any) -> None:
        self.client, self.n = dev.client, 0
        self.opened = self.ask("POST", "/drafts/w", body)
        self.said = next(
            (key for key, one in self.opened["entities"].items() if key.startswith("block/") and one["id"] == "said"), ""
        )

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        answer = self.client.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def now(self) -> Any:
        return self.ask("GET", "/drafts/w")

    def send(self, *operations: Any) -> Any:
        self.n += 1
        return self.ask("PUT", "/drafts/w/ops", op(1, self.n, base=self.now()["seq"]) | {"gestures": list(operations)})["item"]

    def says(self, value: Any) -> int:
        return int(self.send({"writes": [["set", self.said, ["with", "value"], value]]})["seq"])

    def text(self) -> str:
        return str(self.ask("GET", "/drafts/w/yaml")["text"])

    def follow(self, after: int) -> list[Any]:
        return list(self.ask("GET", f"/drafts/w/ops?epoch=1&after={after}&wait=15")["items"])
