"""The checks that `doctor` runs."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plastic_memories import __version__, plugins
from plastic_memories.adapters.markdown.templates import TemplateFolder
from plastic_memories.adapters.sqlite import doctor as database
from plastic_memories.adapters.sqlite.backup import restore_copies
from plastic_memories.cli.command_options import CliOptions
from plastic_memories.cli.hub_address import hub_address
from plastic_memories.cli.hub_connection import fetch_health, local_key
from plastic_memories.cli.installation import EMBEDDED_BACKEND, open_installed_storage
from plastic_memories.cli.output import counts_text, size_text
from plastic_memories.errors import InvalidSetting, Unavailable
from plastic_memories.model.job import Reconciliation
from plastic_memories.settings import Settings

OK, WARN, FAIL = "ok", "warn", "fail"
_MIN_PYTHON = (3, 11)
_LOW_SPACE_BYTES = 500_000_000
_MIN_SPACE_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check: status, findings, and advice."""

    name: str
    status: str
    found: str
    advice: str = ""


def program_checks() -> Iterator[Check]:
    """Check Python and SQLite."""
    is_new_enough = sys.version_info >= _MIN_PYTHON
    yield Check(
        "Python",
        OK if is_new_enough else FAIL,
        f"{platform.python_version()}, plastic-memories {__version__}",
        "" if is_new_enough else "Use Python 3.11 or newer.",
    )
    if database.can_search_text():
        yield Check("SQLite", OK, f"{database.sqlite_version()}, with full-text search")
    else:
        advice = "Recall works without an index, slowly. Install apsw from its wheel."
        yield Check("SQLite", WARN, f"{database.sqlite_version()}, without FTS5", advice)


def installation_checks(settings: Settings, options: CliOptions) -> Iterator[Check]:
    """Check everything the settings name."""
    yield _check_folder("data folder", settings)
    yield _check_key_file(settings)
    yield from _check_plugins(settings)
    yield from _check_database(settings)
    yield from _check_restore_copies(settings)
    yield _check_space(settings)
    yield _check_hub(settings, options)
    yield _check_templates(settings)
    yield _check_log(settings)


def _check_restore_copies(settings: Settings) -> Iterator[Check]:
    """Name the full copies that a restore has left beside the database."""
    for copy in restore_copies(settings.db_path):
        advice = "It is a full copy. Delete it when you no longer need it."
        yield Check("restore copy", WARN, str(copy), advice)


def _check_folder(name: str, settings: Settings) -> Check:
    folder = settings.data_dir
    nearest = next(one for one in (folder, *folder.parents) if one.exists())
    if not os.access(nearest, os.W_OK | os.X_OK):
        advice = f"Make {nearest} writable, or set PLASTIC_MEMORIES_DATA_DIR."
        return Check(name, FAIL, f"{folder} cannot be written to", advice)
    if nearest != folder:
        return Check(name, OK, f"{folder} is created at the first start")
    return Check(name, OK, str(folder))


def _check_key_file(settings: Settings) -> Check:
    path = settings.key_file
    if not path.is_file():
        keys = len(settings.keys)
        found = f"{keys} from the environment" if keys else "none yet; the first start creates one"
        return Check("key", OK, found)
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        return Check("key", FAIL, f"{path} can be read by others", f"Run: chmod 600 {path}")
    return Check("key", OK, str(path))


def _check_plugins(settings: Settings) -> Iterator[Check]:
    for port, variable in plugins.PORTS.items():
        chosen = getattr(settings, variable.lower())
        names = ", ".join(sorted(plugins.available_plugins(port)))
        try:
            plugins.plugin_factory(port, chosen)
        except InvalidSetting as error:
            advice = f"Choose one of: {names or 'none is installed'}."
            yield Check(f"plug-in {port}", FAIL, error.message, advice)
        else:
            yield Check(f"plug-in {port}", OK, f"{chosen} (installed: {names})")


def _check_database(settings: Settings) -> Iterator[Check]:
    if settings.backend != EMBEDDED_BACKEND:
        yield asyncio.run(_check_other_storage(settings))
        return
    path = settings.db_path
    if not path.exists():
        yield Check("database", OK, f"{path} is created at the first start")
        return
    try:
        seen = database.examine(path, settings.busy_timeout_ms)
    except Unavailable as error:
        advice = "Restore a backup: plastic-memories restore FILE."
        yield Check("database", FAIL, error.message, advice)
        return
    except InvalidSetting as error:  # a file of the older program: the message says what to do
        yield Check("database", FAIL, error.message)
        return
    yield _check_schema(seen)
    yield _check_contents(path.stat().st_size, seen)
    yield _check_messages(seen.messages)


