"""The examples: the one source of docs/requests.http and examples/requests.http.

They are sent in order to an empty hub with PLASTIC_MEMORIES_API_KEYS=devkey:userA. Each says what
it expects, in lines of the form `status = 200`, `data.updated = true`, `body contains "…"`,
`data.goal_id exists`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

_KEY = {"X-API-Key": "devkey"}
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Example:
    title: str
    method: str
    path: str
    expect: Sequence[str]
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


def _post(title: str, path: str, fields: Mapping[str, Any], *expect: str) -> Example:
    body = {"persona_id": "p1", **fields}
    return Example(title, "POST", path, ("status = 200", *expect), {**_KEY, **_JSON}, body)


def _get(title: str, path: str, query: Mapping[str, Any], *expect: str) -> Example:
    text = f"?{urlencode(query)}" if query else ""
    return Example(title, "GET", path + text, ("status = 200", *expect), _KEY)


def _refused(title: str, path: str, fields: Mapping[str, Any], *expect: str) -> Example:
    return Example(title, "POST", path, expect, {**_KEY, **_JSON}, {"persona_id": "p1", **fields})


_P1 = {"persona_id": "p1"}

SLOTS = [
    _post(
        "E1 · A slot is written: it waits as a candidate",
        "/memory/write",
        {"type": "identity", "key": "id1", "content": "dev", "source_type": "user_explicit"},
        'data.memory_status = "candidate"',
        "data.memory_id = 1",
    ),
    _post(
        "E2 · Confirm it: active, and the slot is filled",
        "/memory/confirm",
        {"memory_id": 1},
        "data.updated = true",
        'data.memory_status = "active"',
    ),
    _post(
        "E2 · … as the slots show",
        "/persona/slots/get",
        {},
        'data.items[0].slot_name = "identity"',
        'data.items[0].value = "dev"',
        "data.items[0].provenance.active_memory_id = 1",
    ),
    _post(
        "E3 · A second identity is written",
        "/memory/write",
        {"type": "identity", "key": "id2", "content": "student"},
        'data.memory_status = "candidate"',
        "data.memory_id = 2",
    ),
    _refused(
        "E3 · Confirming it without saying what it replaces is a conflict",
        "/memory/confirm",
        {"memory_id": 2},
        "status = 409",
        'error.code = "conflict_requires_supersedes"',
        "error.detail.active_memory_id = 1",
        'error.detail.active_content = "dev"',
    ),
    _post(
        "E4 · Name what it replaces",
        "/memory/confirm",
        {"memory_id": 2, "supersedes_id": 1},
        "data.updated = true",
        'data.memory_status = "active"',
    ),
    _get(
        "E4 · … the first is revoked",
        "/memory/get",
        {**_P1, "memory_id": 1},
        'data.status = "revoked"',
        "data.superseded_by = 2",
    ),
    _post(
        "E4 · … and the slot has changed",
        "/persona/slots/get",
        {},
        'data.items[0].value = "student"',
        "data.items[0].provenance.active_memory_id = 2",
        "data.items[0].provenance.superseded = 1",
    ),
    _post(
        "E5 · Revoke: the row stays …",
        "/memory/revoke",
        {"memory_id": 2},
        "data.updated = true",
        'data.memory_status = "revoked"',
    ),
    _get("E5 · … in no list …", "/memory/list", _P1, "data.items = []"),
    _post(
        "E5 · … and in no recall",
        "/memory/recall",
        {"query": "student"},
        "data.PERSONA_MEMORY = []",
        'data.injection_block lacks "student"',
    ),
    _post(
        "E5 · Something to forget",
        "/memory/write",
        {"type": "preferences", "key": "pref-x", "content": "short answers"},
        "data.memory_id = 3",
    ),
    _post(
        "E5 · Forget: gone everywhere, with a receipt",
        "/memory/forget",
        {"type": "preferences", "key": "pref-x"},
        "data.deleted = 1",
        "data.memory_ids = [3]",
        "data.receipt.remaining.rows = 0",
        "data.receipt.remaining.text_index = 0",
    ),
    Example(
        "E5 · … the row does not exist any more",
        "GET",
        "/memory/get?persona_id=p1&memory_id=3",
        ("status = 404", 'error.code = "not_found"'),
        _KEY,
    ),
    _post("E6 · The slots show the change", "/persona/slots/get", {}, "data.items = []"),
]

GOALS = [
    _post(
        "E7 · Note a goal",
        "/goals/create",
        {"title": "Learn Rust", "details": "practice"},
        "data.goal_id = 1",
    ),
    _get(
        "E7 · List goals",
        "/goals/list",
        _P1,
        'data.items[0].title = "Learn Rust"',
        'data.items[0].status = "active"',
    ),
    _post(
        "E7 · It is reached",
        "/goals/update_status",
        {"goal_id": 1, "status": "done"},
        "data.updated = true",
    ),
    _post(
        "E7 · Tie a note to it",
        "/goals/link",
        {"goal_id": 1, "memory_id": None, "note": "start"},
        "data.link_id = 1",
    ),
]

REFUSALS = [
    Example(
        "E8 · Without a key nothing is looked at",
        "POST",
        "/memory/write",
        ("status = 401", 'error.code = "unauthorized"', "ok = false", "request_id exists"),
        _JSON,
        {},
    ),
    _refused(
        "E8 · With a key, what is missing is named",
        "/memory/write",
        {},
        "status = 422",
        'error.code = "validation_error"',
        "ok = false",
        "request_id exists",
    ),
    _refused(
        "A password is not stored, and not repeated in the refusal",
        "/memory/write",
        {"type": "note", "key": "login", "content": "我的密码是 hunter2-Xy91"},
        "status = 400",
        'error.code = "judge_deny"',
        'error.detail.category = "credential"',
        'body lacks "hunter2"',
    ),
]

KEEPING = [
    _post(
        "A plain fact, in English",
        "/memory/write",
        {"type": "fact", "key": "tea", "content": "Likes green tea in the morning"},
        'data.memory_status = "active"',
        "data.memory_id = 4",
    ),
    _post(
        "Many at once; a bad one does not stop the rest",
        "/memory/write",
        {
            "items": [
                {"type": "fact", "key": "cat", "content": "家里有一只叫豆豆的猫"},
                {"type": "no such type", "key": "x", "content": "x"},
            ]
        },
        "data.written = 1",
        "data.skipped[0].index = 1",
    ),
    _post(
        "Found by its words, in either language",
        "/memory/recall",
        {"query": "what tea?", "explain": True},
        'data.PERSONA_MEMORY[0].key = "tea"',
        'data.explain[0].found_by contains "text"',
    ),
    _post(
        "Correct a memory: a new version",
        "/memory/update",
        {"memory_id": 4, "content": "Likes oolong tea in the morning"},
        "data.updated = true",
        "data.memory_id = 6",
    ),
    _get(
        "… and its history",
        "/memory/history",
        {**_P1, "memory_id": 6},
        "data.items[0].id = 4",
        "data.items[1].id = 6",
    ),
    _get(
        "List, a page at a time",
        "/memory/list",
        {**_P1, "type": "fact", "limit": 1},
        "data.items[0].id = 6",
        "data.next_cursor exists",
    ),
    _post(
        "A candidate …",
        "/memory/write",
        {"type": "values", "key": "style", "content": "先给结论，再讲理由"},
        'data.memory_status = "candidate"',
        "data.memory_id = 7",
    ),
    _post("… and a no", "/memory/reject", {"memory_id": 7}, "data.updated = true"),
    _post(
        "Several at once: this one has its answer already",
        "/memory/reject",
        {"memory_ids": [7]},
        "data.updated = false",
        'data.items[0].memory_status = "revoked"',
    ),
    _refused(
        "The hub has done nothing by itself that could be undone",
        "/memory/undo",
        {"audit_id": 1},
        "status = 409",
        'error.code = "conflict"',
    ),
    _post(
        "What would be forgotten? Nothing is, yet",
        "/memory/forget",
        {"query": "豆豆", "dry_run": True},
        "data.deleted = 0",
        "data.memory_ids = [5]",
    ),
    _post(
        "Forget it, and never learn it again",
        "/memory/forget",
        {"memory_id": 5, "never_again": True},
        "data.deleted = 1",
        "data.receipt.never_again = true",
    ),
]

PAGES = [
    _post("The text index, made anew", "/memory/rebuild", {}, 'data.status = "ok"'),
    _post(
        "Write what is known into core.md, and take in what was written there",
        "/memory/pages/sync",
        {},
        'data.items[0].page = "memory://core"',
        'data.items[1].page = "memory://persona/core"',
    ),
    _get("Core page and index", "/memory/pages", _P1, 'data.core.id = "memory://core"'),
    _get("One page", "/memory/page", {**_P1, "page_id": "memory://core"}, "data.text exists"),
]

TALK = [
    _post(
        "Who the persona is",
        "/persona/create",
        {"display_name": "小忆", "description": "记性很好的朋友"},
        'data.persona.display_name = "小忆"',
    ),
    _refused(
        "A template lies below the template root; there is no way out of it",
        "/persona/create_from_template",
        {"template_path": "../elsewhere"},
        "status = 400",
        'error.code = "template_error"',
    ),
    _post(
        "The user's time zone and language",
        "/user/settings",
        {"time_zone": "Asia/Shanghai", "language": "zh"},
        'data.time_zone = "Asia/Shanghai"',
    ),
    _get("… as they are kept", "/user/settings", {}, 'data.language = "zh"'),
    _post(
        "Keep one message",
        "/messages/append",
        {"role": "user", "content": "请用默认中文", "session_id": "s1", "client_msg_id": "m1"},
        "data.message_id = 1",
    ),
    _post(
        "… the same client_msg_id again stores nothing new",
        "/messages/append",
        {"role": "user", "content": "请用默认中文", "session_id": "s1", "client_msg_id": "m1"},
        "data.message_id = 1",
        "data.deduped = [1]",
    ),
    _post(
        "Keep several at once",
        "/messages/append",
        {
            "session_id": "s1",
            "messages": [
                {"role": "user", "content": "回答工程化"},
                {"role": "assistant", "content": "好的。"},
            ],
        },
        "data.message_ids = [2, 3]",
    ),
    _get(
        "What was said last, newest first",
        "/messages/recent",
        {**_P1, "session_id": "s1"},
        "data.messages[0].id = 3",
        'data.messages[2].content = "请用默认中文"',
    ),
    _post(
        "Learn from talk: what the user says of themself is active at once",
        "/memory/write",
        {"messages": [{"role": "user", "content": "叫我 tcmiku，我对海鲜过敏"}]},
        "data.written = 2",
        'data.items[0].memory_status = "active"',
        'data.items[1].key = "constraint.allergy.seafood"',
    ),
    _post(
        "Recall: the allergy comes whatever the question is",
        "/memory/recall",
        {"query": "晚饭推荐什么？"},
        'data.injection_block contains "我对海鲜过敏"',
        'data.injection_block contains "tcmiku"',
        'data.injection_block contains "请用默认中文"',
        'data.injection_block contains "回答工程化"',
        "data.degraded = []",
    ),
    _get(
        "The profile, as Markdown",
        "/persona/profile",
        _P1,
        'data.profile_markdown contains "小忆"',
        'data.profile_markdown contains "tcmiku"',
    ),
]

FORMATION = [
    _post(
        "Talk that will be digested",
        "/messages/append",
        {
            "session_id": "f1",
            "messages": [
                {"role": "user", "content": "我生日是2月29日", "client_msg_id": "f1-1"},
                {"role": "assistant", "content": "记住了。"},
                {"role": "user", "content": "我对花生过敏", "client_msg_id": "f1-3"},
            ],
        },
        "data.message_ids exists",
    ),
    _post(
        "Have it digested now, and wait for it",
        "/jobs/run",
        {"session_id": "f1", "wait": True},
        'data.job.status = "completed"',
        'data.job.trigger = "explicit"',
    ),
    _get(
        "What comes up", "/events/upcoming", {**_P1, "days": 366}, "data.items[0].next_date exists"
    ),
    _post(
        "Change what was said: what was learned from it follows",
        "/messages/edit",
        {"client_msg_id": "f1-3", "content": "我对芒果过敏"},
        "data.retracted exists",
        "data.rederived exists",
    ),
    _post(
        "Another reply in the place of one (a swipe)",
        "/messages/replace",
        {"message_id": 5, "content": "好，二月二十九日。"},
        "data.message_id = 5",
    ),
    _post(
        "A second way on from a message",
        "/messages/branch",
        {"session_id": "f1", "from_message_id": 4},
        "data.branch_id exists",
    ),
    _post(
        "Take a message back, and what was learned from it",
        "/messages/delete",
        {"client_msg_id": "f1-3"},
        "data.retracted exists",
    ),
    _post(
        "A session that is a story: what is said there is not about the user",
        "/sessions/update",
        {"session_id": "story-1", "realm": "story"},
        'data.session.realm = "story"',
    ),
    _post(
        "The end of a conversation: it is digested and archived",
        "/sessions/end",
        {"session_id": "f1"},
        'data.job.trigger = "session_end"',
    ),
    _get(
        "Finished conversations, the last begun first",
        "/archive/list",
        {**_P1, "limit": 10},
        "data.items exists",
    ),
    Example(
        "One of them with its messages; one that is not archived is not found",
        "GET",
        "/archive/get?persona_id=p1&session_id=nowhere",
        ("status = 404", 'error.code = "not_found"'),
        _KEY,
    ),
    _post(
        "Take a whole conversation back, but for its main line",
        "/messages/delete",
        {"session_id": "f1", "all": True, "keep_branches": [""]},
        "data.deleted = 0",
    ),
    _get("Jobs, newest first", "/jobs", {}, "data.items[0].task_id exists"),
    Example(
        "Try again what was given up",
        "POST",
        "/jobs/replay",
        ("status = 200", "data.replayed = 0"),
        {**_KEY, **_JSON},
        {"status": "dead"},
    ),
]

OPERATIONS = [
    Example("Health needs no key", "GET", "/health", ("status = 200", 'data.status = "ok"')),
    _get("What is plugged in", "/capabilities", {}, 'data.plugged_in.storage = "sqlite"'),
    _get("Metrics, as Prometheus text", "/metrics", {}, 'body contains "# TYPE"'),
    _get("Personas", "/persona/list", {}, 'data.items[0].persona_id = "p1"'),
    _get(
        "Everything of mine, as JSON lines",
        "/export",
        {"format": "jsonl"},
        'body contains "我对海鲜过敏"',
        'body lacks "豆豆"',
    ),
    _get("… and as Markdown", "/export", {"format": "markdown"}, 'body contains "我对海鲜过敏"'),
    Example(
        "Everything of mine, as a file in the archive",
        "POST",
        "/export/file",
        ("status = 200", "data.path exists"),
        {**_KEY, **_JSON},
        {},
    ),
    _get("… and which of them are there", "/export/files", {}, "data.items[0].path exists"),
    Example(
        "Take in an export; a dry run only says what would happen",
        "POST",
        "/import?dry_run=true",
        ("status = 200", "data.dry_run = true", "data.counts exists"),
        {**_KEY, "Content-Type": "application/x-ndjson"},
        '{"kind": "plastic_memories", "version": 1}\n'
        '{"kind": "persona", "persona_id": "p2", "display_name": "Two"}',
    ),
    Example(
        "Take an import back, by the import_id of its answer",
        "POST",
        "/import/undo",
        ("status = 404", 'error.code = "not_found"'),
        {**_KEY, **_JSON},
        {"import_id": 999_999},
    ),
    _get("Who changed what", "/audit", {"memory_id": 1}, 'data.items[0].event = "memory.write"'),
    _post(
        "Erase the messages of a session",
        "/messages/purge",
        {"session_id": "s1", "all": True},
        "data.deleted = 3",
    ),
    _post(
        "Erase a persona with everything it holds",
        "/persona/delete",
        {"confirm": "p1"},
        "data.receipt exists",
    ),
    _get("… it is gone", "/persona/list", {}, "data.items = []"),
    Example(
        "A persona from a template",
        "POST",
        "/persona/create_from_template",
        ("status = 200", 'data.applied contains "persona:persona"', "data.skipped = []"),
        {**_KEY, **_JSON},
        {"persona_id": "p2", "template_path": "personas/engineer"},
    ),
    Example(
        "A persona from a character card: the body is the file, PNG or JSON",
        "POST",
        "/persona/import_card?persona_id=p3",
        ("status = 200", 'data.name = "Tom"', 'data.applied contains "card"'),
        {**_KEY, **_JSON},
        {"name": "Tom", "description": "{{char}} keeps the lighthouse."},
    ),
    _get(
        "A persona as a character card",
        "/persona/export_card",
        {"persona_id": "p3", "format": "json"},
        'body contains "lighthouse"',
    ),
    _get(
        "What “forget that” in the chat has hidden",
        "/memory/forget/pending",
        _P1,
        "data.items = []",
    ),
    Example(
        "Undo a “forget that”, as long as it is not final",
        "POST",
        "/memory/forget/undo",
        ("status = 404", 'error.code = "not_found"'),
        {**_KEY, **_JSON},
        {"persona_id": "p1", "forget_id": 99},
    ),
    Example(
        "Erase everything of the user",
        "POST",
        "/user/erase",
        ("status = 200", "data.receipt exists"),
        {**_KEY, **_JSON},
        {"confirm": "userA"},
    ),
]

# They answer with 200 where PLASTIC_MEMORIES_PROXY_UPSTREAM_URL names a server.
PROXY = [
    Example(
        "A chat through the proxy; without an upstream it says what to do",
        "POST",
        "/v1/chat/completions",
        ("status = 503", 'error.code = "upstream_not_configured"'),
        {"Authorization": "Bearer devkey", "X-Persona-Id": "p1", "X-Session-Id": "s1", **_JSON},
        {"model": "qwen3", "messages": [{"role": "user", "content": "晚饭吃什么？"}]},
    ),
    Example(
        "The models of the upstream",
        "GET",
        "/v1/models",
        ("status = 503",),
        {"Authorization": "Bearer devkey"},
    ),
]

REQUESTS: list[Example] = [
    *SLOTS,
    *GOALS,
    *REFUSALS,
    *KEEPING,
    *TALK,
    *PAGES,
    *FORMATION,
    *OPERATIONS,
    *PROXY,
]
