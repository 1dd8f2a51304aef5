"""Find the passages of a user's pages that bear on a question."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from plastic_memories.errors import Unavailable
from plastic_memories.formats.pages.page_passages import (
    IndexedPage,
    IndexedPassage,
    has_term,
    index_page,
    pack_term,
)
from plastic_memories.language.questions.evidence_terms import (
    evidence_score,
    evidence_terms,
    evidence_threshold,
    idf_weighted_terms,
    strongest_evidence,
)
from plastic_memories.language.text.tokens import index_terms
from plastic_memories.model.message import TermDocumentCounts
from plastic_memories.model.owner import Owner
from plastic_memories.model.page import PageFile, PagePassage, PageTitle
from plastic_memories.ports.page_folders import PageFolders

logger = logging.getLogger(__name__)
_MAX_QUESTION_CHARS = 2_000
_MAX_PASSAGES = 6
_MAX_PASSAGES_PER_PAGE = 3
# Pages read and indexed for one recall; the next recall goes on with the others.
_MAX_NEW_PAGES = 400
_MAX_INDEX_S = 0.25
# Of all users together; the oldest go first.
_MAX_CACHED_CHARS = 4_000_000


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page of the index, and where it is."""

    page: PageTitle
    folder: Owner
    name: str
    stamp: str


@dataclass(frozen=True, slots=True)
class FoundPassages:
    pages: tuple[PageTitle, ...] = ()  # pages that bear on the question, best first
    passages: tuple[PagePassage, ...] = ()  # best first
    is_complete: bool = True  # every page was searched


@dataclass(slots=True)
class PassageCache:
    """The indexed passages of pages, by place and stamp of the file; bounded by their length."""

    max_chars: int = _MAX_CACHED_CHARS
    _pages: dict[ListedPage, IndexedPage] = field(default_factory=dict)
    _lengths: dict[ListedPage, int] = field(default_factory=dict)
    _chars: int = 0

    def get(self, page: ListedPage) -> IndexedPage | None:
        return self._pages.get(page)

    def put(self, page: ListedPage, indexed: IndexedPage, length: int) -> None:
        if page in self._pages:
            return
        self._pages[page], self._lengths[page] = indexed, length
        self._chars += length
        while self._chars > self.max_chars and len(self._pages) > 1:
            oldest = next(iter(self._pages))
            del self._pages[oldest]
            self._chars -= self._lengths.pop(oldest)


@dataclass(frozen=True, slots=True)
class PassageSearch:
    folders: PageFolders
    mask: Callable[[str], str]  # takes secrets out of a text
    cache: PassageCache

    async def __call__(
        self,
        question: str,
        pages: Sequence[ListedPage],
        hidden: Callable[[str], bool],
        ends_at: float,
    ) -> FoundPassages:
        """Return what is found by `ends_at`; pages that were not read are left out."""
        weights = evidence_terms(question[-_MAX_QUESTION_CHARS:])
        if not weights or not pages:
            return FoundPassages()
        unread = [one for one in pages if self.cache.get(one) is None]
        unread.sort(key=lambda one: -evidence_score(one.page.title, weights))
        files = await self._read(unread[:_MAX_NEW_PAGES], ends_at)
        # On a thread: to index pages for the first time takes a while.
        new = await asyncio.to_thread(self._index, unread, files, weights, ends_at)
        for one, file in zip(unread, files, strict=False):
            if file is not None and one in new:
                # The file may have changed since it was listed.
                self.cache.put(replace(one, stamp=file.stamp), new[one], len(file.text))
        indexed = [(one, new.get(one, self.cache.get(one))) for one in pages]
        read = [(one, page) for one, page in indexed if page is not None]
        found = await asyncio.to_thread(_search, read, weights, hidden, ends_at)
        return found if len(read) == len(pages) else replace(found, is_complete=False)

    async def _read(
        self, unread: Sequence[ListedPage], ends_at: float
    ) -> Sequence[PageFile | None]:
        if not unread:
            return ()
        try:
            async with asyncio.timeout(max(0.0, ends_at - time.monotonic())):
                return await self.folders.read_pages([(one.folder, one.name) for one in unread])
        except (Unavailable, TimeoutError) as error:
            fields = {"part": "pages", "why": type(error).__name__}
            logger.warning("memory.recall", extra={"fields": fields})
            return ()

    def _index(
        self,
        unread: Sequence[ListedPage],
        files: Sequence[PageFile | None],
        weights: Mapping[str, float],
        ends_at: float,
    ) -> dict[ListedPage, IndexedPage]:
        """Return the files that were read as passages, as many as there is time for."""
        ends_at = min(ends_at, time.monotonic() + _MAX_INDEX_S)
        found: dict[ListedPage, IndexedPage] = {}
        texts = [(one, file.text if file else "") for one, file in zip(unread, files, strict=False)]
        # To look for words takes a tenth of the time of an index: what may answer comes first.
        texts.sort(key=lambda pair: -_likelihood(pair[1], weights))
        for one, text in texts:
            if time.monotonic() > ends_at:
                break
            found[one] = index_page(self.mask(text), one.page.title)
        return found


