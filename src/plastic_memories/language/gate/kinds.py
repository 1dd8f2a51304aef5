"""The kinds of statements that the gate tells apart, and what becomes of each."""

from __future__ import annotations

from enum import StrEnum


class StatementKind(StrEnum):
    """What a lasting statement is about."""

    NAME = "name"
    BIRTHDAY = "birthday"
    HEALTH = "health"
    MEDICATION = "medication"
    ALLERGY = "allergy"
    DIET = "diet"
    TABOO = "taboo"
    STYLE = "style"
    FAMILY = "family"
    PET = "pet"
    WORK = "work"
    SCHOOL = "school"
    HOME = "home"
    LIKE = "like"
    DISLIKE = "dislike"
    HABIT = "habit"
    PLAN = "plan"
    EVENT = "event"
    PROMISE = "promise"
    RELATIONSHIP = "relationship"
    OTHER = "other"


KINDS = tuple(StatementKind)


class KeepAs(StrEnum):
    """How a statement that no rule reads is kept."""

    CONSTRAINT = "constraint"  # a candidate that is told, marked as unconfirmed
    STYLE = "style"  # the same, about how to speak
    IDENTITY = "identity"  # a candidate that is not told
    NOTE = "note"  # active


KEPT_AS = {
    StatementKind.HEALTH: KeepAs.CONSTRAINT,
    StatementKind.MEDICATION: KeepAs.CONSTRAINT,
    StatementKind.ALLERGY: KeepAs.CONSTRAINT,
    StatementKind.DIET: KeepAs.CONSTRAINT,
    StatementKind.TABOO: KeepAs.CONSTRAINT,
    StatementKind.STYLE: KeepAs.STYLE,
    StatementKind.NAME: KeepAs.IDENTITY,
    StatementKind.BIRTHDAY: KeepAs.IDENTITY,
}
