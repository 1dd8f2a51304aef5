"""The list of MCP tools: names and descriptions for a model."""

from __future__ import annotations

from plastic_memories.http.doors.mcp import answers, arguments, tools
from plastic_memories.http.doors.mcp.tools import Effect, MemoryTool

_TOOLS = (
    MemoryTool(
        name="recall",
        title="Recall · 回忆",
        description=(
            "Recall memories relevant to a message: facts, preferences, events, earlier messages, "
            "and always the user's name and constraints (allergies, taboos). Call it before you "
            "answer anything about the user or the past. "
            "回答与用户或往事有关的问题前先调用。"
        ),
        effect=Effect.READS,
        arguments=arguments.RecallArguments,
        answer=answers.RecallResult,
        run=tools.recall,
    ),
    MemoryTool(
        name="remember",
        title="Remember · 记住",
        description=(
            "Remember something the user said or asked to be remembered. One statement for each "
            "call. Never store passwords, keys or card numbers. "
            "用户要求记住，或说出值得长期记住的事时调用。"
        ),
        effect=Effect.ADDS,
        arguments=arguments.RememberArguments,
        answer=answers.RememberResult,
        run=tools.remember,
    ),
    MemoryTool(
        name="confirm",
        title="Confirm or reject · 确认",
        description=(
            "Confirm or reject a candidate memory. Ask the user first; never decide "
            "for them. 先问用户，再确认或拒绝候选记忆。"
        ),
        effect=Effect.ERASES,
        arguments=arguments.ConfirmArguments,
        answer=answers.ReviewResult,
        run=tools.confirm,
    ),
    MemoryTool(
        name="forget",
        title="Forget · 忘记",
        description=(
            "Erase memories for good. With a query it only shows what it would erase: show that "
            "to the user, then call it again with memory_ids. "
            "永久删除；先用 query 预览，再用 id 删除。"
        ),
        effect=Effect.ERASES,
        arguments=arguments.ForgetArguments,
        answer=answers.ForgetResult,
        run=tools.forget,
    ),
    MemoryTool(
        name="list",
        title="List memories · 列表",
        description=(
            "List memories, newest first, or with status=candidate those that wait for "
            "confirmation. To search by meaning use recall. 列出记忆或待确认的候选。"
        ),
        effect=Effect.READS,
        arguments=arguments.ListArguments,
        answer=answers.MemoryListResult,
        run=tools.list_memories,
    ),
    MemoryTool(
        name="profile",
        title="Profile · 画像",
        description=(
            "The persona, and what it knows about the user, as Markdown. 角色与用户的画像。"
        ),
        effect=Effect.READS,
        arguments=arguments.ProfileArguments,
        answer=answers.ProfileResult,
        run=tools.profile,
    ),
    MemoryTool(
        name="read_page",
        title="Read a page · 读页面",
        description=(
            "Read one of the user's longer pages; recall lists them by title and id. "
            "按 id 读取用户的长篇页面。"
        ),
        effect=Effect.READS,
        arguments=arguments.PageArguments,
        answer=answers.PageResult,
        run=tools.read_page,
    ),
    MemoryTool(
        name="goals",
        title="Goals · 目标",
        description="List the user's goals. 列出用户的目标。",
        effect=Effect.READS,
        arguments=arguments.GoalsArguments,
        answer=answers.GoalListResult,
        run=tools.goals,
    ),
    MemoryTool(
        name="goal_create",
        title="New goal · 新目标",
        description="Create a goal of the user. 记下用户的目标。",
        effect=Effect.ADDS,
        arguments=arguments.GoalCreateArguments,
        answer=answers.GoalUpdateResult,
        run=tools.goal_create,
    ),
    MemoryTool(
        name="goal_update",
        title="Goal status · 目标状态",
        description="Set the status of a goal: active, paused, done or dropped. 更新目标状态。",
        effect=Effect.ADDS,
        arguments=arguments.GoalUpdateArguments,
        answer=answers.GoalUpdateResult,
        run=tools.goal_update,
    ),
    MemoryTool(
        name="upcoming_events",
        title="Upcoming events · 近期日程",
        description=(
            "Birthdays, anniversaries and plans of the next days, soonest first. "
            "近期的生日、纪念日与计划。"
        ),
        effect=Effect.READS,
        arguments=arguments.UpcomingArguments,
        answer=answers.UpcomingResult,
        run=tools.upcoming_events,
    ),
)
TOOLS = {tool.name: tool for tool in _TOOLS}
