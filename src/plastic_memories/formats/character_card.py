"""Read and write character card files: versions 1, 2 and 3, PNG or JSON, without loss."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from plastic_memories.errors import TemplateError
from plastic_memories.formats.png import SIGNATURE, PngFile, blank_png, parse_png
from plastic_memories.model.card import Card

Document = Mapping[str, Any]
CardFormat = Literal["png", "json"]
# Our part of a card; other programs preserve extensions that they do not know.
EXTENSION_NAME = "plastic_memories"
# The original value of `extensions` if it was not an object: a list of one, or of none.
_BEFORE = "before"
_ZIP = b"PK\x03\x04"
# Newest first: a version 3 card often carries a version 2 copy for older programs.
_KEYWORDS = (b"ccv3", b"chara")
_IDENTITY_FIELDS = ("description", "first_mes", "personality", "scenario")
_MAX_DEPTH = 100


def read_card(raw: bytes) -> tuple[Card, Sequence[Mapping[str, Any]]]:
    """Return a card and the rows bundled with it; raise `TemplateError`."""
    if raw.startswith(_ZIP):
        raise TemplateError("CHARX archives are not read: unpack it and send its card.json.")
    bundled: list[Mapping[str, Any]] = []

    def bare(document: Document) -> Document:
        without, rows = _without_bundled_rows(document)
        # Programs copy our part from one text chunk to the other: use it once.
        bundled.extend(() if bundled else rows)
        return without

    original = rewrite_card(raw, bare)
    return Card(original, parse_card_document(_card_json(original))), bundled


def rewrite_card(raw: bytes, change: Callable[[Document], Document]) -> bytes:
    """Apply a change to the card's documents; if nothing changes, return the same bytes."""
    if not raw.startswith(SIGNATURE):
        document = parse_card_document(raw)
        new = change(document)
        return raw if new == document else dump_compact(new)
    came = picture = parse_png(raw)
    for keyword in _card_keywords(came):
        document = parse_card_document(_decode_base64(came.texts()[keyword]))
        new = change(document)
        if new != document:
            picture = picture.with_text(keyword, base64.b64encode(dump_compact(new)))
    return raw if picture is came else picture.to_bytes()


def write_card(
    card: Card, file_format: CardFormat, rows: Sequence[Mapping[str, Any]] | None
) -> bytes:
    """Return a card as a file; without `rows`, the original file byte for byte."""
    text = _card_json(card.original)
    if rows is not None:
        text = dump_compact(_with_bundled_rows(parse_card_document(text), rows))
    if file_format == "json":
        return text
    if not card.original.startswith(SIGNATURE):
        keyword = b"ccv3" if card.spec == "chara_card_v3" else b"chara"
        return blank_png().with_text(keyword, base64.b64encode(text)).to_bytes()
    if rows is None:
        return card.original
    picture = parse_png(card.original)
    return picture.with_text(_card_keywords(picture)[0], base64.b64encode(text)).to_bytes()


def _card_json(original: bytes) -> bytes:
    """Return the card's JSON as it was written."""
    if not original.startswith(SIGNATURE):
        return original
    picture = parse_png(original)
    return _decode_base64(picture.texts()[_card_keywords(picture)[0]])


def _card_keywords(picture: PngFile) -> list[bytes]:
    """Return the keywords under which a PNG carries a card, newest version first."""
    texts = picture.texts()
    found = [keyword for keyword in _KEYWORDS if keyword in texts]
    if not found:
        raise TemplateError("The picture carries no character card.")
    return found


def _decode_base64(text: bytes) -> bytes:
    # Some writers insert line breaks or omit the padding.
    packed = b"".join(text.split()).rstrip(b"=")
    try:
        return base64.b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
    except binascii.Error:
        raise TemplateError("The card inside the picture is damaged.") from None


def parse_card_document(raw: bytes) -> dict[str, Any]:
    """Return the document of a card; raise `TemplateError` if it is not one."""
    try:
        document = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise TemplateError("The card is not readable JSON in UTF-8.") from None
    if not isinstance(document, dict) or not _is_within_depth(document):
        raise TemplateError("The card is not a JSON object, or is nested too deeply.")
    _check_shape(document)
    return document


def _check_shape(document: Mapping[str, Any]) -> None:
    if "spec" in document and not isinstance(document.get("data"), dict):
        raise TemplateError("The card has no data.")
    fields = document["data"] if "spec" in document else document
    if not isinstance(fields.get("name"), str) or not any(
        name in fields for name in _IDENTITY_FIELDS
    ):
        raise TemplateError("This is not a character card: it needs a name and a description.")


def _is_within_depth(value: Any) -> bool:
    """Return whether later recursive code can walk the document."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        if not inner:
            return True
        level = inner
    return False


def dump_compact(document: Mapping[str, Any]) -> bytes:
    """Return a document as compact JSON."""
    # Lone surrogates, which JSON allows, stay escaped.
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(document, separators=(",", ":")).encode()


def _with_bundled_rows(
    document: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any]:
    fields = document["data"] if "spec" in document else document
    known = fields.get("extensions")
    ours: dict[str, Any] = {"version": 1, "rows": list(rows)}
    if not isinstance(known, dict):
        ours[_BEFORE] = [known] if "extensions" in fields else []
    room = known if isinstance(known, dict) else {}
    return _with_fields(document, {**fields, "extensions": {**room, EXTENSION_NAME: ours}})


def _without_bundled_rows(
    document: Mapping[str, Any],
) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]:
    """Return a document without our part, and the bundled rows that were in it."""
    fields = document["data"] if "spec" in document else document
    known = fields.get("extensions")
    if not isinstance(known, dict) or EXTENSION_NAME not in known:
        return document, ()
    ours = known[EXTENSION_NAME] if isinstance(known[EXTENSION_NAME], dict) else {}
    others = {name: value for name, value in known.items() if name != EXTENSION_NAME}
    bare = {**fields, "extensions": others}
    before = ours.get(_BEFORE)
    if isinstance(before, list) and not others:
        bare["extensions"] = next(iter(before), None)
        if not before:
            del bare["extensions"]
    rows = ours.get("rows")
    kept = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return _with_fields(document, bare), kept


def _with_fields(document: Mapping[str, Any], fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**document, "data": fields} if "spec" in document else fields
