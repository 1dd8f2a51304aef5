"""Argument schemas of the MCP tools, as a model reads them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from plastic_memories.model.goal import GoalStatus
from plastic_memories.model.memory import MemoryType
from plastic_memories.wire.fields import (
    Flag,
    Id,
    Key,
    Name,
    NonEmptyText,
    RequestBody,
    Share,
    Tag,
    Text,
)

Limit = Annotated[int, Field(ge=1, le=200)]


class ToolArguments(RequestBody):
    """Arguments common to all tools."""

    persona_id: Annotated[
        Name | None,
        Field(description="Which persona's memory. Leave it out for the configured one."),
    ] = None


class RecallArguments(ToolArguments):
    query: Annotated[
        Text,
        Field(
            description="The user's message or a question, in any language. "
            "Empty: only what always holds (name, constraints, persona)."
        ),
    ] = ""
    limit: Limit = 10


class RememberArguments(ToolArguments):
    text: Annotated[
        NonEmptyText,
        Field(
            description="What to remember, best in the user's own words and in the first person "
            "(我对海鲜过敏 / I am allergic to peanuts). Write dates in full."
        ),
    ]
    type: Annotated[
        MemoryType | None,
        Field(
            description="Leave it out: the hub extracts what the text says about the user, and "
            "stores anything else as a note. Give it to store the text as it is."
        ),
    ] = None
    key: Annotated[
        Key | None,
        Field(
            description="Names the memory, such as preference.favorite_food. "
            "A newer statement with the same key replaces the older one."
        ),
    ] = None
    tags: Annotated[list[Tag], Field(max_length=50)] = Field(default=[])
    importance: Annotated[Share | None, Field(description="From 0 to 1.")] = None
    expires_in_days: Annotated[float | None, Field(gt=0, le=36_500)] = None
    inferred: Annotated[
        Flag,
        Field(
            description="True if the user did not say it and you concluded it: "
            "it then waits for confirmation."
        ),
    ] = False


class ConfirmArguments(ToolArguments):
    memory_id: Annotated[Id, Field(description="The candidate; `list` shows candidates.")]
    accept: Annotated[Flag, Field(description="False rejects the candidate.")] = True
    supersedes_id: Annotated[
        Id | None, Field(description="The active memory that this one replaces, if any.")
    ] = None
    coexist: Annotated[Flag, Field(description="Keep both (only preferences and constraints).")] = (
        False
    )
    never_again: Annotated[Flag, Field(description="With accept=false: never learn it again.")] = (
        False
    )


class ForgetArguments(ToolArguments):
    memory_ids: Annotated[list[Id], Field(max_length=500, description="What to erase, by id.")] = (
        Field(default=[])
    )
    query: Annotated[
        Text | None,
        Field(description="Without ids: shows what would be forgotten, and erases nothing."),
    ] = None
    never_again: Annotated[Flag, Field(description="Never learn it again.")] = False
    include_messages: Annotated[
        Flag, Field(description="Erase the messages it was learned from as well.")
    ] = False


class ListArguments(ToolArguments):
    status: Annotated[
        Literal["active", "candidate", "revoked", "expired", "all"],
        Field(description="`candidate` shows memories that wait for confirmation."),
    ] = "active"
    type: MemoryType | None = None
    containing: Annotated[Text | None, Field(max_length=1000)] = None
    limit: Limit = 50
    cursor: Annotated[
        str | None, Field(pattern="^[0-9]{1,18}$", description="`next_cursor` of the page before.")
    ] = None


class ProfileArguments(ToolArguments):
    pass


class PageArguments(ToolArguments):
    page_id: Annotated[
        Name,
        Field(description="The id from recall's index: memory://extended/….", max_length=1000),
    ]


class GoalsArguments(ToolArguments):
    status: GoalStatus | None = None


class GoalCreateArguments(ToolArguments):
    title: Annotated[NonEmptyText, Field(max_length=500)]
    details: Text = ""


class GoalUpdateArguments(ToolArguments):
    goal_id: Annotated[Id, Field(description="`goals` shows the ids.")]
    status: GoalStatus


class UpcomingArguments(ToolArguments):
    days: Annotated[int, Field(ge=0, le=3660, description="How far to look ahead.")] = 30
