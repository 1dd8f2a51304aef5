"""What the rules learn from labelled talk, and what junk they make of chatter; run by hand.

    python -m bench.reading FOLDER...

A folder may hold corpora (`*.jsonl.gz`, a conversation per line), sentences with their kind
(`sentences_*_train.jsonl`) and an evening of labelled messages (`messages.jsonl`).
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from plastic_memories.language.reading.extraction import extract_drafts
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.model.memory import Draft, Status
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.rules.lifecycle.transitions import memory_from_draft
from plastic_memories.rules.prompt.always_told import SEARCH_ONLY, core_level

_OWNER = Owner("bench", "ann", "miku")
_NOON = 1_715_745_600.0
_CHATTER = ("lccc_weibo", "nus_sms_en", "nus_sms_zh", "nps_chat", "kdconv")
_LABELLED = ("dulemon", "msc_persona")
_MAX_UTTERANCES = 20_000
_COVERED = 0.6
_KEYS_BY_KIND = {
    "name": r"basic_info\.(?:name|address|nickname|english_name|surname|pronouns|pen_name)",
    "birthday": r"basic_info\.(?:birthday|birth_year|age|star_sign)|birthday",
    "allergy": r"constraint\.(?:allergy|diet)",
    "diet": r"constraint\.(?:diet|allergy)|personality\.habit|preference\.dislike",
    "health": r"constraint\.(?:health|medication)|personality\.fear|life_event",
    "medication": r"constraint\.medication",
    "taboo": r"constraint\.taboo|preference\.style",
    "style": r"preference\.(?:style|reply)|basic_info\.address",
    "promise": r"relationship\.with_persona\.|plan|anniversary|constraint\.medication",
    "relationship": r"relationship\.with_persona\.|basic_info\.address",
    "family": r"relationship\.|life_event|birthday",
    "pet": r"relationship\.",
}
_SMALL_WORDS = frozenset(
    "i am a an the my me is are was to of in on and have has had do does not it that for with at "
    "like love enjoy be been you your".split()
)


def _learned(text: str, before: str = "") -> list[Draft]:
    talk = [Message(owner=_OWNER, role=Role.USER, content=text, ts=_NOON)]
    if before:
        talk.insert(0, Message(owner=_OWNER, role=Role.ASSISTANT, content=before, ts=_NOON))
    return [draft for draft in extract_drafts(talk) if draft.realm is Realm.REAL]


def _is_told_unasked(draft: Draft) -> bool:
    return core_level(memory_from_draft(_OWNER, draft, _NOON, Status.ACTIVE)) > SEARCH_ONLY


def _words(text: str) -> set[str]:
    plain = to_simplified(text).lower()
    han = [char for char in plain if "\u4e00" <= char <= "\u9fff" and char not in "我的是了在有很"]
    latin = [word[:5] for word in re.findall(r"[a-z0-9]+", plain) if word not in _SMALL_WORDS]
    return {*han, *latin}


def _is_covered(fact: str, drafts: Sequence[Draft]) -> bool:
    words = _words(fact)
    said = _words(" ".join(draft.content for draft in drafts))
    return bool(words) and len(words & said) / len(words) >= _COVERED


def _conversations(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _measure_labelled(path: Path) -> None:
    facts = covered = 0
    for talk in _conversations(path):
        drafts: dict[int, list[Draft]] = {}
        for fact in talk["facts"]:
            turn = fact.get("turn")
            if turn is None:
                continue
            if turn not in drafts:
                before = talk["turns"][turn - 1]["text"] if turn else ""
                drafts[turn] = _learned(talk["turns"][turn]["text"], before)
            facts += 1
            covered += _is_covered(fact["text"], drafts[turn])
    print(f"{path.name}: {covered} of {facts} facts covered, {covered / facts:.3f}")


def _measure_chatter(path: Path, *, verbose: bool) -> None:
    said = kept = told = 0
    for talk in _conversations(path):
        turns = [turn["text"] for turn in talk["turns"]]
        for before, text in zip(["", *turns], turns, strict=False):
            said += 1
            drafts = _learned(text, before)
            core = [draft for draft in drafts if _is_told_unasked(draft)]
            kept, told = kept + bool(drafts), told + bool(core)
            for draft in core if verbose else ():
                print(f"    {draft.key} | {draft.content} | {text[:90]!r}")
        if said >= _MAX_UTTERANCES:
            break
    print(
        f"{path.name}: of {said} utterances {1000 * told / said:.2f} ‰ in the stable block, "
        f"{1000 * kept / said:.1f} ‰ learned"
    )


def _measure_kinds(path: Path, *, verbose: bool) -> None:
    total: Counter[str] = Counter()
    right: Counter[str] = Counter()
    some: Counter[str] = Counter()
    for line in path.read_text("utf-8").splitlines():
        sentence = json.loads(line)
        kind, keys = sentence["kind"], [draft.key for draft in _learned(sentence["text"])]
        total[kind] += 1
        some[kind] += bool(keys)
        hit = any(re.match(_KEYS_BY_KIND.get(kind, "."), key) for key in keys)
        right[kind] += hit
        if verbose and (hit is (kind == "nothing")):
            print(f"    {kind} | {sentence['text']} | {keys}")
    print(path.name)
    for kind, number in sorted(total.items()):
        print(f"  {kind:14} {right[kind]:4} right, {some[kind]:4} read of {number:4}")


def _holds(text: str, groups: Sequence[Sequence[str]]) -> bool:
    plain = to_simplified(text).lower()
    return all(any(to_simplified(word).lower() in plain for word in group) for group in groups)


def _measure_evening(path: Path, *, verbose: bool) -> None:
    wanted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    wrong = 0
    for said, before in _user_messages(path):
        drafts = _learned(said["text"], before)
        for label in said.get("labels", []):
            hit = any(_holds(f"{draft.content} {draft.quote}", label["all_of"]) for draft in drafts)
            kind = label.get("cat", "")
            wanted[kind] += label["kind"] == "keep"
            found[kind] += label["kind"] == "keep" and hit
            wrong += label["kind"] == "forbid" and hit
            if verbose and hit is not (label["kind"] != "forbid"):
                print(
                    f"    {label['kind']} {kind} | {said['text']} | {[one.key for one in drafts]}"
                )
    print(f"{path}: {found.total()} of {wanted.total()} facts, {wrong} forbidden")
    print("  " + ", ".join(f"{kind} {found[kind]}/{number}" for kind, number in wanted.items()))


def _user_messages(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the user's messages of the dev split, each with the reply before it."""
    before = ""
    for line in path.read_text("utf-8").splitlines():
        message = json.loads(line)
        if message.get("split") != "test" and message["role"] == "user":
            yield message, before
        before = message["text"] if message["role"] == "assistant" else ""


def main(folders: Sequence[str], *, verbose: bool) -> None:
    """Print the figures of every file in the folders that is known."""
    for path in sorted(path for folder in folders for path in Path(folder).glob("**/*.jsonl*")):
        name = path.name.split(".")[0]
        if name in _LABELLED:
            _measure_labelled(path)
        elif name in _CHATTER:
            _measure_chatter(path, verbose=verbose)
        elif re.fullmatch(r"sentences_\w+_train", name):
            _measure_kinds(path, verbose=verbose)
        elif name == "messages":
            _measure_evening(path, verbose=verbose)


if __name__ == "__main__":
    main([one for one in sys.argv[1:] if one != "-v"], verbose="-v" in sys.argv)
