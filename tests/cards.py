"""Character cards to test with: as JSON, and inside pictures."""

from __future__ import annotations

import base64
import json
from typing import Any

from plastic_memories.formats.png import PngFile, blank_png, parse_png

Json = dict[str, Any]


def v2(name: str = "阿澄", **fields: Any) -> Json:
    """A card of version 2 with a bit of everything, and things nobody here knows."""
    entries = [
        {
            "keys": ["钟楼", "wakeup tower"],
            "content": "钟楼每晚九点会敲响，{{char}}小时候在那里迷过路。",
            "extensions": {"depth": 4},
            "enabled": True,
            "insertion_order": 100,
            "priority": 7,
            "name": "钟楼",
        },
        {
            "keys": ["curfew"],
            "content": "Nobody leaves the town after the wakeup.",
            "extensions": {},
            "enabled": True,
            "constant": True,
            "insertion_order": 1,
        },
        {
            "keys": ["never"],
            "content": "This entry is switched off.",
            "extensions": {},
            "enabled": False,
            "insertion_order": 2,
        },
    ]
    known: Json = {
        "name": name,
        "description": "{{char}}是钟楼脚下的修表匠，对{{user}}很温柔。",
        "personality": "安静、耐心",
        "scenario": "雨夜的修表铺",
        "first_mes": "你来了，{{user}}。",
        "mes_example": "<START>\n{{user}}: 你好\n{{char}}: 慢慢说。",
        "creator_notes": "notes",
        "system_prompt": "Stay in character as {{char}}. {{original}}",
        "post_history_instructions": "",
        "alternate_greetings": ["又下雨了。"],
        "character_book": {"extensions": {"x": 1}, "entries": entries},
        "tags": ["原创"],
        "creator": "someone",
        "character_version": "1.1",
        "extensions": {"talkativeness": "0.5", "depth_prompt": {"depth": 4, "prompt": "雨"}},
        "unknown_field": [1, 2.5, None, {"deep": "值"}],
    }
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": {**known, **fields}}


def v3(name: str = "Aqua", **fields: Any) -> Json:
    more = {"nickname": "Aquie", "group_only_greetings": [], "assets": [{"type": "icon"}]}
    inside = {**v2(name)["data"], **more, **fields}
    return {"spec": "chara_card_v3", "spec_version": "3.0", "data": inside}


def v1(name: str = "Old Tom", **fields: Any) -> Json:
    known = {
        "name": name,
        "description": "{{char}} keeps the lighthouse.",
        "personality": "gruff",
        "scenario": "a storm",
        "first_mes": "Hm.",
        "mes_example": "",
    }
    return {**known, **fields}


def as_json(card: Json) -> bytes:
    """Write a card as a person's editor would: not the way our own writer does."""
    return json.dumps(card, indent=4, ensure_ascii=True).encode()


def as_png(card: Json, keyword: bytes = b"chara", picture: PngFile | None = None) -> bytes:
    text = base64.b64encode(as_json(card))
    return (picture or blank_png(3, 2)).with_text(keyword, text).to_bytes()


def pixels(raw: bytes) -> list[tuple[bytes, bytes]]:
    """Return everything of a picture that is no text."""
    return [(c.kind, c.content) for c in parse_png(raw).chunks if c.kind != b"tEXt"]


def inside(raw: bytes, keyword: bytes = b"chara") -> bytes:
    """Return the JSON a picture carries, as it was written."""
    return base64.b64decode(parse_png(raw).texts()[keyword])
