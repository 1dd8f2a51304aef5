"""QR codes of short texts, such as a link for a phone."""

from __future__ import annotations

import io

import segno


def qr_rows(text: str) -> list[str]:
    """Return the code as rows of 0 and 1, without a border."""
    return ["".join("1" if dark else "0" for dark in row) for row in _code(text).matrix]


def qr_terminal_text(text: str) -> str:
    """Return the code as text for a terminal, two rows in each line."""
    out = io.StringIO()
    _code(text).terminal(out, compact=True, border=2)
    return out.getvalue()


def _code(text: str) -> segno.QRCode:
    return segno.make(text, error="l", micro=False)
