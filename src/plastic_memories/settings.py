"""Settings of an installation: the only module that reads the environment."""

from __future__ import annotations

import difflib
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
)

from plastic_memories.errors import InvalidSetting
from plastic_memories.language.text.digests import api_key_digest
from plastic_memories.model.key import ANY_USER, ApiKey

PREFIX = "PLASTIC_MEMORIES_"
DEFAULT_TENANT = "default"
# A page on this machine, on any port: desktop pets, SillyTavern, a console.
LOOPBACK_ORIGINS = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
_RATE = re.compile(r"^(\d+)/(s|second|m|minute|h|hour)$")
_WEB_SCHEMES = ("http://", "https://")
_PERIOD_S = {"s": 1, "m": 60, "h": 3600}
# Variables with the prefix that are no settings of the server: of clients and of tests.
_OTHER_VARIABLES = frozenset(
    {"CONFIG", "API_KEY", "KEY", "URL", "USER", "PERSONA", "LANGUAGE", "CLIENTS", "FUZZ_EXAMPLES"}
    | {"TEST_POSTGRES_URL", "TEST_MYSQL_URL"}
)
_POSTGRES = f"{PREFIX}BACKEND and {PREFIX}DATABASE_URL"
_POSTGRES_VARIABLES = (
    "POSTGRES_HOST", "POSTGRES_PORT", "POSTGRES_DB", "POSTGRES_USER", "POSTGRES_PASSWORD",
)  # fmt: skip
_NO_GRAPH = "nothing: relations are memories, no graph database is needed"
_REPLACEMENTS = {
    **dict.fromkeys(_POSTGRES_VARIABLES, _POSTGRES),
    "POSTGRES_COLLECTION_NAME": "nothing: vectors lie beside the memories",
    "NEO4J_URI": _NO_GRAPH,
    "NEO4J_USERNAME": _NO_GRAPH,
    "NEO4J_PASSWORD": _NO_GRAPH,
    "OPENAI_API_KEY": f"{PREFIX}LLM_API_KEY, {PREFIX}PROXY_UPSTREAM_KEY or "
    f"{PREFIX}EMBEDDER_API_KEY",
    "HISTORY_DB_PATH": f"{PREFIX}DB_PATH: the history of a memory lies in the database",
}

Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0)]


def _parse_flag(value: object) -> object:
    if isinstance(value, str) and value.lower() in ("1", "true", "yes", "on"):
        return True
    if isinstance(value, str) and value.lower() in ("0", "false", "no", "off"):
        return False
    return value


