"""The address of a database server, also from the variables of older set-ups."""

from __future__ import annotations

import pytest

from plastic_memories.adapters.mysql.connection import connection_parameters
from plastic_memories.errors import InvalidSetting
from plastic_memories.settings import load_settings

OLDER = {
    "POSTGRES_HOST": "db", "POSTGRES_PORT": "5433", "POSTGRES_DB": "memories",
    "POSTGRES_USER": "plastic", "POSTGRES_PASSWORD": "p@ss/word",
}  # fmt: skip


def test_older_variables_make_the_address() -> None:
    settings = load_settings({**OLDER, "PLASTIC_MEMORIES_BACKEND": "postgres"})

    assert settings.database_url == "postgresql://plastic:p%40ss%2Fword@db:5433/memories"
    assert settings.replaced_variables == {}


def test_an_address_that_is_given_wins() -> None:
    url = "postgresql://elsewhere/x"
    settings = load_settings(
        {**OLDER, "PLASTIC_MEMORIES_BACKEND": "postgres", "PLASTIC_MEMORIES_DATABASE_URL": url}
    )

    assert settings.database_url == url


def test_variables_of_another_program_choose_no_backend() -> None:
    settings = load_settings(OLDER)

    assert (settings.backend, settings.database_url) == ("sqlite", "")
    assert set(settings.replaced_variables) == set(OLDER)


def test_an_address_is_not_shown_with_the_settings() -> None:
    settings = load_settings({**OLDER, "PLASTIC_MEMORIES_BACKEND": "postgres"})

    assert "word" not in repr(settings)


def test_an_address_of_mysql_is_taken_apart() -> None:
    found = connection_parameters("mysql://plastic:p%40ss@db:3307/memories")

    assert found == {
        "host": "db", "port": 3307, "user": "plastic", "password": "p@ss", "database": "memories",
    }  # fmt: skip


@pytest.mark.parametrize("url", ["postgresql://u:secret@h/x", "mysql://u:secret@h", "secret"])
def test_an_address_of_another_kind_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        connection_parameters(url)

    assert "secret" not in str(refused.value)
