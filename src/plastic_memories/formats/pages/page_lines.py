"""Parse the lines of a core page into statements, each with the id of its memory.

One line is one memory. A synchronised line ends in an anchor, `^pm-12`: the id of the memory's
first version, in the form of an Obsidian block id.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from plastic_memories.formats.pages.markdown_page import front_matter_lines, front_matter_title
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
# Obsidian's comments, but not what looks like one inside code.
_CODE_OR_COMMENT = regex(r"(`[^`]*+`)|%%[^%]*+(?:%(?!%)[^%]*+)*+%%")
_COMMENT = "%%"
# A comment that its line does not close opens where a word could: not in 100%%.
_COMMENT_OPENING = regex(r"(?:^|(?<=\s))%%")
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
    uncommented: str | None = None  # without its %% comments %%, if it has some

    @property
    def without_anchor(self) -> str:
        shown = self.raw if self.uncommented is None else self.uncommented
        return (_ANCHOR.sub("", shown) if self.root is not None else shown).rstrip()

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
    marked = [number for number, line in enumerate(texts) if _COMMENT in line]
    state = _BlockState(last_comment=marked[-1] if marked else -1)
    found = [state.line_kind(number, line) for number, line in enumerate(texts[front:], front)]
    kinds = [LineKind.HIDDEN] * front + [kind for kind, _ in found]
    shown = [*[None] * front, *(text for _, text in found)]
    _hide_headings(texts, kinds, front_matter_title(texts[:front]))
    return [_parse_line(*parts) for parts in zip(texts, endings, kinds, shown, strict=True)]


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

    last_comment: int  # the last line with a comment mark: nothing closes a later one
    fence: str = ""
    comment_end: str = ""

    def line_kind(self, number: int, line: str) -> tuple[LineKind, str | None]:
        """Return the kind of a line, and the line without its comments if it has some."""
        if self.comment_end or line.lstrip().startswith("<!--"):
            end = self.comment_end or "-->"
            self.comment_end = "" if end in line else end
            return LineKind.HIDDEN, "" if end == _COMMENT else None
        fence = _FENCE.match(line)
        if self.fence or fence:
            closes = fence and fence[1].startswith(self.fence)
            self.fence = "" if self.fence and closes else self.fence or (fence[1] if fence else "")
            return LineKind.SHOWN, None
        return self._commented_kind(number, line) if _COMMENT in line else (_plain_kind(line), None)

    def _commented_kind(self, number: int, line: str) -> tuple[LineKind, str | None]:
        shown = _CODE_OR_COMMENT.sub(lambda found: found[1] or "", line)
        opening = _COMMENT_OPENING.search(shown) if number < self.last_comment else None
        if opening:
            self.comment_end = _COMMENT
            shown = shown[: opening.start()]
        if shown == line:
            return _plain_kind(line), None
        if not bare_text(shown):
            return LineKind.HIDDEN, ""
        # A line that opens a comment must stay, so it is no statement that may be removed.
        return (LineKind.SHOWN if opening else _plain_kind(shown)), shown


def _plain_kind(line: str) -> LineKind:
    if not line.strip():
        return LineKind.BLANK
    if _HEADING.match(line):
        return LineKind.HEADING
    is_other = _RULE.match(line) or _NON_STATEMENT.match(line)
    return LineKind.SHOWN if is_other else LineKind.STATEMENT


def _parse_line(raw: str, ending: str, kind: LineKind, uncommented: str | None) -> PageLine:
    shown = raw if uncommented is None else uncommented
    if kind is LineKind.HEADING:
        heading = _HEADING.match(shown)
        level = len(heading[1]) if heading else 0
        return PageLine(raw, ending, kind, level=level, uncommented=uncommented)
    if kind is not LineKind.STATEMENT:
        return PageLine(raw, ending, kind, uncommented=uncommented)
    opening = _LIST_PREFIX.match(shown)
    start = opening[0] if opening else ""
    rest = shown[len(start) :]
    anchor = _ANCHOR.search(rest)
    root = int(anchor[1]) if anchor else None
    text = " ".join(_ANCHOR.sub("", rest).split())
    if not text:
        return PageLine(raw, ending, LineKind.SHOWN, uncommented=uncommented)
    return PageLine(raw, ending, kind, start, text, root, uncommented=uncommented)


def statement_of(content: str) -> str:
    """Return a memory's text as a statement of one line; '' if no line can express it.

    >>> statement_of("喜欢\\n  茶")
    '喜欢 茶'
    """
    [line] = parse_page(f"- {' '.join(content.split())}")
    return line.text


def anchored_line(
    text: str, root: int, opening: str = "- ", ending: str = "\n", comments: str = ""
) -> PageLine:
    """Return the line that ties a statement to its memory; the anchor stands at its end."""
    said, anchor = f"{opening}{text}", f" ^pm-{root}"
    line = PageLine(said + anchor, ending, LineKind.STATEMENT, opening, text, root)
    if not comments:
        return line
    return replace(line, raw=f"{said} {comments}{anchor}", uncommented=line.raw)


def unanchored_line(line: PageLine) -> PageLine:
    """Return a statement that no longer belongs to a memory."""
    shown = line.without_anchor
    if line.uncommented is None:
        return replace(line, raw=shown, root=None)
    return replace(line, raw=f"{shown} {comments_of(line)}", root=None, uncommented=shown)


def comments_of(line: PageLine) -> str:
    """Return the comments of a statement, to keep them when it is rewritten."""
    if line.uncommented is None:
        return ""
    return " ".join(found[0] for found in _CODE_OR_COMMENT.finditer(line.raw) if not found[1])


def join_lines(lines: Sequence[PageLine]) -> str:
    return "".join(line.raw + line.ending for line in lines)


def without_comments(lines: Sequence[PageLine]) -> list[PageLine]:
    """Return the lines as written, but for Obsidian's comments."""
    return [
        line if line.uncommented is None else replace(line, raw=line.uncommented)
        for line in lines
        if line.uncommented != ""
    ]


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
