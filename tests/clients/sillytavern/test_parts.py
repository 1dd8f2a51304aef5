"""The plain parts of the SillyTavern extension, by the tests that lie beside them."""

from __future__ import annotations

import subprocess

import pytest

from tavern_parts import EXTENSION

pytestmark = pytest.mark.external


def test_the_parts_of_the_extension_do_what_their_tests_say() -> None:
    files = sorted(str(path) for path in (EXTENSION / "tests").glob("*.test.js"))

    done = subprocess.run(
        ["node", "--test", *files], capture_output=True, text=True, timeout=60, check=False
    )

    assert files
    assert done.returncode == 0, done.stdout
