"""Split a page into passages, each short enough to stand in a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plastic_memories.formats.pages.page_lines import LineKind, PageLine, bare_text, parse_page
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
    pieces: tuple[PagePiece, ...]
    codes: bytes  # of its terms, packed: the pages of one user may have a million of them


@dataclass(frozen=True, slots=True)
class IndexedPage:
    passages: tuple[IndexedPassage, ...] = ()
    codes: bytes = b""  # of the terms of all passages


def index_page(text: str, title: str) -> IndexedPage:
    """Return the passages of a page, each with its heading, and their terms.

    >>> found = index_page("## 茶\\n- 乌龙\\n", "").passages
    >>> [[piece.text for piece in one.pieces] for one in found]
    [['## 茶', '- 乌龙']]
    """
    terms_of_page: dict[str, None] = {}
    passages: list[IndexedPassage] = []
    for pieces in _passages(parse_page(text), title):
        terms = dict.fromkeys(index_terms("\n".join(piece.text for piece in pieces)))
        terms_of_page |= terms
        passages.append(IndexedPassage(pieces, term_codes(list(terms))))
    return IndexedPage(tuple(passages), term_codes(list(terms_of_page)))


def has_term(codes: bytes, packed: bytes) -> bool:
    """Return whether packed codes contain that of one term."""
    # A match between two codes is chance, and as rare as two terms with one code.
    return codes.find(packed) % _CODE_BYTES == 0


def pack_term(term: str) -> bytes:
    """Return the code of one term, to be looked for in a passage."""
    return term_codes([term])


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
