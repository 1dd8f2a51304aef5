"""The first API key of an installation: made once, shown once, stored in the key file."""

from __future__ import annotations

from plastic_memories.hub.api_keys import FIRST_KEY_LABEL, ApiKeys, new_key
from plastic_memories.hub.console.sign_in import SignIn
from plastic_memories.language.text.digests import api_key_digest
from plastic_memories.model.key import KeyLimits
from plastic_memories.runtime.private_files import make_private_folder, open_private_file
from plastic_memories.settings import DEFAULT_TENANT, Settings

FIRST_USER = "local"


def announce(settings: Settings, key: str | None) -> None:
    """Print a new key, once, on the screen and nowhere else."""
    if key is not None:
        print(f"\n  Your API key (kept in {settings.key_file}): {key}\n", flush=True)  # noqa: T201


async def ensure_first_key(keys: ApiKeys, settings: Settings) -> str | None:
    """Make sure there is a key; return its text if this call has made it.

    The key file outlives the database it was made for: its key is taken up again, so that a
    fresh database does not lock out the clients of this machine.
    """
    stored = await keys.list_keys()
    if keys.configured or any(key.revoked_at is None for key in stored):
        return None
    old_key = _read_key(settings)
    if old_key is not None and any(key.digest == api_key_digest(old_key) for key in stored):
        old_key = None  # it was revoked on purpose
    key = old_key or new_key()
    await keys.create(DEFAULT_TENANT, FIRST_USER, FIRST_KEY_LABEL, KeyLimits(), key=key)
    if old_key is not None:
        return None
    _save_key(settings, key)
    return key


async def operator_link(sign_in: SignIn, settings: Settings) -> str | None:
    """Return the secret of a link to the console for whoever runs this hub; None without a key.

    It signs in with the key of this machine, else with the first key that there is.
    """
    keys = sign_in.keys
    stored = [key for key in await keys.list_keys() if key.revoked_at is None]
    local = api_key_digest(_read_key(settings) or "")
    candidates = [*keys.configured, *stored]
    own = [key for key in candidates if key.digest == local]
    chosen = next(iter([*own, *candidates]), None)
    return None if chosen is None else await sign_in.create_link(chosen, is_admin=True)


def _read_key(settings: Settings) -> str | None:
    if not settings.key_file.is_file():
        return None
    return settings.key_file.read_text(encoding="utf-8").strip() or None


def _save_key(settings: Settings, key: str) -> None:
    make_private_folder(settings.key_file.parent)
    # Made with its mode, not changed to it: at no moment can another user read the key.
    with open(settings.key_file, "w", encoding="utf-8", opener=open_private_file) as file:
        file.write(key + "\n")
