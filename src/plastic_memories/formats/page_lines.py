"""Parse the lines of a core page into statements, each with the id of its memory.

One line is one memory. A synchronised line ends in an anchor, `^pm-12`: the id of the memory's
first version, in the form of an Obsidian block id.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from plastic_memories.formats.markdown_page import front_matter_lines, front_matter_title
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.tokens import normalise
from plastic_memories.model.owner import User

MARKER = "<!-- plastic-memories -->"
_LINES = regex(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")
_FENCE = regex(r"^ {0,3}(```+|~~~+)")
_HEADING = regex(r"^ {0,3}(#{1,6})(?:[ \t]|$)")
_RULE = regex(r"^\s*(?:([-*_=])(?:\s*\1){2,}|=+)\s*$")
_NON_STATEMENT = regex(r"^\s*(?:>|\||!\[)")
_LIST_PREFIX = regex(r"^\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+|\d{1,3}、\s*)?(?:\[[ xX]\]\s+)?")
_ANCHOR = regex(r"(?:^|(?<!\s)\s++)\^pm-(\d{1,15})\s*+$")


class LineKind(Enum):
    STATEMENT = 1
    HEADING = 2
    SHOWN = 3  # quotes, tables, code: part of the page, but not a statement
    HIDDEN = 4  # front matter and comments
    BLANK = 5


@dataclass(frozen=True, slots=True)
class PageLine:
    """One line of a page: its statement, if any, and the memory it belongs to."""

    raw: str
    ending: str
    kind: LineKind
    opening: str = ""
    text: str = ""
    root: int | None = None
    level: int = 0

    @property
    def without_anchor(self) -> str:
        return (_ANCHOR.sub("", self.raw) if self.root is not None else self.raw).rstrip()

    @property
    def display_text(self) -> str:
        """The text of the line, whether it is a statement or not."""
        return self.text or self.without_anchor.strip()


def statement_digest(text: str) -> str:
    """Return the digest that is stored of a synchronised statement, to detect a change."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def mute_digest(secret: bytes, user: User, line: str) -> str:
    """Return the keyed digest of a line that must not be shown."""
    text = json.dumps([user.tenant_id, user.user_id, normalise(bare_text(line))])
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


def bare_text(line: str) -> str:
    """Return the text of a line without list markers and anchor, whether it is a statement or not.

    >>> bare_text("  - 喜欢茶 ^pm-1"), bare_text("## 茶")
    ('喜欢茶', '茶')
    """
    opening = _LIST_PREFIX.match(line)
    rest = line[len(opening[0]) :] if opening else line
    return _ANCHOR.sub("", rest).strip(" \t\r\n#>|")


def parse_page(text: str) -> list[PageLine]:
    """Parse a page; joining the raw lines and their endings gives the page again."""
    pieces = _LINES.findall(text.removeprefix("\ufeff"))
    texts = [piece.rstrip("\r\n") for piece in pieces]
    endings = [piece[len(line) :] for piece, line in zip(pieces, texts, strict=True)]
    front = front_matter_lines(texts)
    state = _BlockState()
    kinds = [LineKind.HIDDEN] * front + [state.line_kind(line) for line in texts[front:]]
    _hide_headings(texts, kinds, front_matter_title(texts[:front]))
    return [_parse_line(*parts) for parts in zip(texts, endings, kinds, strict=True)]


def _hide_headings(texts: Sequence[str], kinds: list[LineKind], title: str) -> None:
    """Hide the page's title and the heading above our marker: the prompt has its own headings."""
    if title and f"# {title}" in texts:
        kinds[texts.index(f"# {title}")] = LineKind.HIDDEN
    above = texts.index(MARKER) - 1 if MARKER in texts else -1
    while above >= 0 and kinds[above] is LineKind.BLANK:
        above -= 1
    if above >= 0 and kinds[above] is LineKind.HEADING:
        kinds[above] = LineKind.HIDDEN


@dataclass(slots=True)
class _BlockState:
    """Code fence or comment that earlier lines have opened."""

    fence: str = ""
    comment: bool = False

    def line_kind(self, line: str) -> LineKind:
        if self.comment or line.lstrip().startswith("<!--"):
            self.comment = "-->" not in line
            return LineKind.HIDDEN
        fence = _FENCE.match(line)
        if self.fence or fence:
            closes = fence and fence[1].startswith(self.fence)
            self.fence = "" if self.fence and closes else self.fence or (fence[1] if fence else "")
            return LineKind.SHOWN
        if not line.strip():
            return LineKind.BLANK
        if _HEADING.match(line):
            return LineKind.HEADING
        return (
            LineKind.SHOWN
            if _RULE.match(line) or _NON_STATEMENT.match(line)
            else LineKind.STATEMENT
        )


def _parse_line(raw: str, ending: str, kind: LineKind) -> PageLine:
    if kind is LineKind.HEADING:
        heading = _HEADING.match(raw)
        return PageLine(raw, ending, kind, level=len(heading[1]) if heading else 0)
    if kind is not LineKind.STATEMENT:
        return PageLine(raw, ending, kind)
    opening = _LIST_PREFIX.match(raw)
    start = opening[0] if opening else ""
    rest = raw[len(start) :]
    anchor = _ANCHOR.search(rest)
    root = int(anchor[1]) if anchor else None
    text = " ".join(_ANCHOR.sub("", rest).split())
    return (
        PageLine(raw, ending, kind, start, text, root)
        if text
        else PageLine(raw, ending, LineKind.SHOWN)
    )


def statement_of(content: str) -> str:
    """Return a memory's text as a statement of one line; '' if no line can express it.

    >>> statement_of("喜欢\\n  茶")
    '喜欢 茶'
    """
    [line] = parse_page(f"- {' '.join(content.split())}")
    return line.text


def anchored_line(text: str, root: int, opening: str = "- ", ending: str = "\n") -> PageLine:
    """Return the line that ties a statement to its memory."""
    return PageLine(f"{opening}{text} ^pm-{root}", ending, LineKind.STATEMENT, opening, text, root)


def join_lines(lines: Sequence[PageLine]) -> str:
    return "".join(line.raw + line.ending for line in lines)


def visible_lines(
    lines: Sequence[PageLine], live: Collection[int], hidden: Callable[[str], bool]
) -> list[str]:
    """Return a page for readers: no comments, anchors, hidden lines or lines of gone memories."""
    kept = [
        line
        for line in lines
        if line.kind is not LineKind.HIDDEN
        and (line.root is None or line.root in live)
        and not hidden(line.display_text)
    ]
    return [line.without_anchor for line in _without_empty_sections(kept)]


def _without_empty_sections(lines: Sequence[PageLine]) -> list[PageLine]:
    """Return the lines without headings of empty sections and without repeated blank lines."""
    kept: list[PageLine] = []
    below: PageLine | None = None  # the next line that is not blank
    for line in reversed(lines):
        if line.kind is LineKind.BLANK:
            if kept and kept[-1].kind is not LineKind.BLANK:
                kept.append(line)
            continue
        is_empty = below is None or (below.kind is LineKind.HEADING and below.level <= line.level)
        if line.kind is LineKind.HEADING and is_empty:
            continue
        kept.append(line)
        below = line
    if kept and kept[-1].kind is LineKind.BLANK:
        kept.pop()
    return kept[::-1]
