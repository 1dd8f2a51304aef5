"""MCP tools: what an agent can do with its user's memories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from pydantic import BaseModel

from plastic_memories.errors import InvalidInput
from plastic_memories.http.doors.mcp import answers, arguments
from plastic_memories.http.doors.mcp.request_place import McpRequest
from plastic_memories.http.doors.mcp.resources import find_page
from plastic_memories.http.routes.memories import write_conversation, write_one
from plastic_memories.http.routes.recall import run_recall
from plastic_memories.hub.erasure.forget import ForgetRequest
from plastic_memories.hub.memories.browse import ListFilter
from plastic_memories.model.memory import MemoryType, SourceType, Status
from plastic_memories.model.message import Role
from plastic_memories.rules.lifecycle.note_keys import note_key
from plastic_memories.rules.lifecycle.transitions import ConfirmOptions
from plastic_memories.wire import memories as wire
from plastic_memories.wire.recall import RecallRequest

_DAY_S = 86_400


class ToolOutput(NamedTuple):
    """A result in two forms: text for a model, data for a program."""

    text: str
    content: BaseModel


class Effect(Enum):
    READS = "reads"
    ADDS = "adds"
    ERASES = "erases"


@dataclass(frozen=True, slots=True)
class MemoryTool:
    name: str
    title: str
    description: str
    effect: Effect
    arguments: type[arguments.ToolArguments]
    answer: type[BaseModel]
    run: Callable[[McpRequest, Any], Awaitable[ToolOutput]]


async def recall(here: McpRequest, asked: arguments.RecallArguments) -> ToolOutput:
    body = RecallRequest(
        persona_id=here.persona_id(asked),
        bot_id=here.bot_id,
        source_app=here.app,
        query=asked.query,
        limit=asked.limit,
    )
    found = await run_recall(body, here.call)
    rows = [answers.tool_memory(hit.memory) for hit in found.hits]
    block = found.injection_block
    answer = answers.RecallResult(block=block, memories=rows, degraded=list(found.degraded))
    return ToolOutput(block or "Nothing is remembered that bears on this.", answer)


async def remember(here: McpRequest, asked: arguments.RememberArguments) -> ToolOutput:
    here.call.check_length(asked.text, "text")
    as_it_is = asked.type or asked.key or asked.tags or asked.expires_in_days or asked.inferred
    if as_it_is or asked.importance is not None:
        return await _remember_note(here, asked)
    return await _remember_extracted(here, asked)


async def _remember_extracted(here: McpRequest, asked: arguments.RememberArguments) -> ToolOutput:
    """Store what the text says about the user; if that is nothing, store the text as a note."""
    told = wire.WriteConversationRequest(
        persona_id=here.persona_id(asked),
        messages=[wire.ConversationMessageBody(role=Role.USER, content=asked.text)],
        source_app=here.app,
        bot_id=here.bot_id,
    )
    found = await write_conversation(told, here.call)
    if not found.items and not found.skipped:
        return await _remember_note(here, asked)
    ids = [item.memory_id for item in found.items]
    return await _remember_output(here, asked, ids, [one.reason for one in found.skipped])


async def _remember_note(here: McpRequest, asked: arguments.RememberArguments) -> ToolOutput:
    days = asked.expires_in_days
    item = wire.WriteOneRequest(
        persona_id=here.persona_id(asked),
        type=asked.type or MemoryType.NOTE,
        key=asked.key or note_key(asked.text),
        content=asked.text,
        tags=tuple(asked.tags),
        importance=asked.importance,
        ttl_seconds=days * _DAY_S if days else None,
        source_type=SourceType.MODEL_INFERRED if asked.inferred else SourceType.USER_EXPLICIT,
        source_app=here.app,
        bot_id=here.bot_id,
    )
    written = await write_one(item, here.call)
    if written.memory_id is None:
        return await _remember_output(
            here, asked, [], ["The user wants this never to be remembered."]
        )
    return await _remember_output(here, asked, [written.memory_id], [])


async def _remember_output(
    here: McpRequest, asked: arguments.ToolArguments, ids: list[int], skipped: list[str]
) -> ToolOutput:
    rows = await _tool_memories(here, asked, ids)
    lines = [answers.memory_line(row) for row in rows]
    lines += [f"Not remembered: {reason}" for reason in skipped]
    if any(row.status == Status.CANDIDATE for row in rows):
        lines.append("A candidate waits for the user's yes: ask, then call confirm.")
    answer = answers.RememberResult(memories=rows, skipped=skipped)
    return ToolOutput("\n".join(lines) or "There was nothing to remember.", answer)


async def confirm(here: McpRequest, asked: arguments.ConfirmArguments) -> ToolOutput:
    review, caller, view = here.call.hub.review, here.call.caller, here.view(asked)
    if asked.accept:
        wish = ConfirmOptions(supersedes_id=asked.supersedes_id, coexist=asked.coexist)
        done = await review.confirm(caller, view, asked.memory_id, wish, None)
    else:
        done = await review.reject(caller, view, asked.memory_id, never_again=asked.never_again)
    status = done.memory.status.value
    answer = answers.ReviewResult(memory_id=done.memory.id, updated=done.updated, status=status)
    note = "" if done.updated else " It was so before: nothing has changed."
    return ToolOutput(f"Memory #{done.memory.id} is {status}.{note}", answer)


async def forget(here: McpRequest, asked: arguments.ForgetArguments) -> ToolOutput:
    if not asked.memory_ids and not asked.query:
        raise InvalidInput("Give memory_ids, or a query to see what would be forgotten.")
    here.call.check_length(asked.query, "query", here.call.options.max_query_chars)
    only_look = not asked.memory_ids
    wish = ForgetRequest(
        memory_ids=asked.memory_ids,
        query=asked.query if only_look else None,
        dry_run=only_look,
        never_again=asked.never_again,
        include_messages=asked.include_messages,
    )
    gone = await here.call.hub.forget(here.call.caller, here.view(asked), wish)
    ids = list(gone.memory_ids)
    if only_look:
        rows = await _tool_memories(here, asked, ids)
        lines = [answers.memory_line(row) for row in rows]
        advice = "Nothing is erased yet. Ask the user, then call forget with memory_ids."
        answer = answers.ForgetResult(erased=False, memory_ids=ids, memories=rows)
        return ToolOutput("\n".join([*lines, advice]) if rows else "Nothing matches.", answer)
    text = f"Forgotten for good: {', '.join(f'#{one}' for one in ids) or 'nothing'}."
    receipt = dict(gone.receipt)
    return ToolOutput(text, answers.ForgetResult(erased=bool(ids), memory_ids=ids, receipt=receipt))


async def list_memories(here: McpRequest, asked: arguments.ListArguments) -> ToolOutput:
    wanted = ListFilter(
        status=None if asked.status == "all" else Status(asked.status),
        type=asked.type,
        containing=asked.containing or None,
        before_id=int(asked.cursor) if asked.cursor else None,
        limit=asked.limit,
    )
    page = await here.call.hub.browse.list_page(here.view(asked), wanted)
    rows = [answers.tool_memory(memory) for memory in page.memories]
    cursor = None if page.next_before_id is None else str(page.next_before_id)
    more = [] if cursor is None else [f"There are more: cursor={cursor}"]
    text = "\n".join([*(answers.memory_line(row) for row in rows), *more])
    return ToolOutput(
        text or "There are no such memories.",
        answers.MemoryListResult(memories=rows, next_cursor=cursor),
    )


async def profile(here: McpRequest, asked: arguments.ProfileArguments) -> ToolOutput:
    text = await here.call.hub.personas.profile(here.view(asked))
    answer = answers.ProfileResult(persona_id=here.persona_id(asked), markdown=text)
    return ToolOutput(text or "Nothing is known yet.", answer)


async def read_page(here: McpRequest, asked: arguments.PageArguments) -> ToolOutput:
    page = await find_page(here, asked, asked.page_id)
    answer = answers.PageResult(
        page_id=page.id, title=page.title, text=page.text, truncated=page.truncated
    )
    return ToolOutput(page.text or "The page is empty.", answer)


async def goals(here: McpRequest, asked: arguments.GoalsArguments) -> ToolOutput:
    found = await here.call.hub.goals.find(here.owner(asked), asked.status)
    rows = [answers.tool_goal(goal) for goal in found]
    lines = [f"- #{row.id} {row.title} ({row.status}) {row.details}".rstrip() for row in rows]
    return ToolOutput(
        "\n".join(lines) or "There are no such goals.", answers.GoalListResult(goals=rows)
    )


async def goal_create(here: McpRequest, asked: arguments.GoalCreateArguments) -> ToolOutput:
    here.call.check_length(asked.details, "details")
    made = await here.call.hub.goals.create(
        here.call.caller, here.owner(asked), asked.title, asked.details
    )
    answer = answers.GoalUpdateResult(goal_id=made.id, updated=True, status=made.status)
    return ToolOutput(f"Goal #{made.id} is noted: {made.title}", answer)


async def goal_update(here: McpRequest, asked: arguments.GoalUpdateArguments) -> ToolOutput:
    updated = await here.call.hub.goals.set_status(
        here.call.caller, here.owner(asked), asked.goal_id, asked.status
    )
    answer = answers.GoalUpdateResult(goal_id=asked.goal_id, updated=updated, status=asked.status)
    return ToolOutput(f"Goal #{asked.goal_id} is {asked.status.value}.", answer)


async def upcoming_events(here: McpRequest, asked: arguments.UpcomingArguments) -> ToolOutput:
    found = await here.call.hub.upcoming_events(here.view(asked), asked.days)
    rows = [answers.tool_event(one) for one in found]
    lines = [f"- {row.next_date} (in {row.days_away} days) {row.content}" for row in rows]
    return ToolOutput("\n".join(lines) or "Nothing comes up.", answers.UpcomingResult(events=rows))


async def _tool_memories(
    here: McpRequest, asked: arguments.ToolArguments, ids: list[int]
) -> list[answers.ToolMemory]:
    view = here.view(asked)
    pages = [await here.call.hub.browse.get_memory(view, memory_id) for memory_id in ids]
    return [answers.tool_memory(memory) for page in pages for memory in page.memories]
