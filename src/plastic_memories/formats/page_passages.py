"""Split a page into passages, each short enough to stand in a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plastic_memories.formats.page_lines import LineKind, PageLine, bare_text, parse_page
from plastic_memories.language.text.passages import sentence_groups
from plastic_memories.language.text.tokens import index_terms, term_codes

_MAX_PASSAGE_CHARS = 240
_MAX_PIECE_CHARS = 160
_CODE_BYTES = 4


@dataclass(frozen=True, slots=True)
class PagePiece:
    """A line of a page, or a part of a long line."""

    text: str
    line: str  # the whole line, by which it is hidden when it repeats something forgotten
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage and the codes of its terms, packed: a vault has a million of them."""

    pieces: tuple[PagePiece, ...]
    codes: bytes

    def matches(self, term_code: bytes) -> bool:
        # Misaligned codes are chance, and as rare as two terms with one code.
        return self.codes.find(term_code) % _CODE_BYTES == 0


def index_page(text: str, title: str) -> tuple[IndexedPassage, ...]:
    """Return the passages of a page, each with its heading.

    >>> [[piece.text for piece in one.pieces] for one in index_page("## 茶\\n- 乌龙\\n", "")]
    [['## 茶', '- 乌龙']]
    """
    found = (pieces for pieces in _passages(parse_page(text), title))
    return tuple(IndexedPassage(pieces, _packed_terms(pieces)) for pieces in found)


def pack_term(term: str) -> bytes:
    """Return the code of one term, to be looked for in a passage."""
    return term_codes([term])


def _packed_terms(pieces: Sequence[PagePiece]) -> bytes:
    text = "\n".join(piece.text for piece in pieces)
    return term_codes(list(dict.fromkeys(index_terms(text))))


def _passages(lines: Sequence[PageLine], title: str) -> Iterator[tuple[PagePiece, ...]]:
    heading: tuple[PagePiece, ...] = ()
    body: list[PagePiece] = []
    chars = 0
    for line in lines:
        starts_section = line.kind is LineKind.HEADING
        ends_paragraph = line.kind is LineKind.BLANK and chars > _MAX_PASSAGE_CHARS // 2
        if body and (starts_section or ends_paragraph):
            yield (*heading, *body)
            body, chars = [], 0
        if starts_section:
            heading = _heading_pieces(line, title)
            continue
        for piece in _line_pieces(line):
            if body and chars + len(piece.text) > _MAX_PASSAGE_CHARS:
                yield (*heading, *body)
                body, chars = [], 0
            body.append(piece)
            chars += len(piece.text)
    if body:
        yield (*heading, *body)


def _heading_pieces(line: PageLine, title: str) -> tuple[PagePiece, ...]:
    text = line.without_anchor.strip()[:_MAX_PIECE_CHARS]
    # The title of the page stands above its passages anyway.
    is_title = bare_text(text) == title
    return () if is_title else (PagePiece(text, line.display_text, is_heading=True),)


def _line_pieces(line: PageLine) -> Iterator[PagePiece]:
    if line.kind in (LineKind.HIDDEN, LineKind.BLANK):
        return
    text = line.without_anchor
    groups = [text] if len(text) <= _MAX_PIECE_CHARS else sentence_groups(text)
    for group in groups:
        # A text without any full stop is cut anywhere.
        for start in range(0, len(group), _MAX_PASSAGE_CHARS):
            yield PagePiece(group[start : start + _MAX_PASSAGE_CHARS], line.display_text)
