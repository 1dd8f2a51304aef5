"""The console's side of the server: signing in, cookies, foreign pages, isolation, assets."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from console_parts import COOKIE, cookie_headers, link_secret, post_session, sign_in
from harness import Api, StartHub, StillClock, data_of, refused
from plastic_memories.http.console.assets import POLICY, assets
from plastic_memories.model.key import KeyLimits

STATIC = Path(__file__).parents[2] / "src/plastic_memories/http/console/static"


async def test_a_key_signs_in_and_the_cookie_serves_in_its_place(api: Api) -> None:
    await api.remember("喜欢乌龙茶")

    page = await sign_in(api)

    assert await page.listed() == ["喜欢乌龙茶"]


async def test_the_cookie_is_for_the_browser_only_and_for_our_own_pages(api: Api) -> None:
    answer = await post_session(api, api_key="devkey")

    cookie = answer.headers["set-cookie"].lower()

    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie


async def test_over_https_the_cookie_stays_there(api: Api) -> None:
    answer = await api.http.post(
        "https://127.0.0.1:8007/console/session",
        json={"api_key": "devkey"},
        headers={"X-Console": "1"},
    )

    assert "secure" in answer.headers["set-cookie"].lower()


async def test_a_wrong_key_does_not_sign_in(api: Api) -> None:
    answer = await post_session(api, api_key="wrong")

    refused(answer, 401, "unauthorized")
    assert "set-cookie" not in answer.headers


async def test_a_link_signs_in_once(api: Api) -> None:
    link = await link_secret(api)

    first = await post_session(api, link=link)
    second = await post_session(api, link=link)

    assert data_of(first)["is_admin"] is True
    refused(second, 401, "unauthorized")


async def test_an_old_link_signs_nobody_in(timed: Api, clock: StillClock) -> None:
    link = await link_secret(timed)
    clock.at += 16 * 60

    answer = await post_session(timed, link=link)

    refused(answer, 401, "unauthorized")


async def test_two_processes_agree_on_a_session(start_hub: StartHub) -> None:
    first, second = await start_hub(), await start_hub()
    page = await sign_in(first)

    other = Api(second.http, second.hub, None, None, "p1", page.headers)

    assert await other.listed() == []


async def test_a_session_ends_after_its_time(timed: Api, clock: StillClock) -> None:
    page = await sign_in(timed)
    clock.at += 31 * 86_400

    answer = await page.get("/memory/list")

    refused(answer, 401, "unauthorized")


async def test_a_session_ends_with_its_key(api: Api) -> None:
    assert api.hub is not None
    text, key = await api.hub.keys.create("default", "userA", "phone", KeyLimits())
    page = await sign_in(api, text)
    await api.hub.keys.revoke(key.id)

    answer = await page.get("/memory/list")

    refused(answer, 401, "unauthorized")


async def test_signing_out_ends_this_session_only(api: Api) -> None:
    here, elsewhere = await sign_in(api), await sign_in(api)

    await api.http.post("/console/session/end", json={}, headers=here.headers)

    refused(await here.get("/memory/list"), 401, "unauthorized")
    assert await elsewhere.listed() == []


async def test_signing_out_everywhere_ends_every_session_and_link_of_the_key(api: Api) -> None:
    here, elsewhere = await sign_in(api), await sign_in(api)
    link = await link_secret(api)

    await api.http.post("/console/session/end", json={"everywhere": True}, headers=here.headers)

    refused(await elsewhere.get("/memory/list"), 401, "unauthorized")
    refused(await post_session(api, link=link), 401, "unauthorized")


async def test_a_cookie_without_the_header_of_our_pages_is_not_believed(api: Api) -> None:
    page = await sign_in(api)
    only_cookie = {"Cookie": page.headers["Cookie"]}

    read = await api.http.get("/memory/list?persona_id=p1", headers=only_cookie)
    written = await api.http.post("/memory/write", json={}, headers=only_cookie)

    refused(read, 401, "unauthorized")
    refused(written, 401, "unauthorized")


@pytest.mark.parametrize("origin", ["http://127.0.0.1:3000", "http://localhost:8007"])
async def test_a_page_on_another_port_or_host_cannot_use_the_cookie(api: Api, origin: str) -> None:
    page = await sign_in(api)

    answer = await api.http.get(
        "/memory/list?persona_id=p1", headers={**page.headers, "Origin": origin}
    )

    refused(answer, 401, "unauthorized")


async def test_no_other_page_may_ask_whether_it_could_use_the_cookie(api: Api) -> None:
    asked = {
        "Origin": "http://127.0.0.1:3000",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-console",
    }

    answer = await api.http.options("/memory/write", headers=asked)

    assert "access-control-allow-credentials" not in answer.headers


async def test_nobody_is_signed_in_by_a_foreign_form(api: Api) -> None:
    answer = await api.http.post("/console/session", json={"api_key": "devkey"})

    refused(answer, 403, "forbidden")


async def test_a_user_sees_nothing_of_another(api: Api) -> None:
    await api.remember("甲的秘密")
    await api.did("/memory/forget", type="fact", key="k", never_again=True)
    await api.remember("甲的另一件事", key="k2")

    other = await sign_in(api, "devkey2")
    people = data_of(await api.http.get("/console/people", headers=other.headers))

    assert await other.listed() == []
    assert (await other.saw("/console/never_again"))["items"] == []
    assert "userA" not in [one["user_id"] for one in people["items"]]


async def test_a_user_key_cannot_choose_another_user(api: Api) -> None:
    await api.remember("甲的事")

    other = await sign_in(api, "devkey2", user="userA")

    assert await other.listed() == []


async def test_an_app_key_lists_its_people_by_name_and_not_those_of_other_tenants(api: Api) -> None:
    await api.learn("叫我小林")
    await api.as_("acmekey", "bob").remember("别家的事")
    app = await sign_in(api, "appkey")

    found = data_of(await api.http.get("/console/people?q=小林", headers=app.headers))
    everybody = data_of(await api.http.get("/console/people", headers=app.headers))

    assert [(one["user_id"], one["name"]) for one in found["items"]] == [("userA", "小林")]
    assert "bob" not in [one["user_id"] for one in everybody["items"]]


async def test_an_app_key_acts_for_the_person_it_chose(api: Api) -> None:
    await api.remember("甲的事")

    page = await sign_in(api, "appkey", user="userA")

    assert await page.listed() == ["甲的事"]


async def test_only_the_operator_sees_operations(api: Api) -> None:
    operator = cookie_headers(await post_session(api, link=await link_secret(api)))
    user = await sign_in(api)

    seen = data_of(await api.http.get("/console/operations", headers=operator))

    assert seen["problems"] == []
    refused(await user.get("/console/operations"), 403, "forbidden")


async def test_operations_show_no_secret(start_hub: StartHub) -> None:
    api = await start_hub(proxy_upstream_key="very-secret", proxy_upstream_url="http://127.0.0.1:9")
    operator = cookie_headers(await post_session(api, link=await link_secret(api)))

    answer = await api.http.get("/console/operations", headers=operator)

    assert "very-secret" not in answer.text
    assert "devkey" not in answer.text


async def test_a_key_made_in_the_console_is_of_the_same_user_and_shows_its_first_call(
    api: Api,
) -> None:
    page = await sign_in(api)
    made = await page.did("/console/keys/create", label="SillyTavern")
    [before] = (await page.saw("/console/keys"))["items"]

    await api.as_(made["key"]).remember("从酒馆来")
    [after] = (await page.saw("/console/keys"))["items"]

    assert await api.listed() == ["从酒馆来"]
    assert before["last_used_at"] is None
    assert after["last_used_at"] is not None


async def test_a_key_makes_no_key_that_may_do_more(api: Api) -> None:
    assert api.hub is not None
    text, _ = await api.hub.keys.create(
        "default", "userA", "", KeyLimits(read_only=True, persona_id="p1")
    )
    page = await sign_in(api, text)

    refused(await page.post("/console/keys/create", label="more"), 403, "forbidden")
    made = await page.did("/console/keys/create", label="same", read_only=True)
    everybody = await (await sign_in(api)).post("/console/keys/create", for_all_users=True)

    assert made["persona_id"] == "p1"
    refused(everybody, 403, "forbidden")


async def test_a_key_of_another_user_cannot_be_revoked(api: Api) -> None:
    assert api.hub is not None
    _, key = await api.hub.keys.create("default", "userB", "", KeyLimits())
    page = await sign_in(api)

    answer = await page.post("/console/keys/revoke", key_id=key.id)

    refused(answer, 404, "not_found")


async def test_what_is_never_learned_again_is_listed_without_its_text_and_can_be_allowed(
    api: Api,
) -> None:
    page = await sign_in(api)
    await page.remember("怕打针", "profile", "health.fear")
    await page.did("/memory/forget", type="profile", key="health.fear", never_again=True)
    marks = (await page.saw("/console/never_again"))["items"]

    await page.did("/console/allow_again", digest=marks[0]["digest"])

    assert [sorted(mark) for mark in marks] == [["created_at", "digest"]]
    assert (await page.saw("/console/never_again"))["items"] == []
    assert await page.remember("怕打针", "profile", "health.fear") > 0


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_the_demo_comes_and_goes_without_a_trace(api: Api, language: str) -> None:
    assert api.hub is not None
    page = await sign_in(api)
    kept = ("memories", "messages", "personas", "sessions", "memory_items", "goals")

    async def counts() -> dict[str, int]:
        assert api.hub is not None
        found = await api.hub.storage.read(lambda stores: stores.upkeep.counts())
        return {name: number for name, number in found.items() if name in kept}

    before = await counts()
    loaded = await page.did("/console/demo/load", language=language)
    again = await page.did("/console/demo/load", language=language)
    candidates = await page.of("demo").listed("candidate")
    upcoming = (await page.of("demo").saw("/events/upcoming", days=60))["items"]
    await page.did("/console/demo/remove")

    assert loaded["counts"]["memories"] > 15
    assert again["counts"].get("memories", 0) == 0
    assert len(candidates) == 3
    assert upcoming
    assert await counts() == before


async def test_the_page_and_its_files_come_under_a_strict_policy(api: Api) -> None:
    paths = ["/console", *(f"/console/static/{path}" for path in assets())]

    answers = [await api.http.get(path) for path in paths]

    assert {answer.status_code for answer in answers} == {200}
    assert {answer.headers["content-security-policy"] for answer in answers} == {POLICY}
    assert "unsafe" not in POLICY
    assert {answer.headers["x-content-type-options"] for answer in answers} == {"nosniff"}


async def test_an_unchanged_file_is_not_sent_again(api: Api) -> None:
    first = await api.http.get("/console/static/app.js")

    again = await api.http.get(
        "/console/static/app.js", headers={"If-None-Match": first.headers["etag"]}
    )

    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["../assets.py", "..%2fassets.py", "jsconfig.json", ""])
async def test_no_other_file_is_served(api: Api, path: str) -> None:
    answer = await api.http.get(f"/console/static/{path}")

    assert answer.status_code == 404


def test_all_files_together_are_small() -> None:
    assert sum(len(asset.content) for asset in assets().values()) < 300_000


def test_no_file_names_another_host_or_makes_markup_of_text() -> None:
    forbidden = re.compile(
        r"https?://(?!www\.w3\.org)[a-z]|innerHTML|outerHTML|insertAdjacentHTML|document\.write|"
        r"eval\(|new Function|style=|<script>|onclick=\""
    )

    found = {
        path: forbidden.findall(asset.content.decode())
        for path, asset in assets().items()
        if forbidden.search(asset.content.decode())
    }

    assert found == {}


def catalogue(language: str) -> dict[str, str]:
    text = (STATIC / "i18n" / f"{language}.js").read_text(encoding="utf-8")
    rows = re.findall(r'^  "((?:[^"\\]|\\.)+)": "((?:[^"\\]|\\.)*)",$', text, re.MULTILINE)
    assert len(rows) == len(text.splitlines()) - 4, "one text to a line"
    return dict(rows)


def used_keys() -> set[str]:
    code = "".join(
        asset.content.decode() for path, asset in assets().items() if "i18n/" not in path
    )
    return set(re.findall(r'\bt\("([\w. ]+)"', code))


def test_both_languages_have_every_text_with_the_same_names_in_it() -> None:
    chinese, english = catalogue("zh"), catalogue("en")

    assert chinese.keys() == english.keys()
    assert all(chinese.values())
    assert all(english.values())
    names = {key: set(re.findall(r"\{\w+\}", text)) for key, text in english.items()}
    assert {key: set(re.findall(r"\{\w+\}", text)) for key, text in chinese.items()} == names


def test_every_text_that_is_used_is_in_the_catalogue() -> None:
    assert used_keys() - catalogue("en").keys() == set()


def test_chinese_texts_are_chinese() -> None:
    latin = {"transfer.markdown"}

    found = {
        key
        for key, text in catalogue("zh").items()
        if not re.search(r"[\u4e00-\u9fff]", text) and key not in latin
    }

    assert found == set()


async def test_a_cookie_that_cannot_be_read_is_no_bug(api: Api) -> None:
    answer = await api.http.get(
        "/console/session", headers={"Cookie": f'{COOKIE}="\x7f; ;;=', "X-Console": "1"}
    )

    refused(answer, 401, "unauthorized")


async def test_a_link_for_the_phone_carries_no_more_rights(api: Api) -> None:
    page = await sign_in(api)
    made = data_of(await api.http.post("/console/link", headers=page.headers))
    secret = made["url"].partition("#link=")[2]

    phone: httpx.Response = await post_session(api, link=secret)

    assert data_of(phone)["is_admin"] is False
    assert len(made["qr"]) == len(made["qr"][0])


async def test_a_preview_says_what_would_be_learned_and_stores_nothing(api: Api) -> None:
    page = await sign_in(api)
    talk = [{"role": "user", "content": text} for text in ("叫我小林", "我的密码是 hunter2secret")]

    found = await page.did("/console/preview", messages=talk)

    assert "叫我小林" in [one["content"] for one in found["items"]]
    assert "hunter2secret" not in str(found)
    assert await page.listed("all") == []


async def test_looking_why_something_is_recalled_is_no_use_of_it(api: Api) -> None:
    assert api.hub is not None
    memory_id = await api.remember("喜欢乌龙茶")
    page = await sign_in(api)

    await page.recall("喝什么茶", explain=True)
    await api.hub.recall.recall_counts.flush(api.hub.storage.backend)
    looked = await api.saw("/memory/get", memory_id=memory_id)
    await page.recall("喝什么茶")
    await api.hub.recall.recall_counts.flush(api.hub.storage.backend)
    used = await api.saw("/memory/get", memory_id=memory_id)

    assert (looked["recall_count"], used["recall_count"]) == (0, 1)
