"""The console on the emulator: template.yaml with `Console: yes` and `Auth: jwt`. People sign in at a real issuer with PKCE and
edit one draft, over the WebSocket API of the emulated gateway and the function `socket` under its own role: two clients, then two
browsers."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import httpx
import pytest
import websockets
from chromium import ABSENT, CHROMIUM, chromium
from deployed_runs import check_permissions, tell, until
from emulators import Missing
from local_cloud import Cloud, deployed
from oidc_issuer import Issuer

pytestmark = [pytest.mark.long, pytest.mark.story, pytest.mark.anyio]

PATIENCE_S = 30
ADA = {"email": "ada@example.com", "sub": "u-ada", "cognito:groups": ["stepless-edit"]}
BO = {"email": "bo@example.com", "sub": "u-bo", "cognito:groups": ["stepless-admin"]}
EVE = {"email": "eve@example.com", "sub": "u-eve", "cognito:groups": ["stepless-read"]}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def cloud(issuer: Issuer, build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    given = {
        "FunctionModules": "deploy_steps", "Auth": "jwt", "JwtIssuer": issuer.url, "JwtAudience": "stepless",
        "Console": "yes", "ConsoleClientId": "stepless",
    }  # fmt: skip
    certificate = str(issuer.certificate)
    variables = {"SSL_CERT_FILE": certificate, "STEPLESS_HTTP_ALLOW": "127.0.0.1"}
    try:
        with deployed(tmp_path_factory.mktemp("cloud"), build, given, variables, SSL_CERT_FILE=certificate) as made:
            yield made
            check_permissions(made.machine, "local")
    except Missing as error:
        pytest.skip(str(error))


class Client:
    """A person with a token, over HTTP and over a WebSocket."""

    def __init__(self, cloud: Cloud, token: str) -> None:
        self.cloud = cloud
        self.http = httpx.Client(base_url=cloud.url, headers={"Authorization": f"Bearer {token}"}, timeout=40)

    def ticket(self, draft: str) -> str:
        answer = self.http.post(f"/drafts/{draft}/ticket")
        assert answer.status_code == 200, answer.text
        return str(answer.json()["ticket"])

    @asynccontextmanager
    async def room(self, draft: str, client: str) -> Any:
        async with websockets.connect(f"{self.cloud.socket_url}?ticket={self.ticket(draft)}", max_size=None) as socket:
            seat = Seat(socket)
            await seat.say("hello", client=client, tab="t", after=0, epoch=1)
            seat.welcome = await seat.hear("welcome")
            await seat.hear("items")
            yield seat


class Seat:
    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.welcome: dict[str, Any] = {}

    async def say(self, type_: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"v": 1, "t": type_, **fields}))

    async def edit(self, n: int, base: int, *writes: Any) -> None:
        await self.say("op", n=n, tag=f"t{n}", base=base, gestures=[{"writes": list(writes)}])

    async def hear(self, type_: str) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(await asyncio.wait_for(self.socket.recv(), PATIENCE_S))
            if message["t"] == type_:
                return message


@pytest.fixture
def people(cloud: Cloud, issuer: Issuer) -> Iterator[dict[str, Client]]:
    made = {name: Client(cloud, issuer.token(**claims)) for name, claims in (("ada", ADA), ("bo", BO), ("eve", EVE))}
    yield made
    for client in made.values():
        client.http.close()


@pytest.fixture
def ada(people: dict[str, Client]) -> Client:
    return people["ada"]


@pytest.fixture
def bo(people: dict[str, Client]) -> Client:
    return people["bo"]


@pytest.fixture
def eve(people: dict[str, Client]) -> Client:
    return people["eve"]


def opened(client: Client, draft: str, nodes: dict[str, Any] | None = None) -> None:
    body = {"from": "document", "document": {"id": draft, "nodes": nodes or {}}}
    answer = client.http.post(f"/drafts/{draft}", json=body)
    assert answer.status_code == 200, answer.text


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_page_and_its_settings_are_open_and_all_else_is_not(cloud: Cloud, issuer: Issuer) -> None:
    page = httpx.get(f"{cloud.url}/console/", timeout=40)
    policy = page.headers["content-security-policy"]
    assert page.status_code == 200 and "<div id=" in page.text
    socket = cloud.outputs["SocketUrl"].rpartition("/")[0]
    assert f"connect-src 'self' {socket} {issuer.url}/token;" in policy and "script-src 'self'" in policy
    settings = httpx.get(f"{cloud.url}/console/settings", timeout=40).json()
    assert settings == {
        "drafts": True, "invitations": False, "socket": cloud.outputs["SocketUrl"],
        "login": {
            "issuer": issuer.url, "client_id": "stepless", "audiences": ["stepless"], "scope": "openid",
            "authorize": f"{issuer.url}/authorize", "token": f"{issuer.url}/token",
            "end_session": None,
        },
    }  # fmt: skip
    script = re.search(r'src="(/console/assets/[^"]+)"', page.text)
    assert script is not None and "immutable" in httpx.get(cloud.url + script[1], timeout=40).headers["cache-control"]
    assert httpx.get(f"{cloud.url}/console", timeout=40).headers["location"] == "/console/"
    for asked in ("GET /drafts", "GET /drafts/w", "POST /drafts/w/ticket", "PUT /drafts/w/ops", "GET /kinds"):
        method, path = asked.split()
        assert httpx.request(method, cloud.url + path, timeout=40).status_code == 401, path


# -- two clients -------------------------------------------------------------------------------------------------------


async def test_two_clients_edit_one_draft_over_the_gateway(ada: Client, bo: Client) -> None:
    opened(ada, "shared")
    async with ada.room("shared", "a") as one, bo.room("shared", "b") as other:
        assert other.welcome["people"] == [{"client": "a", "person": "jwt u-ada ada@example.com", "at": None}]
        assert (await one.hear("who"))["client"] == "b"
        await one.edit(1, 0, ["set", "doc", ["name"], "hers"])
        for seat in (one, other):
            item = (await seat.hear("item"))["item"]
            assert (item["seq"], item["by"]) == (1, "jwt u-ada ada@example.com")
            assert item["effects"] == [["set", "doc", ["name"], "hers"]]
        await other.say("at", cursor=[1, 2])
        assert (await one.hear("at"))["at"] == {"cursor": [1, 2]}
        intent = {"epoch": 1, "client": "curl", "n": 1, "tag": "x", "base": 1,
                  "gestures": [{"writes": [["set", "doc", ["description"], "x" * 40_000]]}]}  # fmt: skip
        put = bo.http.put("/drafts/shared/ops", json=intent)
        assert put.json()["item"]["seq"] == 2  # above 32 KB: in the bucket; and no message can hold it
        assert (await one.hear("pull"))["head"] == (await other.hear("pull"))["head"] == 2
        await one.edit(2, 2, ["set", "doc", ["name"], "last"])
        assert (await other.hear("item"))["item"]["seq"] == 3
    state = ada.http.get("/drafts/shared").json()
    assert (state["seq"], state["entities"]["doc"]["name"], len(state["entities"]["doc"]["description"])) == (3, "last", 40_000)


async def test_one_who_may_only_read_is_answered_so_and_a_large_message_ends_the_connection(ada: Client, eve: Client) -> None:
    opened(ada, "guarded")
    async with eve.room("guarded", "e") as reader, ada.room("guarded", "a") as one:
        assert (await reader.hear("who"))["joined"] is True
        await reader.edit(1, 0, ["set", "doc", ["name"], "no"])
        assert (await reader.hear("answer"))["code"] == "forbidden"
        await one.say("at", field="x" * 31_000)
        assert (await one.hear("closing"))["code"] == 4413
        await one.socket.wait_closed()
        left = await reader.hear("who")
        assert (left["client"], left["joined"]) == ("a", False)


async def test_a_bad_ticket_opens_nothing(cloud: Cloud, ada: Client) -> None:
    opened(ada, "guarded")
    ticket = ada.ticket("guarded")
    async with websockets.connect(f"{cloud.socket_url}?ticket={ticket}"):
        for bad in (ticket, "", "x.y", ticket[:-3] + "AAA"):
            with pytest.raises(websockets.InvalidStatus):
                await websockets.connect(f"{cloud.socket_url}?ticket={bad}")
    with pytest.raises(websockets.InvalidStatus):
        await websockets.connect(cloud.socket_url)


async def test_a_discarded_draft_closes_its_room_from_another_function(ada: Client, bo: Client) -> None:
    opened(ada, "over")
    async with ada.room("over", "a") as one:
        assert bo.http.delete("/drafts/over").status_code == 200
        assert (await one.hear("closing"))["code"] == 4409
        await one.socket.wait_closed()


async def test_everyone_who_has_left_is_removed_and_the_draft_is_checked(cloud: Cloud, ada: Client, bo: Client) -> None:
    opened(ada, "left")
    async with ada.room("left", "a") as one, bo.room("left", "b"):
        await one.edit(1, 0, ["set", "doc", ["name"], "kept"])
        await one.hear("item")
    table, dynamodb = cloud.outputs["Table"], cloud.service("dynamodb")

    def look() -> tuple[int, int]:
        room = {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": {":pk": {"S": "ROOM#left"}}}
        head = dynamodb.get_item(TableName=table, Key={"pk": {"S": "DRAFT#left"}, "sk": {"S": "HEAD"}})["Item"]
        return dynamodb.query(TableName=table, **room)["Count"], int(head["q"]["N"])

    until(lambda: look() == (0, 1), "the last leave")


async def test_how_long_an_edit_takes_to_the_other_client(ada: Client, bo: Client) -> None:
    """A measurement: it is printed, and every edit must arrive."""
    opened(ada, "timed")
    taken: list[float] = []
    async with ada.room("timed", "a") as one, bo.room("timed", "b") as other:
        for number in range(1, 41):
            started = perf_counter()
            await one.edit(number, number - 1, ["set", "doc", ["name"], f"n{number}"])
            item = (await other.hear("item"))["item"]
            taken.append((perf_counter() - started) * 1_000)
            assert item["seq"] == number
            await one.hear("item")
    tell(f"op to peer: p50 {median(taken):.0f} ms, p95 {sorted(taken)[37]:.0f} ms, of {len(taken)}")


# -- two browsers ------------------------------------------------------------------------------------------------------


@pytest.fixture
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


def window(
    cloud: Cloud, issuer: Issuer, browser: Any, draft: str, person: dict[str, Any], faults: list[str], frames: list[str]
) -> Any:
    """A browser of its own in which a person has signed in, with the editor of a draft. `faults` gets the errors of the page,
    `frames` what it sends over its socket."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}, ignore_https_errors=True).new_page()
    page.set_default_timeout(PATIENCE_S * 1_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(str(frame))))
    page.goto(f"http://{cloud.outputs['Url'].split('//')[1]}/console/drafts/{draft}")
    issuer.people.append(person)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector(".react-flow__node")
    assert page.url.endswith(f"/console/drafts/{draft}")
    return page


