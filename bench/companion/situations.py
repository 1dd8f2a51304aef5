"""Situations beyond a plain evening: forgetting, group talk, a conversation that branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from bench.companion.companion import Companion
from bench.companion.people import Person, Utterance, WordGroups, holds, read_rows, word_groups
from bench.companion.scores import NEXT_EVENING_S, Scores

_MINUTE_S = 60.0
GROUP = "group"


class RevisableCompanion(Companion, Protocol):
    """A system that can forget, branch and tell a group from a private talk."""

    def forget(self, person: str, text: str) -> None:
        """Forget what a search for `text` finds, never to learn it again."""

    def abandon(self, person: str, talk: Sequence[Utterance], kept: Sequence[Utterance]) -> None:
        """Continue the stored talk with `talk`, then go back and continue it with `kept`."""

    def group_prompt(self, person: str, session: str, question: str, now: float) -> Sequence[str]:
        """Return the lines of the prompt for a message in a group."""


@dataclass(frozen=True)
class Situation:
    """One case; `rows` has the fields of its kind."""

    kind: str
    person: Person
    fields: Mapping[str, Any]

    @property
    def before(self) -> list[Utterance]:
        """The talk that precedes it."""
        talk = self.person.utterances
        if self.kind == "branch":
            return [*talk, *self._said(self.fields["before"])]
        if "conversation" not in self.fields:
            return talk
        session = self.fields["conversation"].partition(".")[2]
        last = self.fields.get("after_n", len(talk))
        numbered = [one for one in talk if one.session == session]
        earlier = [one for one in talk if one.at < numbered[0].at]
        return [*earlier, *numbered[:last]]

    def said(self, name: str) -> list[Utterance]:
        """Return the utterances of a field, after everything before."""
        return self._said(self.fields[name], len(self.fields.get("before", ())))

    def _said(self, rows: Sequence[Mapping[str, str]], offset: int = 0) -> list[Utterance]:
        session = self.fields.get("session") or self.fields["conversation"].partition(".")[2]
        start = self.person.last_at + _MINUTE_S
        return [
            Utterance(
                session=session,
                at=start + (offset + number) * _MINUTE_S,
                role=row.get("role", "user"),
                speaker=row.get("speaker", ""),
                text=row["text"],
                labels=(),
                nothing=False,
                message_type=GROUP if self.kind == GROUP else "",
            )
            for number, row in enumerate(rows)
        ]


def read_situations(folder: Path, people: Sequence[Person]) -> Iterator[Situation]:
    """Yield the situations of these people."""
    by_name = {person.name: person for person in people}
    for row in read_rows(folder / "extras.jsonl"):
        if row["persona"] in by_name:
            yield Situation(row["type"], by_name[row["persona"]], row)


def score_situations(
    scores: Scores, companion: RevisableCompanion, situations: Sequence[Situation]
) -> None:
    """Play every situation on a copy of its person and count what went right."""
    for number, one in enumerate(situations):
        name = f"{one.person.name}-{number}"
        companion.listen(name, one.before)
        _SCORERS[one.kind](scores, companion, replace(one, person=replace(one.person, name=name)))


def _score_forget(scores: Scores, companion: RevisableCompanion, one: Situation) -> None:
    companion.finish(one.person.name)
    companion.forget(one.person.name, one.fields["forget"])
    _score_gone(scores, companion, one, "forgotten is gone", "neighbours stay")


def _score_forget_that(scores: Scores, companion: RevisableCompanion, one: Situation) -> None:
    last = one.before[-1]
    request = replace(last, at=last.at + 1, role="user", text=one.fields["text"], labels=())
    companion.listen(one.person.name, [request])
    companion.finish(one.person.name)
    _score_gone(scores, companion, one, '"forget that" is heard', "neighbours stay")


def _score_gone(
    scores: Scores, companion: RevisableCompanion, one: Situation, gone: str, stays: str
) -> None:
    person, now = one.person.name, one.person.last_at + NEXT_EVENING_S
    about = f"{person} {one.fields.get('forget') or one.fields['text']}"
    lines = list(companion.prompt(person, one.fields["probe"], now).lines)
    lines += [row.text for row in companion.rows(person)]
    words = [word.lower() for word in one.fields["gone"]]
    scores.count(gone, not any(word in line.lower() for word in words for line in lines), about)
    for word in one.fields["keeps"]:
        found = companion.prompt(person, word, now).lines
        scores.count(stays, any(word.lower() in line.lower() for line in found), f"{about}: {word}")


def _score_group(scores: Scores, companion: RevisableCompanion, one: Situation) -> None:
    person, turns = one.person.name, one.said("turns")
    companion.listen(person, turns)
    companion.finish(person)
    now = turns[-1].at + _MINUTE_S
    lines = companion.group_prompt(person, turns[0].session, one.fields["question"], now)
    need: WordGroups = word_groups(one.fields["need"])
    about = f"{person} {one.fields['question']}"
    scores.count("known in the group", any(holds(line, need) for line in lines), about)
    private = [word.lower() for word in one.fields["forbid"]]
    is_told = any(word in line.lower() for word in private for line in lines)
    scores.count("private stays private", not is_told, about)


def _score_branch(scores: Scores, companion: RevisableCompanion, one: Situation) -> None:
    person, kept = one.person.name, one.said("kept")
    companion.abandon(person, one.said("abandoned"), kept)
    companion.finish(person)
    now = kept[-1].at + NEXT_EVENING_S
    lines = companion.prompt(person, one.fields["question"], now).lines
    about = f"{person} {one.fields['question']}"
    need = word_groups(one.fields["need"])
    scores.count("branch: kept line known", any(holds(line, need) for line in lines), about)
    left = [word.lower() for word in one.fields["forbid"]]
    is_told = any(word in line.lower() for word in left for line in lines)
    scores.count("branch: abandoned line gone", not is_told, about)


_SCORERS = {
    "forget": _score_forget,
    "forget_that": _score_forget_that,
    GROUP: _score_group,
    "branch": _score_branch,
}
