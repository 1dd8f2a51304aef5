"""/persona/import_card, /persona/export_card"""

from __future__ import annotations

import os
from pathlib import Path

from ..models import CardImported
from ..options import CardFormat
from ..protocol import Call, file, get, result
from .origin import CallsFrom

CardSource = bytes | str | os.PathLike[str]


class CardCalls(CallsFrom):
    """Personas as character cards."""

    __slots__ = ()

    def import_card(
        self, source: CardSource, persona_id: str | None, allow_overwrite: bool, memories: bool
    ) -> Call[CardImported]:
        content = source if isinstance(source, bytes) else Path(source).read_bytes()
        return Call(
            method="POST",
            path="/persona/import_card",
            read=result(CardImported),
            params=self.about(persona_id, allow_overwrite=allow_overwrite, memories=memories),
            content=content,
            content_type="application/octet-stream",
        )

    def export_card(
        self, persona_id: str | None, file_format: CardFormat, memories: bool
    ) -> Call[bytes]:
        params = self.about(persona_id, format=file_format, memories=memories)
        return get("/persona/export_card", file, params)