@pytest.mark.skipif(not CHROMIUM.exists(), reason=ABSENT)
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the browser's own pipes, at its end
def test_two_browsers_sign_in_and_edit_together(cloud: Cloud, issuer: Issuer, bo: Client, browser: Any) -> None:
    nodes = {"order": {"type": "manual"}, "pay": {"type": "end", "after": "order"}}
    opened(bo, "together", nodes)
    faults: list[str] = []
    frames: list[str] = []
    first, second = (window(cloud, issuer, browser, "together", person, faults, frames) for person in (ADA, BO))
    first.locator(".flow").focus()
    first.keyboard.press("a")
    first.locator(".picker input").fill("http")
    first.keyboard.press("Enter")
    second.locator(".react-flow__node").nth(2).wait_for()
    second.locator(".flow").focus()
    second.keyboard.press("a")
    second.locator(".picker input").fill("wait")
    second.keyboard.press("Enter")
    first.locator(".react-flow__node").nth(3).wait_for()
    for page in (first, second):
        page.wait_for_selector(".head-saved.saved")
    assert sorted(bo.http.get("/drafts/together/document").json()["document"]["nodes"]) == ["http", "order", "pay", "wait"]
    assert sum('"t":"op"' in frame for frame in frames) >= 2  # over the sockets, not by requests
    log = bo.http.get("/drafts/together/ops?epoch=1").json()["items"]
    assert {item["by"] for item in log} == {"jwt u-ada ada@example.com", "jwt u-bo bo@example.com"}
    assert faults == []