def _check_schema(seen: database.Examination) -> Check:
    version, wanted = seen.schema_version, seen.wanted_version
    if version > wanted:
        return Check("schema", FAIL, f"{version}, newer than {wanted}", "Upgrade plastic-memories.")
    if version < wanted:
        return Check("schema", WARN, f"{version} of {wanted}", "Run: plastic-memories migrate")
    return Check("schema", OK, str(version))


def _check_contents(size_bytes: int, seen: database.Examination) -> Check:
    if not seen.problems:
        return Check("database", OK, f"{size_text(size_bytes)}, sound; {counts_text(seen.counts)}")
    about_rows = all(line[:1].isdigit() for line in seen.problems)
    advice = (
        "Run: plastic-memories doctor --fix"
        if about_rows
        else "Restore a backup: plastic-memories restore FILE."
    )
    return Check("database", FAIL, "; ".join(seen.problems[:3]), advice)


def _check_messages(found: Reconciliation) -> Check:
    """Check that every message is digested, pending or in the dead list; any other was lost."""
    numbers = f"{found.digested} digested, {found.waiting} waiting, {found.dead} dead"
    if found.lost:
        advice = "Run: plastic-memories doctor --fix, to queue them again."
        return Check("messages", FAIL, f"{found.lost} lost; {numbers}", advice)
    if found.dead:
        advice = "See why with: plastic-memories jobs list --status dead; then: jobs replay"
        return Check("messages", WARN, numbers, advice)
    return Check("messages", OK, numbers)


async def _check_other_storage(settings: Settings) -> Check:
    try:
        async with open_installed_storage(settings) as storage:
            problems = await storage.read(lambda stores: stores.upkeep.check())
    except (Unavailable, InvalidSetting) as error:
        return Check("database", FAIL, error.message, "Check that it runs and can be reached.")
    if problems:
        return Check("database", FAIL, "; ".join(problems[:3]), "Restore a backup.")
    return Check("database", OK, f"{settings.backend}, sound")


def _check_space(settings: Settings) -> Check:
    folder = settings.data_dir
    nearest = next(one for one in (folder, *folder.parents) if one.exists())
    free = shutil.disk_usage(nearest).free
    needed = settings.db_path.stat().st_size * 2 if settings.db_path.is_file() else 0
    if free < _MIN_SPACE_BYTES:
        return Check("disk", FAIL, f"{size_text(free)} free", "Make room: nothing can be stored.")
    if free < max(_LOW_SPACE_BYTES, needed):
        return Check("disk", WARN, f"{size_text(free)} free", "Make room for a backup at least.")
    return Check("disk", OK, f"{size_text(free)} free")


def _check_hub(settings: Settings, options: CliOptions) -> Check:
    url = options.url or hub_address(settings)
    known = asyncio.run(fetch_health(url, options.key or local_key(url, settings, options.user)))
    if known is None and options.url:
        return Check("hub", FAIL, f"none answers at {url}", "Run: plastic-memories serve")
    if known is None:
        found = f"none runs at {url}; commands open the database themselves"
        return Check("hub", OK, found)
    if known.get("status") != "ok":
        return Check("hub", FAIL, f"{url} is {known.get('status')}", "Look into the log file.")
    served = known.get("db_path")
    if served is None:
        advice = "Give its key with --key or PLASTIC_MEMORIES_API_KEY."
        return Check("hub", WARN, f"{url} is healthy, but does not know this key", advice)
    if Path(str(served)).resolve() != settings.db_path.resolve():
        advice = "Commands go there. Set the same PLASTIC_MEMORIES_DATA_DIR here, or another port."
        return Check("hub", WARN, f"{url} serves another database: {served}", advice)
    return Check("hub", OK, f"{url} is healthy, version {known.get('version')}")


def _check_templates(settings: Settings) -> Check:
    names = TemplateFolder(settings.template_root).names()
    if names:
        return Check("templates", OK, ", ".join(names))
    advice = "Only `persona template` needs them: set PLASTIC_MEMORIES_TEMPLATE_ROOT."
    return Check("templates", WARN, f"none in {settings.template_root}", advice)


def _check_log(settings: Settings) -> Check:
    path = settings.log_path
    if not path.exists():
        return Check("log", OK, f"{path} is created at the first start")
    if not os.access(path, os.W_OK):
        return Check("log", FAIL, f"{path} cannot be written to", "Make it writable.")
    return Check("log", OK, f"{path}, {size_text(path.stat().st_size)}")