def _likelihood(text: str, weights: Mapping[str, float]) -> float:
    lowered = text.lower()
    return sum(weight for term, weight in weights.items() if term in lowered)


@dataclass(frozen=True, slots=True)
class _Place:
    """A passage that shares terms with the question."""

    page_number: int
    passage: IndexedPassage
    terms: Set[str]


@dataclass(frozen=True, slots=True)
class _Match:
    place: _Place
    score: float  # with the terms of the page's title
    weights: Mapping[str, float]

    @property
    def own_score(self) -> float:
        return _total(self.place.terms, self.weights)


def _search(
    pages: Sequence[tuple[ListedPage, IndexedPage]],
    weights: Mapping[str, float],
    hidden: Callable[[str], bool],
    ends_at: float,
) -> FoundPassages:
    """Return the pages and passages that bear on the question, best first."""
    titles = [weights.keys() & index_terms(one.page.title) for one, _ in pages]
    places, is_complete = _places_with_terms(pages, weights, titles, ends_at)
    total = sum(len(page.passages) for _, page in pages)
    counts = Counter(term for place in places for term in place.terms | titles[place.page_number])
    rated = idf_weighted_terms(weights, TermDocumentCounts(total, counts))
    threshold = evidence_threshold(rated)
    found = [
        _Match(place, _total(place.terms | titles[place.page_number], rated), rated)
        for place in places
    ]
    matches = [match for match in found if match.score >= threshold]
    scores = [_total(terms, rated) for terms in titles]
    for match in matches:
        number = match.place.page_number
        scores[number] = max(scores[number], match.score)
    order = sorted(range(len(pages)), key=lambda number: -scores[number])
    relevant = [pages[n][0].page for n in order if scores[n] > 0 and scores[n] >= threshold]
    passages = _shown_passages(pages, _strongest(matches), hidden)
    return FoundPassages(tuple(relevant), tuple(passages), is_complete)


def _places_with_terms(
    pages: Sequence[tuple[ListedPage, IndexedPage]],
    weights: Mapping[str, float],
    titles: Sequence[Set[str]],
    ends_at: float,
) -> tuple[list[_Place], bool]:
    """Return the passages that share a term with the question, and whether all were searched."""
    codes = {term: pack_term(term) for term in weights}
    places: list[_Place] = []
    for number, (_, page) in enumerate(pages):
        if time.monotonic() > ends_at:
            return places, False
        near = {term: code for term, code in codes.items() if has_term(page.codes, code)}
        if not near and not titles[number]:
            continue
        for passage in page.passages:
            terms = {term for term, code in near.items() if has_term(passage.codes, code)}
            if terms or titles[number]:
                places.append(_Place(number, passage, terms))
    return places, True


def _shown_passages(
    pages: Sequence[tuple[ListedPage, IndexedPage]],
    matches: Sequence[_Match],
    hidden: Callable[[str], bool],
) -> list[PagePassage]:
    passages: list[PagePassage] = []
    per_page: Counter[int] = Counter()
    for match in matches:
        number = match.place.page_number
        if per_page[number] == _MAX_PASSAGES_PER_PAGE:
            continue
        shown = _shown_passage(pages[number][0], match.place.passage, hidden)
        if shown is not None:
            per_page[number] += 1
            passages.append(shown)
        if len(passages) == _MAX_PASSAGES:
            break
    return passages


def _strongest(matches: Sequence[_Match]) -> list[_Match]:
    """Return the matches best first; of equal ones, first those that do not owe it to the title."""
    strong = strongest_evidence({place: match.score for place, match in enumerate(matches)})
    return sorted(
        (matches[place] for place in strong), key=lambda match: (-match.score, -match.own_score)
    )


def _total(terms: Set[str], weights: Mapping[str, float]) -> float:
    return sum(weights.get(term, 0.0) for term in terms)


def _shown_passage(
    listed: ListedPage, passage: IndexedPassage, hidden: Callable[[str], bool]
) -> PagePassage | None:
    """Return a passage without lines that repeat something forgotten; None if nothing is left."""
    pieces = [piece for piece in passage.pieces if not hidden(piece.line)]
    if all(piece.is_heading for piece in pieces):
        return None
    return PagePassage(listed.page, tuple(piece.text for piece in pieces))
