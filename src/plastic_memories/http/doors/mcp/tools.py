"""MCP tools: what an agent can do with its user's memories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from pydantic import BaseModel

from plastic_memories.errors import InvalidInput
from plastic_memories.http.doors.mcp import answers, arguments
from plastic_memories.http.doors.mcp.mcp_request import McpRequest
from plastic_memories.http.doors.mcp.resources import find_page
from plastic_memories.http.routes.memories import write_conversation, write_one
from plastic_memories.http.routes.recall import run_recall
from plastic_memories.hub.erasure.forget import ForgetRequest
from plastic_memories.hub.memories.browse import ListFilter
from plastic_memories.model.memory import MemoryType, SourceType, Status
from plastic_memories.model.message import Role
from plastic_memories.ports.stores.memory_store import MemoryPosition
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


async def recall(request: McpRequest, args: arguments.RecallArguments) -> ToolOutput:
    body = RecallRequest(
        persona_id=request.persona_id(args),
        bot_id=request.bot_id,
        source_app=request.app,
        query=args.query,
        limit=args.limit,
    )
    found = await run_recall(body, request.call)
    rows = [answers.tool_memory(hit.memory) for hit in found.hits]
    block = found.injection_block
    answer = answers.RecallResult(block=block, memories=rows, degraded=list(found.degraded))
    return ToolOutput(block or "No relevant memories.", answer)


async def remember(request: McpRequest, args: arguments.RememberArguments) -> ToolOutput:
    request.call.check_length(args.text, "text")
    store_verbatim = args.type or args.key or args.tags or args.expires_in_days or args.inferred
    if store_verbatim or args.importance is not None:
        return await _remember_note(request, args)
    return await _remember_extracted(request, args)


async def _remember_extracted(request: McpRequest, args: arguments.RememberArguments) -> ToolOutput:
    """Store what the text says about the user; if that is nothing, store the text as a note."""
    body = wire.WriteConversationRequest(
        persona_id=request.persona_id(args),
        messages=[wire.ConversationMessageBody(role=Role.USER, content=args.text)],
        keep_rest=True,
        source_app=request.app,
        bot_id=request.bot_id,
    )
    found = await write_conversation(body, request.call)
    if not found.items and not found.skipped:
        return await _remember_note(request, args)
    ids = [item.memory_id for item in found.items]
    return await _remember_output(request, args, ids, [one.reason for one in found.skipped])


async def _remember_note(request: McpRequest, args: arguments.RememberArguments) -> ToolOutput:
    days = args.expires_in_days
    item = wire.WriteOneRequest(
        persona_id=request.persona_id(args),
        type=args.type or MemoryType.NOTE,
        key=args.key or note_key(args.text),
        content=args.text,
        tags=tuple(args.tags),
        importance=args.importance,
        ttl_seconds=days * _DAY_S if days else None,
        source_type=SourceType.MODEL_INFERRED if args.inferred else SourceType.USER_EXPLICIT,
        source_app=request.app,
        bot_id=request.bot_id,
    )
    written = await write_one(item, request.call)
    if written.memory_id is None:
        return await _remember_output(
            request, args, [], ["The user wants this never to be remembered."]
        )
    return await _remember_output(request, args, [written.memory_id], [])


async def _remember_output(
    request: McpRequest, args: arguments.ToolArguments, ids: list[int], skipped: list[str]
) -> ToolOutput:
    rows = await _tool_memories(request, args, ids)
    lines = [answers.memory_line(row) for row in rows]
    lines += [f"Not remembered: {reason}" for reason in skipped]
    if any(row.status == Status.CANDIDATE for row in rows):
        lines.append("A candidate waits for confirmation: ask the user, then call confirm.")
    answer = answers.RememberResult(memories=rows, skipped=skipped)
    return ToolOutput("\n".join(lines) or "There was nothing to remember.", answer)


async def confirm(request: McpRequest, args: arguments.ConfirmArguments) -> ToolOutput:
    review, caller, view = request.call.hub.review, request.call.caller, request.view(args)
    if args.accept:
        options = ConfirmOptions(supersedes_id=args.supersedes_id, coexist=args.coexist)
        done = await review.confirm(caller, view, args.memory_id, options, None)
    else:
        done = await review.reject(caller, view, args.memory_id, never_again=args.never_again)
    status = done.memory.status.value
    answer = answers.ReviewResult(memory_id=done.memory.id, updated=done.updated, status=status)
    note = "" if done.updated else " Nothing changed."
    return ToolOutput(f"Memory #{done.memory.id} is {status}.{note}", answer)


async def forget(request: McpRequest, args: arguments.ForgetArguments) -> ToolOutput:
    if not args.memory_ids and not args.query:
        raise InvalidInput("Give memory_ids, or a query to see what would be forgotten.")
    request.call.check_length(args.query, "query", request.call.options.max_query_chars)
    preview = not args.memory_ids
    forget_request = ForgetRequest(
        memory_ids=args.memory_ids,
        query=args.query if preview else None,
        dry_run=preview,
        never_again=args.never_again,
        include_messages=args.include_messages,
    )
    outcome = await request.call.hub.forget(request.call.caller, request.view(args), forget_request)
    ids = list(outcome.memory_ids)
    if preview:
        rows = await _tool_memories(request, args, ids)
        lines = [answers.memory_line(row) for row in rows]
        advice = "Nothing is erased yet. Ask the user, then call forget with memory_ids."
        answer = answers.ForgetResult(erased=False, memory_ids=ids, memories=rows)
        return ToolOutput("\n".join([*lines, advice]) if rows else "Nothing matches.", answer)
    text = f"Forgotten for good: {', '.join(f'#{one}' for one in ids) or 'nothing'}."
    receipt = dict(outcome.receipt)
    return ToolOutput(text, answers.ForgetResult(erased=bool(ids), memory_ids=ids, receipt=receipt))


async def list_memories(request: McpRequest, args: arguments.ListArguments) -> ToolOutput:
    list_filter = ListFilter(
        status=None if args.status == "all" else Status(args.status),
        type=args.type,
        containing=args.containing or None,
        after=MemoryPosition(int(args.cursor)) if args.cursor else None,
        limit=args.limit,
    )
    page = await request.call.hub.browse.list_page(request.view(args), list_filter)
    rows = [answers.tool_memory(memory) for memory in page.memories]
    cursor = None if page.next_position is None else str(page.next_position.id)
    more = [] if cursor is None else [f"There are more: cursor={cursor}"]
    text = "\n".join([*(answers.memory_line(row) for row in rows), *more])
    return ToolOutput(
        text or "There are no such memories.",
        answers.MemoryListResult(memories=rows, next_cursor=cursor),
    )


async def profile(request: McpRequest, args: arguments.ProfileArguments) -> ToolOutput:
    text = await request.call.hub.personas.profile(request.view(args))
    answer = answers.ProfileResult(persona_id=request.persona_id(args), markdown=text)
    return ToolOutput(text or "Nothing is known yet.", answer)


async def read_page(request: McpRequest, args: arguments.PageArguments) -> ToolOutput:
    page = await find_page(request, args, args.page_id)
    answer = answers.PageResult(
        page_id=page.id, title=page.title, text=page.text, truncated=page.truncated
    )
    return ToolOutput(page.text or "The page is empty.", answer)


async def goals(request: McpRequest, args: arguments.GoalsArguments) -> ToolOutput:
    found = await request.call.hub.goals.find(request.owner(args), args.status)
    rows = [answers.tool_goal(goal) for goal in found]
    lines = [f"- #{row.id} {row.title} ({row.status}) {row.details}".rstrip() for row in rows]
    return ToolOutput(
        "\n".join(lines) or "There are no such goals.", answers.GoalListResult(goals=rows)
    )


async def goal_create(request: McpRequest, args: arguments.GoalCreateArguments) -> ToolOutput:
    request.call.check_length(args.details, "details")
    goal = await request.call.hub.goals.create(
        request.call.caller, request.owner(args), args.title, args.details
    )
    answer = answers.GoalUpdateResult(goal_id=goal.id, updated=True, status=goal.status)
    return ToolOutput(f"Goal #{goal.id} created: {goal.title}", answer)


async def goal_update(request: McpRequest, args: arguments.GoalUpdateArguments) -> ToolOutput:
    updated = await request.call.hub.goals.set_status(
        request.call.caller, request.owner(args), args.goal_id, args.status
    )
    answer = answers.GoalUpdateResult(goal_id=args.goal_id, updated=updated, status=args.status)
    return ToolOutput(f"Goal #{args.goal_id} is {args.status.value}.", answer)


async def upcoming_events(request: McpRequest, args: arguments.UpcomingArguments) -> ToolOutput:
    found = await request.call.hub.upcoming_events(request.view(args), args.days)
    rows = [answers.tool_event(one) for one in found]
    lines = [f"- {row.next_date} (in {row.days_away} days) {row.content}" for row in rows]
    return ToolOutput(
        "\n".join(lines) or "No upcoming events.", answers.UpcomingResult(events=rows)
    )


async def _tool_memories(
    request: McpRequest, args: arguments.ToolArguments, ids: list[int]
) -> list[answers.ToolMemory]:
    view = request.view(args)
    pages = [await request.call.hub.browse.get_memory(view, memory_id) for memory_id in ids]
    return [answers.tool_memory(memory) for page in pages for memory in page.memories]
