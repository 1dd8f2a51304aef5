"""What the web console needs besides the use cases that every client has."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.console.client_keys import ClientKeys
from plastic_memories.hub.console.demo_persona import DemoPersona
from plastic_memories.hub.console.sign_in import SignIn
from plastic_memories.hub.console.user_directory import UserDirectory


@dataclass(frozen=True, slots=True)
class Console:
    sign_in: SignIn
    client_keys: ClientKeys
    directory: UserDirectory
    demo: DemoPersona
