"""The demo: a conversation of 40 turns, and what is known after it, without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from plastic_memories.cli.main import main


def play(folder: Path, *options: str) -> str:
    """Run the demo of a user whose home is `folder`; return what it prints."""
    env = {"HOME": str(folder), "PLASTIC_MEMORIES_DATA_DIR": None, "NO_COLOR": "1"}
    done = CliRunner().invoke(main, ["demo", *options], env=env)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return json.loads(play(tmp_path_factory.mktemp("home"), "--json"))


def test_the_demo_plays_to_its_end(played: Any) -> None:
    assert len(played["turns"]) == 40
    assert played["known"] == {
        "basic_info.address": "小林",
        "basic_info.birthday": "05-03",
        "basic_info.job": "数据工程师",
        "basic_info.name": "林晓",
        "basic_info.place": "上海",
        "constraint.allergy.seafood": "海鲜",
        "preference.dislike.cilantro": "香菜",
        "preference.like.乌龙茶": "乌龙茶",
        "preference.reply_style": "简洁",
        "relationship.pet.cat": "豆豆",
    }
    coming = [event["content"] for event in played["upcoming"]]
    wanted = ("体检", "去北京出差", "恋爱纪念日", "生日")
    assert sum(any(word in content for content in coming) for word in wanted) == len(coming) == 4
    assert played["upcoming"][0]["days_away"] == 1
    assert played["confirmed"]["slots"]
    assert "海鲜" in played["recall"]["injection_block"]


def test_the_story_in_the_demo_becomes_no_fact(played: Any) -> None:
    [story] = [turn for turn in played["turns"] if "月亮上的骑士" in turn["content"]]
    assert story["learned"] == []
    facts = json.dumps([played["known"], played["upcoming"], played["recall"]], ensure_ascii=False)
    assert not any(word in facts for word in ("骑士", "龙虾", "阿尔法", "月亮"))


def test_what_the_demo_forgets_stays_forgotten_when_all_is_said_again(played: Any) -> None:
    assert set(played["receipt"]["receipt"]["remaining"].values()) == {0}
    again = played["after_replay"]
    assert "basic_info.birthday" in played["known"]
    assert "basic_info.birthday" not in again["known"]
    assert again["known"] == {
        key: value for key, value in played["known"].items() if key != "basic_info.birthday"
    }
    assert not any("生日" in event["content"] for event in again["upcoming"])
    assert len(again["upcoming"]) == len(played["upcoming"]) - 1


def test_the_demo_touches_nothing_of_the_users(tmp_path: Path) -> None:
    shown = play(tmp_path, "--no-wait")

    assert "remembered: profile constraint.allergy.seafood" in shown
    assert list(tmp_path.iterdir()) == []
