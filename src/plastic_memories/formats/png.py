"""Read and write the text chunks of PNG files; all other chunks stay unchanged."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from plastic_memories.errors import TemplateError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEAD = struct.Struct(">I4s")
_CRC = struct.Struct(">I")
_TEXT, _FIRST, _LAST = b"tEXt", b"IHDR", b"IEND"
# A picture of a few megabytes has hundreds of chunks; millions of empty ones are an attack.
_MAX_CHUNKS = 20_000


@dataclass(frozen=True, slots=True)
class Chunk:
    kind: bytes
    content: bytes

    @property
    def keyword(self) -> bytes:
        """The keyword of a text chunk in lower case; empty for other chunks."""
        return self.content.partition(b"\0")[0].lower() if self.kind == _TEXT else b""

    @property
    def text(self) -> bytes:
        return self.content.partition(b"\0")[2]


@dataclass(frozen=True, slots=True)
class PngFile:
    """The chunks of a PNG file, and any bytes after its end."""

    chunks: Sequence[Chunk]
    trailing: bytes = b""

    def texts(self) -> dict[bytes, bytes]:
        """Return the text chunks by keyword; of two the first counts, as for other readers."""
        found: dict[bytes, bytes] = {}
        for chunk in self.chunks:
            if chunk.keyword:
                found.setdefault(chunk.keyword, chunk.text)
        return found

    def with_text(self, keyword: bytes, text: bytes) -> PngFile:
        """Return the picture with one text chunk replaced in place, or added at the end."""
        new = Chunk(_TEXT, keyword + b"\0" + text)
        if keyword not in self.texts():
            return PngFile([*self.chunks[:-1], new, self.chunks[-1]], self.trailing)
        first = next(i for i, chunk in enumerate(self.chunks) if chunk.keyword == keyword)
        kept = [
            new if place == first else chunk
            for place, chunk in enumerate(self.chunks)
            if place == first or chunk.keyword != keyword
        ]
        return PngFile(kept, self.trailing)

    def to_bytes(self) -> bytes:
        parts = [SIGNATURE]
        for chunk in self.chunks:
            crc = zlib.crc32(chunk.kind + chunk.content)
            parts += [_HEAD.pack(len(chunk.content), chunk.kind), chunk.content, _CRC.pack(crc)]
        return b"".join([*parts, self.trailing])


def parse_png(raw: bytes) -> PngFile:
    """Parse a PNG; raise `TemplateError` if it is not one, or is damaged."""
    if not raw.startswith(SIGNATURE):
        raise TemplateError("This is not a PNG file.")
    chunks: list[Chunk] = []
    place = len(SIGNATURE)
    while not chunks or chunks[-1].kind != _LAST:
        chunk, place = _parse_chunk(raw, place)
        chunks.append(chunk)
        if len(chunks) > _MAX_CHUNKS:
            raise TemplateError("The PNG has too many parts.")
    if chunks[0].kind != _FIRST:
        raise TemplateError("The PNG does not begin with its header.")
    return PngFile(chunks, raw[place:])


def _parse_chunk(raw: bytes, place: int) -> tuple[Chunk, int]:
    start = place + _HEAD.size
    if start > len(raw):
        raise TemplateError("The PNG ends too early.")
    length, kind = _HEAD.unpack_from(raw, place)
    end = start + length
    if end + _CRC.size > len(raw):
        raise TemplateError("The PNG ends too early.")
    content = raw[start:end]
    (crc,) = _CRC.unpack_from(raw, end)
    if crc != zlib.crc32(kind + content):
        raise TemplateError("The PNG is damaged: a checksum does not fit.")
    return Chunk(kind, content), end + _CRC.size


def blank_png(width: int = 256, height: int = 384) -> PngFile:
    """Return a picture of one colour, for cards without a picture."""
    shade = b"\x00" + bytes((86, 98, 134)) * width  # a filter byte, then the pixels of a row
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(shade * height, 9)
    return PngFile([Chunk(_FIRST, header), Chunk(b"IDAT", pixels), Chunk(_LAST, b"")])
