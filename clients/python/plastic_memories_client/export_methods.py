"""What both clients do with full exports in the hub's archive."""

from __future__ import annotations

from typing import TypeVar

from .calls import Calls
from .models import ExportedFile
from .protocol import Call

T = TypeVar("T")


class ExportMethods:
    _calls: Calls

    def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    def export_file(self) -> ExportedFile:
        """Have the hub write everything of the user's into one file of its archive."""
        return self._send(self._calls.export_file())

    def export_files(self) -> list[ExportedFile]:
        """Return the exports that lie in the archive, newest first."""
        return self._send(self._calls.export_files())


class AsyncExportMethods:
    _calls: Calls

    async def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    async def export_file(self) -> ExportedFile:
        """Have the hub write everything of the user's into one file of its archive."""
        return await self._send(self._calls.export_file())

    async def export_files(self) -> list[ExportedFile]:
        """Return the exports that lie in the archive, newest first."""
        return await self._send(self._calls.export_files())
