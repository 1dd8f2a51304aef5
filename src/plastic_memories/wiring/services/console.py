"""The web console: signing in, keys for clients, the people of a hub, the demo."""

from __future__ import annotations

from plastic_memories.hub.api_keys import ApiKeys
from plastic_memories.hub.console.client_keys import ClientKeys
from plastic_memories.hub.console.console import Console
from plastic_memories.hub.console.demo_persona import DemoPersona
from plastic_memories.hub.console.sign_in import SignIn
from plastic_memories.hub.console.user_directory import UserDirectory
from plastic_memories.wiring.services.personas import PersonaServices
from plastic_memories.wiring.services.service_context import ServiceContext
from plastic_memories.wiring.services.transfer import TransferServices


def build_console(
    context: ServiceContext, keys: ApiKeys, personas: PersonaServices, transfer: TransferServices
) -> Console:
    storage = context.storage
    return Console(
        SignIn(storage.backend, keys, storage.clock),
        ClientKeys(keys),
        UserDirectory(storage),
        DemoPersona(personas.personas, transfer.transfer),
    )
