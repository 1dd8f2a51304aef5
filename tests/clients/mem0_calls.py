"""Every memory method of mem0's own client, sync and async; run by that client's Python.

Prints one JSON document: what each call returned, or the name of what it raised.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

TALK = [
    {"role": "user", "content": "I'm not a big fan of thrillers but I love sci-fi movies."},
    {"role": "assistant", "content": "Got it! I'll suggest sci-fi movies."},
]
Results = dict[str, Any]


def sync_calls(client: Any) -> Results:
    alice = {"user_id": "alice"}
    done: Results = {"ids": [client.org_id, client.project_id]}
    done["add"] = client.add(TALK, user_id="alice", metadata={"kind": "movies"})
    done["add_chinese"] = client.add("我对海鲜过敏", user_id="alice", agent_id="初音", run_id="r1")
    done["add_as_said"] = client.add(
        "茶在柜子里", user_id="alice", infer=False, expiration_date="2999-01-01"
    )
    done["add_for_bob"] = client.add("I live in Paris", user_id="bob")
    done["search"] = client.search("what movies do I like?", filters=alice, top_k=1)
    both = {"AND": [alice, {"agent_id": "初音"}]}
    done["search_filtered"] = client.search("海鲜", filters=both, threshold=0.2, rerank=True)
    done["search_metadata"] = client.search(
        "movies", filters={"AND": [alice, {"metadata": {"kind": "movies"}}]}
    )
    done["get_all"] = client.get_all(filters=alice, page=1, page_size=2)
    done["get_all_next"] = client.get_all(filters=alice, page=2, page_size=2)
    memory_id = done["add_as_said"]["results"][0]["id"]
    done["get"] = client.get(memory_id)
    done["update"] = client.update(memory_id, text="茶在冰箱里", metadata={"n": 1})
    done["history"] = client.history(memory_id)
    done["users"] = client.users()
    batch = [{"memory_id": memory_id, "text": "茶在书桌上"}]
    done["batch_update"] = client.batch_update(batch)
    done["batch_delete"] = client.batch_delete([{"memory_id": memory_id}])
    done["get_missing"] = raised(lambda: client.get(memory_id))
    done["unknown_operator"] = raised(
        lambda: client.search("x", filters={**alice, "n": {"like": 1}})
    )
    done["summary"] = raised(lambda: client.get_summary(alice))
    return done | deletions(client, done["add"]["results"][0]["id"])


def deletions(client: Any, memory_id: str) -> Results:
    alice = {"user_id": "alice"}
    done: Results = {"delete": client.delete(memory_id)}
    done["delete_all"] = client.delete_all(user_id="alice", agent_id="初音")
    done["left"] = client.get_all(filters=alice)
    done["delete_filtered"] = client.delete_all(filters=alice)
    done["delete_users"] = client.delete_users(user_id="bob")
    done["nobody_left"] = client.users()
    client.add("I live in Rome", user_id="carol")
    done["reset"] = client.reset()
    done["after_reset"] = client.users()
    return done


async def async_calls(opened: Any) -> Results:
    async with opened as client:
        alice = {"user_id": "alice"}
        done: Results = {"add": await client.add(TALK, user_id="alice")}
        done["search"] = await client.search("what movies do I like?", filters=alice)
        done["get_all"] = await client.get_all(filters=alice)
        memory_id = done["get_all"]["results"][0]["id"]
        done["get"] = await client.get(memory_id)
        done["update"] = await client.update(memory_id, text="I love films")
        done["history"] = await client.history(memory_id)
        done["users"] = await client.users()
        batch = [{"memory_id": memory_id, "text": "I love cinema"}]
        done["batch_update"] = await client.batch_update(batch)
        done["batch_delete"] = await client.batch_delete([{"memory_id": memory_id}])
        done["delete"] = await client.delete(
            (await client.get_all(filters=alice))["results"][0]["id"]
        )
        await client.add("I live in Paris", user_id="alice")
        done["delete_all"] = await client.delete_all(user_id="alice")
        done["left"] = await client.get_all(filters=alice)
        await client.add("I live in Rome", user_id="alice")
        done["delete_users"] = await client.delete_users(user_id="alice")
        done["nobody_left"] = await client.users()
        return done


def raised(call: Any) -> str:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - whatever it is, its name is the result
        return f"{type(error).__name__}: {error}"
    return "nothing"


def main() -> None:
    from mem0 import AsyncMemoryClient, MemoryClient  # noqa: PLC0415 - not in the hub's Python

    host, key = sys.argv[1:]
    answer: Results = {
        "sync": sync_calls(MemoryClient(api_key=key, host=host)),
        "async": asyncio.run(async_calls(AsyncMemoryClient(api_key=key, host=host))),
    }
    answer["wrong_key"] = raised(lambda: MemoryClient(api_key="wrong", host=host))
    print(json.dumps(answer))  # noqa: T201


if __name__ == "__main__":
    main()
