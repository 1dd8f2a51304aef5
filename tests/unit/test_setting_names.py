"""Which settings are known, what is said about others, and what replaces older variables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import environment
from plastic_memories import wiring
from plastic_memories.errors import InvalidSetting
from plastic_memories.settings import load_settings

PREFIX = "PLASTIC_MEMORIES_"


def _refusal(env: dict[str, str]) -> str:
    with pytest.raises(InvalidSetting) as raised:
        wiring.build_app(load_settings(env))
    assert "\n" not in raised.value.message
    return raised.value.message


@pytest.mark.parametrize(
    ("unknown", "nearest"),
    [
        ("DBPATH", "DB_PATH"),
        ("API_KEYZ", "API_KEYS"),
        ("LOGLEVEL", "LOG_LEVEL"),
        ("PROXY_UPSTREAM", "PROXY_UPSTREAM_URL"),
        ("SNIPPETS_DAYS", "SNIPPET_DAYS"),
    ],
)
def test_an_unknown_variable_stops_the_start_with_the_nearest_setting(
    tmp_path: Path, unknown: str, nearest: str
) -> None:
    message = _refusal(environment(tmp_path, **{unknown: "x"}))

    assert message.startswith(f"{PREFIX}{unknown}:")
    assert f"{PREFIX}{nearest}." in message


@pytest.mark.parametrize("name", ["dbpath", "PLASTIC_MEMORIES_DBPATH"])
def test_an_unknown_name_in_the_file_stops_the_start(tmp_path: Path, name: str) -> None:
    file = tmp_path / "hub.toml"
    file.write_text(f'port = 1\n{name} = "x"\n')

    message = _refusal(environment(tmp_path, config=str(file)))

    assert name in message
    assert f"{PREFIX}DB_PATH." in message


def test_an_unknown_variable_that_is_empty_counts_as_not_set(tmp_path: Path) -> None:
    assert load_settings(environment(tmp_path, dbpath="")).data_dir == tmp_path


@pytest.mark.parametrize(
    "name", ["API_KEY", "KEY", "URL", "USER", "PERSONA", "CLIENTS", "FUZZ_EXAMPLES"]
)
def test_variables_of_clients_and_tests_do_not_stop_the_start(tmp_path: Path, name: str) -> None:
    assert load_settings(environment(tmp_path, **{name: "5"})).data_dir == tmp_path


@pytest.mark.parametrize(
    ("name", "value", "nearest"),
    [
        ("queue", "kafka", "database"),
        ("recall", "hybird", "hybrid"),
        ("judge", "rule", "rules"),
        ("sensitive", "strickt", "strict"),
        ("archive", "file", "files"),
    ],
)
def test_an_unknown_implementation_stops_the_start_with_the_nearest(
    tmp_path: Path, name: str, value: str, nearest: str
) -> None:
    message = _refusal(environment(tmp_path, **{name: value}))

    assert message.startswith(f"{PREFIX}{name.upper()}")
    assert f"'{nearest}'" in message


def test_the_log_path_is_read_without_the_prefix(tmp_path: Path) -> None:
    settings = load_settings(
        {**environment(tmp_path, log_dir=str(tmp_path / "a")), "LOG_PATH": str(tmp_path / "b.log")}
    )

    assert settings.log_path == tmp_path / "b.log"


def test_the_log_path_with_the_prefix_wins_over_the_one_without(tmp_path: Path) -> None:
    env = environment(tmp_path, log_path=str(tmp_path / "a.log"))

    assert load_settings({**env, "LOG_PATH": "b.log"}).log_path == tmp_path / "a.log"


async def test_variables_of_older_set_ups_are_answered_in_the_log(tmp_path: Path) -> None:
    older = {
        "POSTGRES_HOST": "db",
        "POSTGRES_PASSWORD": "pg-private-word",
        "NEO4J_URI": "bolt://graph",
        "OPENAI_API_KEY": "key-of-older-days",
        "HISTORY_DB_PATH": "/old/history.db",
    }
    settings = load_settings({**environment(tmp_path, worker="off"), **older})

    async with wiring.open_hub(settings):
        pass

    text = settings.log_path.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    answered = {line["variable"]: line["msg"] for line in lines if "variable" in line}
    assert set(answered) == set(older)
    assert f"{PREFIX}DATABASE_URL" in answered["POSTGRES_HOST"]
    assert f"{PREFIX}LLM_API_KEY" in answered["OPENAI_API_KEY"]
    assert not [value for value in older.values() if value in text and len(value) > len("db")]


def test_the_proxys_upstream_can_read_the_talk() -> None:
    env = {
        "PLASTIC_MEMORIES_LLM": "upstream",
        "PLASTIC_MEMORIES_LLM_MODEL": "qwen",
        "PLASTIC_MEMORIES_PROXY_UPSTREAM_URL": "http://127.0.0.1:11434/v1",
        "PLASTIC_MEMORIES_PROXY_UPSTREAM_KEY": "k",
    }

    settings = load_settings(env)

    assert (settings.judge, settings.llm_base_url, settings.llm_api_key) == (
        "llm",
        "http://127.0.0.1:11434/v1",
        "k",
    )


def test_messages_are_kept_without_a_limit_of_age() -> None:
    settings = load_settings({})

    assert (settings.message_retention_days, settings.message_max_per_persona) == (0, 100_000)
