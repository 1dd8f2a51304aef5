# Generated from async_methods/transfer.py (`make docs`); do not edit.
"""Methods for export and import of everything a user owns."""

from __future__ import annotations

from collections.abc import Generator
from os import PathLike
from pathlib import Path

from ..connection import FAILURES
from ..models import ExportedFile, Imported, ImportUndone
from ..options import ExportFormat, Lines
from ..partial_file import partial_file
from ..protocol import Reply, check
from .sender import Sender


class Transfer(Sender):
    def export(self, format: ExportFormat = "jsonl") -> bytes:  # noqa: A002 - the contract's word
        """Return everything the user owns as one file."""
        return self._send(self._calls.export(format))

    def export_iter(self, format: ExportFormat = "jsonl") -> Generator[bytes]:  # noqa: A002
        """Yield the same file in chunks."""
        request = self._http.build_request(**self._connection.request(self._calls.export(format)))
        try:
            response = self._http.send(request, stream=True)
            try:
                if response.is_error:
                    check(Reply(response.status_code, response.headers, response.read()))
                yield from response.iter_bytes()
            finally:
                response.close()
        except FAILURES as error:
            raise self._connection.unreachable_error(error) from error

    def export_to(
        self,
        path: str | PathLike[str],
        format: ExportFormat = "jsonl",  # noqa: A002
    ) -> Path:
        """Save the same file; `path` is written completely or not at all."""
        with partial_file(path) as file:
            for piece in self.export_iter(format):
                file.write(piece)
        return Path(path)

    def export_file(self) -> ExportedFile:
        """Export everything the user owns to a file in the hub's archive."""
        return self._send(self._calls.export_file())

    def export_files(self) -> list[ExportedFile]:
        """Return the exports in the archive, newest first."""
        return self._send(self._calls.export_files())

    def import_(
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
        call = self._calls.import_lines(source, dry_run, trust, import_id)
        return self._send(call)

    def import_undo(self, import_id: int) -> ImportUndone:
        """Take back what an import added, except what was changed or used since."""
        return self._send(self._calls.import_undo(import_id))
