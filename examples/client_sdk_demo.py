"""A tour of the Python SDK against a hub that is running: remember, recall, confirm, forget."""

from __future__ import annotations

import sys

from plastic_memories_client import (
    Message,
    NeedsSupersedes,
    PlasticMemoriesClient,
    PlasticMemoriesClientError,
)

PERSONA = "sdk_demo"


def talk(client: PlasticMemoriesClient) -> None:
    """Say something, let the hub learn from it, and ask for it."""
    said = [
        Message(role="user", content="请用默认中文", client_msg_id="demo-1"),
        Message(role="user", content="叫我 tcmiku", client_msg_id="demo-2"),
    ]
    client.append_messages(said)
    print("learned:", [item.key for item in client.write(said).items])
    print(client.recall("我叫什么？", fail_open=True).injection_block)


def confirm_identity(client: PlasticMemoriesClient) -> None:
    """Fill an identity slot: a write is a candidate until somebody confirms it."""
    candidate = client.write_item("identity", "role", "资深 Python 工程师")
    if candidate.memory_id is None:
        return
    try:
        client.confirm(candidate.memory_id)
    except NeedsSupersedes as taken:
        client.confirm(candidate.memory_id, supersedes_id=taken.detail["active_memory_id"])
    print("slots:", {slot.slot_name: slot.value for slot in client.slots()})


def set_a_goal(client: PlasticMemoriesClient) -> None:
    """Note a goal and finish it."""
    goal = client.goal_create("Learn Rust", "practice")
    client.goal_update_status(goal.goal_id, "done")
    print("goals:", [(each.title, each.status) for each in client.goals()])


def main(base_url: str = "http://127.0.0.1:8007") -> int:
    """Run the tour; what it wrote is erased at the end."""
    with PlasticMemoriesClient(base_url, persona_id=PERSONA) as client:
        try:
            print("hub:", client.health().status)
            talk(client)
            confirm_identity(client)
            set_a_goal(client)
            client.persona_delete(PERSONA)
        except PlasticMemoriesClientError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
