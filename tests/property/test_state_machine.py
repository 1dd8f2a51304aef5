"""Random lives of several owners, on the real database and on a dict: the two must agree."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from harness import BASE_URL, Api, environment
from plastic_memories.model.owner import Owner
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.settings import load_settings
from plastic_memories.wiring import build_app

# A failure is made small before it is shown, and that takes its time.
pytestmark = pytest.mark.timeout(600)

SLOTS = ("identity", "preferences")
KINDS = ("fact", "profile", *SLOTS)
DRINKS = ("green tea", "咖啡", "海鲜汤", "mixed 奶茶 latte")
EVERYTHING = "likes " + " ".join(DRINKS)


@dataclass(frozen=True)
class Who:
    """One viewpoint: a key, perhaps a user behind it, a persona, perhaps a bot."""

    tag: str
    key: str
    persona: str
    user: str | None = None
    bot: str = ""

    @property
    def owner(self) -> Owner:
        tenant = "acme" if self.key == "acmekey" else "default"
        user = {"devkey": "userA", "devkey2": "userB"}.get(self.key, self.user or "")
        return Owner(tenant, user, self.persona)


WHO = (
    Who("ann", "devkey", "p1"),
    Who("ben", "devkey", "p2"),
    Who("cat", "devkey2", "p1"),
    Who("dan", "acmekey", "p1", user="userA"),
    Who("eve", "devkey", "p1", bot="b1"),
    Who("fay", "appkey", "p1", user="小明"),
)


@dataclass(frozen=True)
class Row:
    who: Who
    kind: str
    key: str
    content: str
    status: str
    root: int
    supersedes: int | None = None


class Lives(RuleBasedStateMachine):
    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, Row] = {}
        self.messages: dict[Who, list[str]] = {who: [] for who in WHO}
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.stack = AsyncExitStack()
        self.api = self.runner.run(self.open())

    async def open(self) -> Api:
        app = build_app(load_settings(environment(Path(self.folder.name), log_level="ERROR")))
        await self.stack.enter_async_context(app.router.lifespan_context(app))
        transport = httpx.ASGITransport(app)
        http = httpx.AsyncClient(transport=transport, base_url=BASE_URL)
        await self.stack.enter_async_context(http)
        return Api(http, app.state.hub)

    def teardown(self) -> None:
        self.runner.run(self.stack.aclose())
        self.runner.close()
        self.folder.cleanup()

    # What a caller does, and what it gets.

    def post(self, who: Who, path: str, **body: Any) -> tuple[int, Any]:
        caller = self.api.as_(who.key, who.user).of(who.persona)
        sent = {**body, "bot_id": who.bot} if who.bot else body
        answer = self.runner.run(caller.post(path, **sent))
        return answer.status_code, answer.json()

    def get(self, who: Who, path: str, **params: Any) -> Any:
        caller = self.api.as_(who.key, who.user).of(who.persona)
        sent = {**params, "bot_id": who.bot} if who.bot else params
        return self.runner.run(caller.saw(path, **sent))

    def alike(self, row: Row, status: str) -> list[int]:
        """Return the rows of a status in the same place as this one."""
        place = (row.who, row.kind, row.key, status)
        return [
            n for n, other in self.rows.items()
            if (other.who, other.kind, other.key, other.status) == place
        ]  # fmt: skip

    def rivals(self, row: Row) -> list[int]:
        if row.kind not in SLOTS:
            return self.alike(row, "active")
        place = (row.who, row.kind, "active")
        return [
            n for n, other in self.rows.items() if (other.who, other.kind, other.status) == place
        ]

    def end(self, ids: list[int]) -> None:
        for n in ids:
            self.rows[n] = replace(self.rows[n], status="revoked")

    # The steps.

    @rule(
        target=ids,
        who=st.sampled_from(WHO),
        kind=st.sampled_from(KINDS),
        key=st.sampled_from("ab"),
        drink=st.sampled_from(DRINKS),
        inferred=st.booleans(),
    )
    def write(self, who: Who, kind: str, key: str, drink: str, inferred: bool) -> Any:
        content = f"{who.tag} likes {drink}"
        source = "model_inferred" if inferred else "user_explicit"
        status, body = self.post(
            who, "/memory/write", type=kind, key=key, content=content, source_type=source
        )
        assert status == 200

        waits = kind in SLOTS or inferred
        new = Row(who, kind, key, content, "candidate" if waits else "active", 0)
        same = [n for n in self.alike(new, new.status) if self.rows[n].content == content]
        memory_id = body["data"]["memory_id"]
        assert body["data"]["memory_status"] == new.status
        if same:
            assert memory_id in same
            return multiple()
        assert memory_id not in self.rows
        replaced = [] if waits else self.alike(new, "active")
        root = self.rows[replaced[0]].root if replaced else memory_id
        self.end(replaced)
        self.rows[memory_id] = replace(new, root=root)
        return memory_id

    @rule(memory_id=ids, by=st.sampled_from(("none", "right", "wrong")), coexist=st.booleans())
    def confirm(self, memory_id: int, by: str, coexist: bool) -> None:
        row = self.rows.get(memory_id)
        if row is None or (coexist and row.kind != "preferences"):
            return
        rivals = sorted(self.rivals(row))
        named = {"none": None, "right": rivals[-1] if rivals else None, "wrong": 10**9}[by]
        status, body = self.post(
            row.who, "/memory/confirm", memory_id=memory_id, supersedes_id=named, coexist=coexist
        )

        if row.status != "candidate":
            assert (status, body["data"]["updated"]) == (200, False)
            return
        replaced = self.replaced(row, rivals, named, coexist)
        if replaced is None:
            assert status == 409
            return
        assert status == 200, body
        self.end(replaced)
        root = row.root
        if replaced:
            first = named or row.supersedes or replaced[0]
            root = self.rows[first if first in replaced else replaced[0]].root
        self.rows[memory_id] = replace(row, status="active", root=root)

    def replaced(
        self, row: Row, rivals: list[int], named: int | None, coexist: bool
    ) -> list[int] | None:
        """Return what a confirm replaces; None where it must be refused."""
        if not rivals:
            return None if named else []
        if row.kind not in SLOTS:
            return rivals if named in (None, *rivals) else None
        wanted = named or row.supersedes
        same_key = [n for n in rivals if self.rows[n].key == row.key]
        if wanted in rivals:
            return sorted({wanted, *same_key})  # type: ignore[type-var]
        return same_key if coexist and named is None else None

    @rule(memory_id=ids)
    def revoke(self, memory_id: int) -> None:
        row = self.rows.get(memory_id)
        if row is None:
            return
        status, body = self.post(row.who, "/memory/revoke", memory_id=memory_id)

        assert status == 200
        assert body["data"]["updated"] is (row.status in ("active", "candidate"))
        self.end([memory_id])

    @rule(target=ids, memory_id=ids, drink=st.sampled_from(DRINKS))
    def update(self, memory_id: int, drink: str) -> Any:
        row = self.rows.get(memory_id)
        if row is None:
            return multiple()
        content = f"{row.who.tag} likes {drink}"
        status, body = self.post(row.who, "/memory/update", memory_id=memory_id, content=content)

        if row.status == "revoked":
            assert status == 409
            return multiple()
        new_id = int(body["data"]["memory_id"])
        version = replace(row, content=content, supersedes=memory_id)
        if row.kind in SLOTS and row.status == "active":
            version = replace(version, status="candidate")
        else:
            self.end([memory_id])
        self.rows[new_id] = version
        return new_id

    @rule(memory_id=consumes(ids))
    def forget(self, memory_id: int) -> None:
        row = self.rows.get(memory_id)
        if row is None:
            return
        status, body = self.post(row.who, "/memory/forget", memory_id=memory_id)

        chain = {n for n, other in self.rows.items() if other.root == row.root}
        said = (row.who, row.kind, row.key, row.content)
        chain |= {n for n, o in self.rows.items() if (o.who, o.kind, o.key, o.content) == said}
        assert status == 200
        assert set(body["data"]["memory_ids"]) == chain
        assert set(body["data"]["receipt"]["remaining"].values()) == {0}
        for n in chain:
            del self.rows[n]

    @rule(memory_id=ids, stranger=st.sampled_from(WHO))
    def touch_a_strangers(self, memory_id: int, stranger: Who) -> None:
        row = self.rows.get(memory_id)
        if row is None or row.who == stranger:
            return
        paths = ("confirm", "revoke", "forget", "update", "reject")
        codes = {self.post(stranger, f"/memory/{path}", memory_id=memory_id)[0] for path in paths}

        assert codes == {404}

    @rule(who=st.sampled_from([who for who in WHO if not who.bot]), drink=st.sampled_from(DRINKS))
    def say(self, who: Who, drink: str) -> None:
        content = f"{who.tag} wants {drink}"
        status, _ = self.post(who, "/messages/append", role="user", content=content)

        assert status == 200
        self.messages[who].append(content)

    @rule(who=st.sampled_from([who for who in WHO if not who.bot]))
    def purge(self, who: Who) -> None:
        _, body = self.post(who, "/messages/purge", all=True)

        assert body["data"]["deleted"] == len(self.messages[who])
        self.messages[who].clear()

    @rule(who=st.sampled_from(WHO))
    def look(self, who: Who) -> None:
        mine = {n: row for n, row in self.rows.items() if row.who == who}
        active = {n for n, row in mine.items() if row.status == "active"}

        listed = self.get(who, "/memory/list", limit=200)
        _, found = self.post(who, "/memory/recall", query=EVERYTHING, limit=200)

        assert {row["id"] for row in listed["items"]} == active
        assert {row["id"] for row in found["data"]["PERSONA_MEMORY"]} == active
        snippets = [row["content"] for row in found["data"]["CHAT_SNIPPETS"]]
        assert snippets == self.messages[who][-20:]
        others = [other.tag for other in WHO if other != who]
        assert not any(f"{tag} " in str(found["data"]) + str(listed) for tag in others)

    # What holds after every step.

    @invariant()
    def the_database_says_what_the_dict_says(self) -> None:
        hub = self.api.hub
        assert hub is not None
        owners = {who.owner for who in WHO}

        stored, problems = self.runner.run(
            hub.storage.read(
                lambda stores: (
                    [row for o in owners for row in stores.memories.find(o, MemoryFilter())],
                    stores.upkeep.check(),
                )
            )
        )

        assert problems == []
        expected = {
            n: (row.who.owner, row.who.bot, row.kind, row.key, row.content, row.status)
            for n, row in self.rows.items()
        }
        assert {
            m.id: (m.owner, m.bot_id, m.type.value, m.key, m.content, m.status.value)
            for m in stored
        } == expected

    @rule(who=st.sampled_from(WHO))
    def look_at_the_slots(self, who: Who) -> None:
        _, body = self.post(who, "/persona/slots/get")
        found = {slot["slot_name"]: slot["value"] for slot in body["data"]["items"]}

        expected: dict[str, Any] = {}
        for kind in SLOTS:
            rows = [
                row.content
                for _, row in sorted(self.rows.items())
                if (row.who, row.kind, row.status) == (who, kind, "active")
            ]
            if rows:
                expected[kind] = rows[0] if len(rows) == 1 else rows
        assert found == expected


TestLives = Lives.TestCase
TestLives.settings = settings(
    settings.default, max_examples=25, stateful_step_count=25, deadline=None
)