@pytest.mark.skipif(not CHROMIUM.exists(), reason=ABSENT)
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the browser's own pipes, at its end
def test_a_test_run_of_a_draft_shows_its_states_in_the_page(cloud: Cloud, issuer: Issuer, bo: Client, browser: Any) -> None:
    opened(bo, "tested", {
        "order": {"type": "manual"},
        "score": {"type": "http", "after": "order", "with": {"url": "http://127.0.0.1:9/score"}},
        "risk": {"type": "condition", "after": "score", "with": {"cases": {
            "high": "<score.risk> > <order.most>", "low": "else"}}},
        "pay": {"type": "transform", "after": "risk.low", "with": {"value": 1}},
    })  # fmt: skip
    faults: list[str] = []
    page = window(cloud, issuer, browser, "tested", BO, faults, [])
    body = {"seq": 0, "inputs": {"most": 5}, "pins": {"score": {"output": {"risk": 9}}}, "stop_after": "risk"}
    answer = bo.http.post("/drafts/tested/runs", json=body)
    assert answer.status_code in (200, 201, 202), answer.text
    run = answer.json()["run_id"]
    for name in ("order", "score", "risk"):
        page.locator(".react-flow__node", has_text=name).locator("[data-status=completed]").wait_for()
    page.locator(".testbar .status.completed").wait_for()
    assert page.locator(".react-flow__node", has_text="pay").locator("[data-status]").count() == 0, "it stopped after risk"
    events = bo.http.get(f"/runs/{run}/events").json()["events"]
    done = {one["payload"]["instance"]: one["payload"] for one in events if one["type"] == "node.completed"}
    assert (done["score"]["output"], done["risk"]["handle"]) == ({"risk": 9}, "high")
    assert bo.http.get("/workflows").json().get("workflows", []) == [], "nothing was published"
    page.locator(".testbar a").click()
    page.locator(".run-head").get_by_text("pinned: score").wait_for()
    assert faults == []
