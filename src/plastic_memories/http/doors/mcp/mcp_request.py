"""An MCP request with its persona, bot and app."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.errors import NotAllowed
from plastic_memories.http.caller_context import ApiCall
from plastic_memories.http.doors.mcp.arguments import ToolArguments
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.wire.fields import BotRequest

DEFAULT_PERSONA = "default"
_SOURCE_APP = "mcp"


@dataclass(frozen=True, slots=True)
class McpRequest:
    """One request, with the defaults from its headers and its key."""

    call: ApiCall

    def persona_id(self, args: ToolArguments) -> str:
        """Return the persona named by the arguments, the header or the key, else the default."""
        bound = self.call.caller.key.limits.persona_id
        return args.persona_id or self._header("x-persona-id") or bound or DEFAULT_PERSONA

    def owner(self, args: ToolArguments) -> Owner:
        return self.call.owner(self.persona_id(args))

    def view(self, args: ToolArguments) -> Viewpoint:
        return self.call.view(self.as_bot(args), source_app=self.app)

    def as_bot(self, args: ToolArguments) -> BotRequest:
        return BotRequest(persona_id=self.persona_id(args), bot_id=self.bot_id)

    @property
    def app(self) -> str:
        return self.call.app(self._header("x-source-app")) or _SOURCE_APP

    @property
    def bot_id(self) -> str | None:
        return self._header("x-bot-id") or None

    @property
    def may_write(self) -> bool:
        return not self.call.caller.key.limits.read_only

    def check_may_write(self) -> None:
        if not self.may_write:
            raise NotAllowed("This key may only read.")

    def _header(self, name: str) -> str:
        """Return a header's text. Header values are bytes; clients send UTF-8 names."""
        try:
            return self.call.request.headers.get(name, "").encode("latin-1").decode()
        except UnicodeError:
            return ""