def _split_names(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


Flag = Annotated[bool, BeforeValidator(_parse_flag)]
Names = Annotated[tuple[str, ...], BeforeValidator(_split_names)]


class Settings(BaseModel):
    """All settings. A field `x_y` is the variable PLASTIC_MEMORIES_X_Y."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8007

    backend: str = "sqlite"
    recall: str = "hybrid"
    judge: str = "rules"
    profile: str = "markdown"
    sensitive: str = "strict"
    events: str = "ws"
    embedder: str = "auto"
    archive: str = "files"
    queue: Literal["database"] = "database"

    formation: Flag = True
    worker: Literal["inside", "off"] = "inside"
    worker_poll_s: Seconds = 1.0
    formation_threshold: Positive = 10
    formation_idle_s: Seconds = 1800
    formation_schedule_s: Seconds = 21_600
    consolidate: Flag = True
    consolidate_interval_s: Seconds = 21_600
    job_max_retries: Annotated[int, Field(ge=0, le=100)] = 3
    job_backoff_s: Seconds = 5.0
    job_lease_s: Seconds = 60.0
    job_concurrency: Annotated[int, Field(ge=1, le=64)] = 4

    data_dir: Path
    db_path: Path
    database_url: str = Field(default="", repr=False)
    database_connections: Annotated[int, Field(ge=2, le=1000)] = 10
    busy_timeout_ms: Annotated[int, Field(ge=0)] = 5000
    write_group: Annotated[int, Field(ge=1)] = 128
    template_root: Path
    archive_dir: Path
    memory_root: Path

    s3_bucket: str = ""
    s3_prefix: str = ""
    s3_endpoint: str = ""
    s3_region: str = ""
    s3_access_key: str = Field(default="", repr=False)
    s3_secret_key: str = Field(default="", repr=False)
    s3_addressing: Literal["auto", "path", "virtual"] = "auto"
    s3_expire_days: Positive | None = None

    log_dir: Path
    log_path: Path
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    api_keys: str = Field(default="", repr=False)
    cors_origins: Names = ()
    allowed_hosts: Names = ()
    rate_limit: str = ""
    wrong_keys_per_minute: Positive = 20
    max_connections: Positive = 800
    head_timeout_s: Seconds = 10.0
    max_event_sockets: Positive = 500
    max_event_sockets_per_key: Positive = 50
    metrics_public: Flag = False

    sensitive_contact: Literal["store", "refuse"] = "store"
    message_retention_days: Annotated[float, Field(ge=0)] | None = 0  # 0: no limit of age
    message_max_per_persona: Positive | None = 100_000
    audit_retention_days: Annotated[float, Field(gt=0)] | None = 365

    llm: Literal["none", "endpoint", "upstream"] = "none"
    llm_base_url: str = ""
    llm_api_key: str = Field(default="", repr=False)
    llm_model: str = ""
    llm_extraction_model: str = ""
    llm_timeout_s: Annotated[float, Field(gt=0)] = 60
    llm_window_tokens: Annotated[int, Field(ge=200)] = 3000
    llm_answer_tokens: Positive = 2000
    llm_tokens_per_day: Positive | None = None
    llm_price_in: Annotated[float, Field(ge=0)] = 0
    llm_price_out: Annotated[float, Field(ge=0)] = 0

    snippet_days: Annotated[float, Field(gt=0)] = 7
    snippet_limit: Annotated[int, Field(ge=0, le=200)] = 20
    recall_budget_tokens: Positive = 1000
    core_budget_tokens: Positive = 2000
    recall_deadline_ms: Positive = 1000
    recall_cache_mb: Positive = 256

    markdown: Literal["off", "read", "sync"] = "read"
    markdown_budget_tokens: Positive = 1000
    markdown_poll_s: Seconds = 5.0

    proxy_upstream_url: str = ""
    proxy_upstream_key: str = Field(default="", repr=False)
    proxy_recall_ms: Positive = 1200
    proxy_budget_tokens: Positive | None = None
    proxy_position: Literal["before_last_user", "depth", "system"] = "before_last_user"
    proxy_depth: Annotated[int, Field(ge=0, le=1000)] = 4
    proxy_role: Literal["system", "user", "assistant"] = "system"
    proxy_context_messages: Annotated[int, Field(ge=0, le=50)] = 2
    proxy_rewrite: Flag = False
    proxy_rewrite_prompt: str = ""
    proxy_rewrite_model: str = ""
    proxy_rewrite_ms: Positive = 1500
    proxy_connect_s: Seconds = 10
    proxy_first_byte_s: Seconds = 600
    proxy_idle_s: Seconds = 120

    embedder_model: str = ""
    embedder_threads: Annotated[int, Field(ge=1, le=64)] = 1
    embedder_base_url: str = ""
    embedder_api_key: str = Field(default="", repr=False)
    embedder_timeout_s: Annotated[float, Field(gt=0)] = 30
    embedder_hub_url: str = "https://huggingface.co"

    max_query_chars: Positive = 16_000
    max_content_chars: Positive = 32_000
    max_body_bytes: Positive = 8 * 1024 * 1024
    max_import_bytes: Positive = 256 * 1024 * 1024
    max_import_entries: Positive = 500_000
    max_card_entries: Positive = 5_000

    _replaced_variables: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def with_older_variables(self, names: Iterable[str]) -> Settings:
        """Return the settings of an environment that has these variables of older set-ups too."""
        self._replaced_variables = {name: _REPLACEMENTS[name] for name in names}
        return self

    @property
    def replaced_variables(self) -> Mapping[str, str]:
        """Return the variables of older set-ups that are set, and what replaces each."""
        return self._replaced_variables

    def shown_values(self) -> dict[str, tuple[str, bool]]:
        """Return each variable with its value, secrets masked, and whether it is the default."""
        shown: dict[str, tuple[str, bool]] = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            text = "" if value is None else str(value)
            is_secret = field.repr is False and bool(text)
            is_default = name not in self.model_fields_set or value == field.default
            shown[f"{PREFIX}{name.upper()}"] = ("••••" if is_secret else text, is_default)
        return shown

    @property
    def refuse_contact(self) -> bool:
        return self.sensitive_contact == "refuse"

    @property
    def key_file(self) -> Path:
        """Return the file with the first key of this installation, readable by its user only."""
        return self.data_dir / "key"

    @property
    def keys(self) -> tuple[ApiKey, ...]:
        return parse_keys(self.api_keys)

    @property
    def rate(self) -> tuple[int, float] | None:
        """Return requests and period in seconds per key; None for no limit."""
        if not self.rate_limit:
            return None
        match = _RATE.match(self.rate_limit)
        assert match, "checked at start"
        return int(match[1]), float(_PERIOD_S[match[2][0]])


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from the environment, and from the TOML file it may name."""
    env = os.environ if environ is None else environ
    given = _read_toml(env.get(f"{PREFIX}CONFIG")) | _read_environment(env)
    try:
        given = _with_postgres_address(_with_upstream_model(given), env)
        settings = Settings(**_split_embedder_model(_fill_paths(given, env)))
        _check_settings(settings)
    except ValidationError as error:
        raise InvalidSetting(_error_line(error)) from None
    used = _POSTGRES_VARIABLES if settings.backend == "postgres" else ()
    return settings.with_older_variables(
        name for name in _REPLACEMENTS if env.get(name) and name not in used
    )


def _read_environment(env: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of the environment by field; raise `InvalidSetting` for unknown ones."""
    given: dict[str, Any] = {"log_path": env["LOG_PATH"]} if env.get("LOG_PATH") else {}
    for name, value in env.items():
        setting = name.removeprefix(PREFIX)
        if not name.startswith(PREFIX) or value == "" or setting in _OTHER_VARIABLES:
            continue
        _check_name(setting.lower(), name)
        given[setting.lower()] = value
    return given


def _check_name(field: str, name: str) -> None:
    """Raise `InvalidSetting` for an unknown setting, with the most similar known one."""
    if field in Settings.model_fields:
        return
    similar = difflib.get_close_matches(field, Settings.model_fields, n=1, cutoff=0)
    raise InvalidSetting(
        f"{name}: there is no such setting; the nearest is {PREFIX}{similar[0].upper()}."
    )


def parse_keys(text: str) -> tuple[ApiKey, ...]:
    """Parse `key:user,key:*,key:tenant/user`; errors name an entry by position, not by text.

    >>> [(key.tenant_id, key.user_id) for key in parse_keys("a:alice, b:acme/*")]
    [('default', 'alice'), ('acme', '*')]
    """
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    return tuple(_parse_key(entry, place) for place, entry in enumerate(entries, start=1))


def _parse_key(entry: str, place: int) -> ApiKey:
    key, _, who = entry.partition(":")
    tenant, slash, user = who.partition("/")
    if not slash:
        tenant, user = DEFAULT_TENANT, who
    if not key.strip() or not tenant.strip() or not user.strip():
        raise InvalidSetting(
            f"{PREFIX}API_KEYS: entry {place} is not of the form key:user, key:*, "
            "key:tenant/user or key:tenant/*."
        )
    return ApiKey(
        id=0,
        digest=api_key_digest(key.strip()),
        tenant_id=tenant.strip(),
        user_id=user.strip(),
        label=f"environment key {place}" + (" (app)" if user.strip() == ANY_USER else ""),
    )


def _read_toml(path: str | None) -> dict[str, Any]:
    if not path:
        return {}
    try:
        with Path(path).expanduser().open("rb") as file:
            found = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise InvalidSetting(f"{PREFIX}CONFIG: {path} cannot be read: {error}") from error
    given: dict[str, Any] = {}
    for name, value in found.items():
        field = name.upper().removeprefix(PREFIX).lower()
        _check_name(field, f"{name} in {path}")
        given[field] = value
    return given


def _fill_paths(given: dict[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    """Fill in default paths: everything lies in the data folder unless set otherwise."""
    paths = {name: Path(str(given[name])).expanduser() for name in _PATHS if name in given}
    if "data_dir" not in paths:
        beside = paths["db_path"].absolute().parent if "db_path" in paths else None
        paths["data_dir"] = beside or _default_data_dir(env)
    paths.setdefault("db_path", paths["data_dir"] / "plastic_memories.db")
    paths.setdefault("log_dir", paths["data_dir"] / "logs")
    paths.setdefault("log_path", paths["log_dir"] / "plastic_memories.log")
    paths.setdefault("archive_dir", paths["data_dir"])
    paths.setdefault("memory_root", paths["data_dir"])
    paths.setdefault("template_root", _template_folder())
    return {**given, **paths}


def _split_embedder_model(given: dict[str, Any]) -> dict[str, Any]:
    """Split EMBEDDER=name:model into the two settings it abbreviates."""
    name, colon, model = str(given.get("embedder", "")).partition(":")
    return {**given, "embedder": name, "embedder_model": model} if colon else given


_PATHS = (
    "data_dir", "db_path", "log_dir", "log_path", "template_root", "archive_dir", "memory_root",
)  # fmt: skip


def _default_data_dir(env: Mapping[str, str]) -> Path:
    if sys.platform == "win32" and env.get("APPDATA"):
        return Path(env["APPDATA"]) / "PlasticMemories"
    return Path.home() / ".plastic_memories"


def _template_folder() -> Path:
    """Return the bundled templates: in the wheel, or in the checkout."""
    package = Path(__file__).parent
    in_wheel = package / "personas"
    return in_wheel if in_wheel.is_dir() else package.parent.parent / "personas"


def _with_upstream_model(given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with `LLM=upstream` spelled out: the proxy's upstream reads the talk."""
    if given.get("llm") != "upstream":
        return given
    return {
        **given,
        "judge": "llm",
        "llm_base_url": given.get("proxy_upstream_url", ""),
        "llm_api_key": given.get("proxy_upstream_key", ""),
    }


def _with_postgres_address(given: dict[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings with the address that POSTGRES_HOST and its like name, if none is given.

    Only if PostgreSQL is chosen: the same variables may be there for another program.
    """
    if given.get("backend") != "postgres" or given.get("database_url"):
        return given
    host, port, name, user, password = (env.get(variable, "") for variable in _POSTGRES_VARIABLES)
    if not host:
        return given
    login = f"{quote(user, safe='')}:{quote(password, safe='')}@" if user else ""
    url = f"postgresql://{login}{host}:{port or 5432}/{quote(name or 'postgres', safe='')}"
    return {**given, "database_url": url}


def _check_settings(settings: Settings) -> None:
    parse_keys(settings.api_keys)
    if settings.rate_limit and not _RATE.match(settings.rate_limit):
        raise InvalidSetting(
            f"{PREFIX}RATE_LIMIT: {settings.rate_limit!r} is not of the form 60/minute or 10/s."
        )
    if settings.proxy_upstream_url and not settings.proxy_upstream_url.startswith(_WEB_SCHEMES):
        raise InvalidSetting(
            f"{PREFIX}PROXY_UPSTREAM_URL: not an address such as http://127.0.0.1:11434/v1."
        )
    _check_model(settings)


def _check_model(settings: Settings) -> None:
    if settings.judge != "llm":
        return
    if not settings.llm_base_url.startswith(_WEB_SCHEMES):
        raise InvalidSetting(
            f"{PREFIX}LLM_BASE_URL: {PREFIX}JUDGE=llm needs the address of a model, such as "
            "http://127.0.0.1:11434/v1."
        )
    if not (settings.llm_model or settings.llm_extraction_model):
        raise InvalidSetting(f"{PREFIX}LLM_MODEL: {PREFIX}JUDGE=llm needs the name of a model.")


def _error_line(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    name = PREFIX + str(first["loc"][0]).upper()
    return f"{name}: {first['msg']}."
