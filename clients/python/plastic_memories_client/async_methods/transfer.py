"""Methods for export and import of everything a user owns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from os import PathLike
from pathlib import Path

from ..connection import FAILURES
from ..models import ExportedFile, Imported, ImportUndone
from ..options import ExportFormat, Lines
from ..partial_file import partial_file
from ..protocol import Reply, check
from .sender import AsyncSender


class AsyncTransfer(AsyncSender):
    async def export(self, format: ExportFormat = "jsonl") -> bytes:  # noqa: A002 - the contract's word
        """Return everything the user owns as one file."""
        return await self._send(self._calls.export(format))

    async def export_iter(self, format: ExportFormat = "jsonl") -> AsyncGenerator[bytes]:  # noqa: A002
        """Yield the same file in chunks."""
        request = self._http.build_request(**self._connection.request(self._calls.export(format)))
        try:
            response = await self._http.send(request, stream=True)
            try:
                if response.is_error:
                    check(Reply(response.status_code, response.headers, await response.aread()))
                async for piece in response.aiter_bytes():
                    yield piece
            finally:
                await response.aclose()
        except FAILURES as error:
            raise self._connection.unreachable_error(error) from error

    async def export_to(
        self,
        path: str | PathLike[str],
        format: ExportFormat = "jsonl",  # noqa: A002
    ) -> Path:
        """Save the same file; `path` is written completely or not at all."""
        with partial_file(path) as file:
            async for piece in self.export_iter(format):
                await asyncio.to_thread(file.write, piece)
        return Path(path)

    async def export_file(self) -> ExportedFile:
        """Export everything the user owns to a file in the hub's archive."""
        return await self._send(self._calls.export_file())

    async def export_files(self) -> list[ExportedFile]:
        """Return the exports in the archive, newest first."""
        return await self._send(self._calls.export_files())

    async def import_(
        self,
        source: Lines,
        *,
        dry_run: bool = False,
        trust: bool = False,
        import_id: int | None = None,
    ) -> Imported:
        """Import JSON lines: a text, an iterable of lines, or a file named by a `Path`.

        `trust` keeps the statuses of a file that the hub did not write for this user itself.
        `import_id` continues an earlier import: both are undone together.
        """
        call = await asyncio.to_thread(  # it may read a file
            self._calls.import_lines, source, dry_run, trust, import_id
        )
        return await self._send(call)

    async def import_undo(self, import_id: int) -> ImportUndone:
        """Take back what an import added, except what was changed or used since."""
        return await self._send(self._calls.import_undo(import_id))
