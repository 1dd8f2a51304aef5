"""Character cards through the door: in, out, kept, forgotten, and nobody else's."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from cards import as_json, as_png, inside, pixels, v1, v2, v3
from harness import Api, Json, StartHub, data_of, enveloped, refused


async def brought(api: Api, raw: bytes, **params: Any) -> httpx.Response:
    asked = {"persona_id": api.persona, **params}
    return enveloped(
        await api.http.post(
            "/persona/import_card", content=raw, params=asked, headers=api.all_headers
        )
    )


async def take_in(api: Api, raw: bytes, **params: Any) -> Json:
    return data_of(await brought(api, raw, **params))


async def give(api: Api, **params: Any) -> bytes:
    asked = {"persona_id": api.persona, **params}
    answer = await api.http.get("/persona/export_card", params=asked, headers=api.all_headers)
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.mark.parametrize("card", [v1(), v2(), v3()], ids=["v1", "v2", "v3"])
async def test_a_card_goes_in_and_comes_out_byte_for_byte(api: Api, card: Json) -> None:
    keyword = b"ccv3" if card.get("spec") == "chara_card_v3" else b"chara"
    picture = as_png(card, keyword)

    taken = await take_in(api, picture)

    assert taken["applied"][-1] == "card"
    assert await give(api, format="png") == picture
    assert await give(api, format="json") == as_json(card)


async def test_a_card_is_recalled_with_its_names_filled_in(api: Api) -> None:
    await api.learn("叫我小林")
    await take_in(api, as_json(v2()))

    found = await api.recall("钟楼几点敲响？")

    assert "阿澄是钟楼脚下的修表匠，对小林很温柔。" in found["stable_block"]["text"]
    assert "Stay in character as 阿澄." in found["stable_block"]["text"]
    assert "Nobody leaves the town after the wakeup." in found["stable_block"]["text"]
    assert "阿澄小时候在那里迷过路" in found["turn_block"]["text"]
    assert "{{" not in found["injection_block"] + found["PERSONA_PROFILE"]


async def test_a_user_without_a_name_is_called_the_user(api: Api) -> None:
    await take_in(api, as_json(v3(description="{{char}} likes {{user}}.", character_book=None)))

    profile = await api.saw("/persona/profile")

    assert profile["profile_markdown"].startswith("# Aquie")
    assert "Aquie likes 用户." in profile["profile_markdown"]


async def test_an_english_card_speaks_english(api: Api) -> None:
    await take_in(api, as_json(v1()))
    await api.did("/user/settings", language="en")
    await take_in(api.of("p2"), as_json(v1(description="{{char}} waits for {{user}}.")))

    found = await api.of("p2").recall("")

    assert "Old Tom waits for the user." in found["stable_block"]["text"]


async def test_what_is_there_stays_unless_it_may_be_overwritten(api: Api) -> None:
    await take_in(api, as_json(v2()))

    again = await take_in(api, as_json(v3()))
    over = await take_in(api, as_json(v3(character_book=None)), allow_overwrite=True)

    assert "card" in again["skipped"]
    assert await api.listed(type="glossary") == []
    assert "card" in over["overwritten"]
    assert await give(api, format="json") == as_json(v3(character_book=None))
    [persona] = (await api.saw("/persona/list"))["items"]
    assert persona["display_name"] == "Aquie"


async def test_memories_travel_only_when_asked_for_on_both_sides(
    api: Api, start_hub: StartHub
) -> None:
    await take_in(api, as_png(v2()))
    await api.learn("我对海鲜过敏")
    await api.remember("waits", "identity", "who")
    shared, private = await give(api), await give(api, memories="true")
    other = api.as_("devkey2")

    await take_in(other.of("shared"), shared)
    left_out = await take_in(other.of("careful"), private)
    taken = await take_in(api.of("own"), private, memories="true")

    assert "海鲜" not in inside(shared).decode()
    assert pixels(private) == pixels(shared)
    assert left_out["memories"]["bundled"] > 0
    assert left_out["memories"]["counts"] == {}
    assert "我对海鲜过敏" not in await other.of("careful").listed()
    assert taken["memories"]["conflicts"] == []
    assert "我对海鲜过敏" in await api.of("own").listed()
    assert await api.of("own").listed("candidate") == ["waits"]
    [row] = [
        row
        for row in (await api.of("own").saw("/memory/list"))["items"]
        if row["content"] == "我对海鲜过敏"
    ]
    assert row["quote"] == "我对海鲜过敏"
    assert b"plastic_memories" not in inside(await give(api.of("own")))


async def test_the_same_bundle_twice_changes_nothing(api: Api) -> None:
    await take_in(api, as_json(v2()))
    await api.remember("养了一只猫", "fact", "pet")
    bundle = await give(api, format="json", memories="true")
    other = api.as_("devkey2")
    await take_in(other, bundle, memories="true")
    before = sorted(await other.listed())

    again = await take_in(other, bundle, memories="true")

    assert again["applied"] == []
    assert sorted(await other.listed()) == before == sorted(await api.listed())


async def test_what_the_owner_changed_since_is_newer_than_the_card(api: Api) -> None:
    await take_in(api, as_json(v2()))
    [row] = [
        row
        for row in (await api.saw("/memory/list", type="persona"))["items"]
        if row["key"] == "persona"
    ]
    await api.did("/memory/update", memory_id=row["id"], content="她现在住在海边。")
    bundle = await give(api, format="json", memories="true")
    other = api.of("p2")

    await take_in(other, bundle, memories="true")

    assert "她现在住在海边。" in await other.listed(type="persona")
    assert row["content"] not in await other.listed(type="persona")


async def test_a_persona_without_a_card_gets_one(api: Api) -> None:
    await api.did("/persona/create", display_name="小满", description="卖花的人")
    await api.remember("说话轻声细语", "persona", "persona")
    await api.remember("不谈政治", "rule", "rules")
    await api.remember("花市在城南", "glossary", "market", tags=["花市"])
    await api.learn("我住在成都")

    document = json.loads(await give(api, format="json"))
    card = json.loads(inside(await give(api, format="png"), b"ccv3"))

    assert document == card
    assert document["spec"] == "chara_card_v3"
    fields = document["data"]
    assert fields["name"] == "小满"
    assert fields["description"] == "卖花的人\n\n说话轻声细语"
    assert fields["system_prompt"] == "不谈政治"
    assert fields["character_book"]["entries"][0]["keys"] == ["花市"]
    assert "成都" not in json.dumps(document, ensure_ascii=False)


async def test_a_card_in_the_template_folder_is_a_template(
    start_hub: StartHub, tmp_path: Path
) -> None:
    root = tmp_path / "templates"
    (root / "cards").mkdir(parents=True)
    (root / "cards" / "阿澄.png").write_bytes(as_png(v2()))
    (tmp_path / "outside.png").write_bytes(as_png(v2()))
    (root / "link.png").symlink_to(tmp_path / "outside.png")
    api: Api = await start_hub(template_root=str(root))

    made = await api.did("/persona/create_from_template", template_path="personas/cards/阿澄.png")

    assert made["template_path"] == "cards/阿澄.png"
    assert "persona:persona" in made["applied"]
    assert await give(api) == as_png(v2())
    for path in ("link.png", "../outside.png", "cards/none.png", str(tmp_path / "outside.png")):
        answer = await api.post("/persona/create_from_template", template_path=path)
        refused(answer, 400, "template_error")


async def test_another_user_has_neither_the_persona_nor_its_card(api: Api) -> None:
    await take_in(api, as_png(v2()))

    answer = await api.as_("devkey2").get("/persona/export_card")

    refused(answer, 404, "not_found")


@pytest.mark.parametrize("raw", [b"", b"{}", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04"])
async def test_what_is_no_card_is_refused_and_leaves_nothing(api: Api, raw: bytes) -> None:
    refused(await brought(api, raw), 400, "template_error")

    assert (await api.saw("/persona/list"))["items"] == []


async def test_a_secret_in_a_card_is_refused_wherever_it_stands(api: Api) -> None:
    hidden = v2(extensions={"notes": {"api": "my password is hunter2hunter2"}})

    detail = refused(await brought(api, as_json(hidden)), 400, "judge_deny")

    assert detail["category"] == "credential"
    assert (await api.saw("/persona/list"))["items"] == []


async def test_a_secret_is_masked_where_that_is_the_policy(start_hub: StartHub) -> None:
    api: Api = await start_hub(sensitive="redact")
    hidden = v2(extensions={"notes": "my password is hunter2hunter2"})

    await take_in(api, as_png(hidden))

    assert b"hunter2" not in inside(await give(api))


async def test_forgetting_a_row_of_a_card_forgets_the_card(api: Api) -> None:
    await take_in(api, as_png(v2()))
    [row] = [
        row
        for row in (await api.saw("/memory/list", type="glossary"))["items"]
        if "钟楼" in row["content"]
    ]

    await api.did("/memory/forget", memory_id=row["id"])

    assert "迷过路" not in (await give(api, format="json", memories="true")).decode()


async def test_deleting_a_persona_deletes_its_card(api: Api) -> None:
    await take_in(api, as_png(v2()))

    gone = await api.did("/persona/delete", confirm="p1")

    assert gone["receipt"]["erased"]["persona_cards"] == 1
    refused(await api.get("/persona/export_card"), 404, "not_found")


async def test_the_hubs_own_export_carries_cards(api: Api) -> None:
    await take_in(api, as_png(v2()))
    other = api.as_("devkey2")

    report = data_of(await other.bring_in(await api.export()))
    again = data_of(await other.bring_in(await api.export()))

    assert report["counts"]["cards"] == 1
    assert "cards" not in again["counts"]
    assert await give(other) == as_png(v2())


async def test_a_card_line_that_is_no_card_is_skipped_with_its_reason(api: Api) -> None:
    broken = base64.b64encode(b"nothing").decode()
    lines = [
        {"kind": "card", "persona_id": "p1", "original": broken},
        {"kind": "card", "persona_id": "p1", "original": "%%%"},
    ]

    report = data_of(await api.bring_in("\n".join(json.dumps(line) for line in lines)))

    assert len(report["skipped"]) == 2
    assert report["counts"] == {}
