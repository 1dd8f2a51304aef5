"""Every method that is one request: what it is called with and what must go over the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from plastic_memories_client import Message

P = {"persona_id": "default"}
TALK = {**P, "source_app": "python_sdk"}


@dataclass(frozen=True)
class Route:
    """`client.<name>(*args, **kwargs)` must ask `method path` for `sent`."""

    name: str
    method: str
    path: str
    sent: dict[str, Any] = field(default_factory=dict)
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def route(name: str, where: str, sent: dict[str, Any], *args: Any, **kwargs: Any) -> Route:
    method, path = where.split()
    return Route(name, method, path, sent, args, kwargs)


HI = Message(role="user", content="hi")
SAID = {"role": "user", "content": "hi"}
ONE = {**P, "memory_id": "1"}

ROUTES = [
    route("health", "GET /health", {}),
    route("capabilities", "GET /capabilities", {}),
    route("metrics", "GET /metrics", {}),
    route("user_settings", "GET /user/settings", {}),
    route("user_settings_update", "POST /user/settings", {"language": "zh"}, language="zh"),
    route("persona_create", "POST /persona/create", {"persona_id": "p", "display_name": "P"},
          "p", display_name="P"),
    route("create_from_template", "POST /persona/create_from_template",
          {**P, "template_path": "cat", "allow_overwrite": False}, "cat"),
    route("export_card", "GET /persona/export_card",
          {**P, "format": "json", "memories": "true"}, format="json", memories=True),
    route("persona_list", "GET /persona/list", {}),
    route("persona_profile", "GET /persona/profile", P),
    route("slots", "POST /persona/slots/get", P),
    route("persona_delete", "POST /persona/delete", {"persona_id": "p", "confirm": "p"}, "p"),
    route("erase_user", "POST /user/erase", {"confirm": "u"}, "u"),
    route("recall", "POST /memory/recall", {**TALK, "query": "tea", "limit": 3}, "tea", limit=3),
    route("append_messages", "POST /messages/append",
          {**P, "messages": [{**SAID, "source_app": "python_sdk"}]}, HI),
    route("recent_messages", "GET /messages/recent", {**P, "limit": "5"}, limit=5),
    route("purge_messages", "POST /messages/purge", {**P, "all": True}, everything=True),
    route("message_edit", "POST /messages/edit", {**P, "message_id": 3, "content": "x"},
          "x", message_id=3),
    route("message_replace", "POST /messages/replace", {**P, "client_msg_id": "c", "content": "x"},
          "x", client_msg_id="c"),
    route("message_delete", "POST /messages/delete", {**P, "message_id": 3}, message_id=3),
    route("branch", "POST /messages/branch", {**P, "session_id": "s", "from_message_id": 3},
          3, session_id="s"),
    route("branch", "POST /messages/branch",
          {**P, "session_id": "s", "from_client_msg_id": "c", "branch_id": "b"},
          from_client_msg_id="c", branch_id="b", session_id="s"),
    route("session_end", "POST /sessions/end", {**P, "session_id": "s"}, "s"),
    route("session_delete", "POST /messages/delete",
          {**P, "session_id": "s", "all": True, "keep_branches": [""]}, "s", keep_branches=[""]),
    route("session_update", "POST /sessions/update", {**P, "session_id": "s", "realm": "story"},
          "story", session_id="s"),
    route("write", "POST /memory/write", {**TALK, "messages": [SAID], "confirm": True},
          [HI], confirm=True),
    route("write_item", "POST /memory/write",
          {**TALK, "type": "identity", "key": "id1", "content": "dev", "importance": 0.5},
          "identity", "id1", "dev", importance=0.5),
    route("write_items", "POST /memory/write",
          {**P, "items": [
              {"type": "note", "key": "k", "content": "c", "source_app": "python_sdk"}]},
          [{"type": "note", "key": "k", "content": "c"}]),
    route("confirm", "POST /memory/confirm", {**P, "memory_id": 2, "supersedes_id": 1},
          2, supersedes_id=1),
    route("reject", "POST /memory/reject", {**P, "memory_id": 1, "never_again": True},
          1, never_again=True),
    route("confirm_many", "POST /memory/confirm", {**P, "memory_ids": [1, 2]}, [1, 2]),
    route("reject_many", "POST /memory/reject",
          {**P, "memory_ids": [1, 2], "never_again": True}, [1, 2], never_again=True),
    route("pending_forgets", "GET /memory/forget/pending", P),
    route("undo_forget", "POST /memory/forget/undo", {**P, "forget_id": 4}, 4),
    route("undo", "POST /memory/undo", {**P, "audit_id": 7}, 7),
    route("revoke", "POST /memory/revoke", {**P, "memory_id": 1}, 1),
    route("forget_memory", "POST /memory/forget",
          {**P, "type": "preferences", "key": "pref-x", "never_again": True},
          "preferences", "pref-x", never_again=True),
    route("update_memory", "POST /memory/update", {**P, "memory_id": 1, "expires_at": None},
          1, expires_at=None),
    route("list_memory", "GET /memory/list", {**P, "status": "all", "q": "茶"},
          status="all", q="茶"),
    route("memory_get", "GET /memory/get", ONE, 1),
    route("memory_history", "GET /memory/history", ONE, 1),
    route("rebuild", "POST /memory/rebuild", P),
    route("pages", "GET /memory/pages", P),
    route("page", "GET /memory/page", {**P, "page_id": "memory://extended/x.md"},
          "memory://extended/x.md"),
    route("pages_sync", "POST /memory/pages/sync", P),
    route("goal_create", "POST /goals/create", {**P, "title": "Learn Rust", "details": "practice"},
          "Learn Rust", "practice"),
    route("goals", "GET /goals/list", {**P, "status": "active"}, "active"),
    route("goal_update_status", "POST /goals/update_status",
          {**P, "goal_id": 1, "status": "done"}, 1, "done"),
    route("goal_link", "POST /goals/link", {**P, "goal_id": 1, "note": "start"}, 1, note="start"),
    route("upcoming_events", "GET /events/upcoming", {**P, "days": "30"}),
    route("jobs", "GET /jobs", {"status": "dead"}, "dead"),
    route("jobs_run", "POST /jobs/run", {**P, "session_id": "s", "wait": True}, "s", wait=True),
    route("archive_list", "GET /archive/list", {**P, "since": "5.0", "limit": "2"},
          since=5.0, limit=2),
    route("archive_get", "GET /archive/get", {**P, "session_id": "s", "branch_id": "b"},
          "s", branch_id="b"),
    route("jobs_replay", "POST /jobs/replay", {"status": "dead"}, status="dead"),
    route("audit", "GET /audit", {"memory_id": "1"}, memory_id=1),
    route("export", "GET /export", {"format": "markdown"}, "markdown"),
    route("export_file", "POST /export/file", {}),
    route("export_files", "GET /export/files", {}),
    route("import_undo", "POST /import/undo", {"import_id": 3}, 3),
]  # fmt: skip
