"""The command line, in one process with the hub and over a folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

from cards import as_png, v2
from plastic_memories.cli.main import COMMANDS, main

Run = Callable[..., Result]
Parsed = Callable[[Result], Any]


def test_the_list_of_commands_says_what_each_command_says() -> None:
    for name, (_, text) in COMMANDS.items():
        command = main.get_command(None, name)  # type: ignore[arg-type]

        assert command is not None
        assert command.get_short_help_str(200).rstrip(".") == text.rstrip("."), name


def test_help_imports_neither_the_server_nor_the_sdk() -> None:
    script = (
        "import sys; from plastic_memories.cli.main import main; "
        "main(['--help'], standalone_mode=False); "
        "sys.exit(any(name in sys.modules for name in ('fastapi', 'httpx', 'pydantic', 'rich')))"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)

    assert done.returncode == 0
    assert b"remember" in done.stdout


def test_every_command_takes_json() -> None:
    def leaves(command: Any) -> list[Any]:
        inner = getattr(command, "commands", None)
        return (
            [command] if inner is None else [leaf for one in inner.values() for leaf in leaves(one)]
        )

    commands = [main.get_command(None, name) for name in COMMANDS]  # type: ignore[arg-type]
    without = [
        leaf.name
        for command in commands
        for leaf in leaves(command)
        if not any("--json" in parameter.opts for parameter in leaf.params)
    ]

    assert without == []


def test_what_is_said_about_oneself_is_remembered_and_recalled(run: Run, parsed: Parsed) -> None:
    run("remember", "我对海鲜过敏")

    found = parsed(run("recall", "海鲜", "--json"))

    assert [row["content"] for row in found["PERSONA_MEMORY"]] == ["我对海鲜过敏"]


def test_any_other_text_becomes_one_note_however_often_it_is_said(run: Run, parsed: Parsed) -> None:
    first = parsed(run("remember", "The wifi box is under the stairs", "--json"))
    again = parsed(run("remember", "The wifi box is under the stairs", "--json"))

    assert first["memories"][0]["type"] == "note"
    assert again["memory_id"] == first["memory_id"]


def test_every_sentence_of_a_text_is_remembered(run: Run, parsed: Parsed) -> None:
    written = parsed(run("remember", "我喜欢爵士乐。我妹妹小雨六月十二号结婚。", "--json"))

    kept = {row["content"]: row["type"] for row in written["memories"]}
    assert kept == {"我喜欢爵士乐": "profile", "我妹妹小雨六月十二号结婚。": "note"}
    assert len(parsed(run("list", "--json"))["items"]) == 2


def test_a_sentence_beside_one_marked_never_again_is_remembered(run: Run, parsed: Parsed) -> None:
    [row] = parsed(run("remember", "我对芒果过敏", "--json"))["memories"]
    run("forget", str(row["id"]), "--never-again", "--yes")

    again = run("remember", "我对芒果过敏。我妹妹小雨六月十二号结婚。")

    assert "Not remembered: you marked this never again" in again.stdout
    [kept] = parsed(run("list", "--json"))["items"]
    assert kept["content"] == "我妹妹小雨六月十二号结婚。"


def test_what_was_marked_never_again_is_not_remembered_and_says_so(
    run: Run, parsed: Parsed
) -> None:
    [row] = parsed(run("remember", "我对芒果过敏", "--json"))["memories"]
    run("forget", str(row["id"]), "--never-again", "--yes")

    again = run("remember", "我对芒果过敏")

    assert again.exit_code == 0
    assert "Not remembered: you marked this never again" in again.stdout
    assert parsed(run("list", "--json"))["items"] == []


def test_a_type_stores_what_was_marked_never_again(run: Run, parsed: Parsed) -> None:
    [row] = parsed(run("remember", "我对芒果过敏", "--json"))["memories"]
    run("forget", str(row["id"]), "--never-again", "--yes")

    run("remember", "我对芒果过敏", "--type", row["type"], "--mkey", row["key"])

    [kept] = parsed(run("list", "--json"))["items"]
    assert kept["content"] == "我对芒果过敏"


def test_the_first_key_is_never_on_standard_output(run: Run, parsed: Parsed) -> None:
    result = run("list", "--json")

    assert parsed(result) == {"items": [], "more": False}
    assert "Your API key" in result.stderr


def test_a_secret_is_refused_in_one_line(run: Run) -> None:
    result = run("remember", "我的密码是hunter2222")

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].endswith("(judge_deny)")


def test_options_given_late_win_over_options_given_early(run: Run, parsed: Parsed) -> None:
    run("--persona", "one", "remember", "叫我小林", "--persona", "two")

    assert parsed(run("--persona", "one", "list", "--json"))["items"] == []
    assert len(parsed(run("list", "--persona", "two", "--json"))["items"]) == 1


def test_the_persona_may_come_from_the_environment(run: Run, parsed: Parsed) -> None:
    run("remember", "叫我小林", PLASTIC_MEMORIES_PERSONA="three")

    assert len(parsed(run("list", "--persona", "three", "--json"))["items"]) == 1


def test_a_list_is_cut_and_says_that_there_is_more(run: Run, parsed: Parsed) -> None:
    for text in ("first note", "second note", "third note"):
        run("remember", text)

    page = parsed(run("list", "--limit", "2", "--json"))

    assert [row["content"] for row in page["items"]] == ["third note", "second note"]
    assert page["more"] is True


def test_a_text_cannot_steer_the_terminal(run: Run) -> None:
    run("remember", "red \x1b[31m [bold]alert[/bold]", "--type", "note")

    shown = run("list").stdout

    assert "\x1b" not in shown
    assert "[bold]alert[/bold]" in " ".join(shown.split())


def test_the_inbox_is_answered_one_by_one(run: Run, parsed: Parsed) -> None:
    run("remember", "a nurse", "--type", "identity", "--mkey", "job")
    run("remember", "a head nurse", "--type", "identity", "--mkey", "job2")
    run("remember", "be brief", "--type", "values", "--mkey", "style")

    result = run("inbox", answers="c\nc\nn\n")

    assert result.exit_code == 0, result.output
    assert "replaces #1: a nurse" in result.stdout
    assert [row["value"] for row in parsed(run("persona", "slots", "--json"))["items"]] == [
        "a head nurse"
    ]
    assert parsed(run("inbox", "--json"))["items"] == []


def test_a_candidate_can_be_edited_kept_beside_or_left(run: Run, parsed: Parsed) -> None:
    run("remember", "likes tea", "--type", "preferences", "--mkey", "tea")
    run("remember", "likes rain", "--type", "preferences", "--mkey", "rain")
    run("remember", "be brief", "--type", "values", "--mkey", "style")

    run("inbox", answers="e\nlikes green tea\nb\ns\n")

    slots = parsed(run("persona", "slots", "--json"))["items"]
    assert [slot["value"] for slot in slots] == [["likes green tea", "likes rain"]]
    assert [row["key"] for row in parsed(run("inbox", "--json"))["items"]] == ["style"]


def test_yes_confirms_what_replaces_nothing(run: Run, parsed: Parsed) -> None:
    run("remember", "a nurse", "--type", "identity", "--mkey", "job")
    run("remember", "a head nurse", "--type", "identity", "--mkey", "job2")

    answer = parsed(run("inbox", "--yes", "--json"))

    assert answer["confirmed"] == [1]
    assert [row["replaces"][0]["memory_id"] for row in answer["left"]] == [1]
    assert parsed(run("inbox", "--yes", "--replace", "--json"))["confirmed"] == [2]


def test_several_are_answered_on_the_command_line(run: Run, parsed: Parsed) -> None:
    for number in (1, 2, 3):
        run("remember", f"wish {number}", "--type", "preferences", "--mkey", f"k{number}")

    result = run("inbox", "--confirm", "1", "--reject", "2", "--reject", "9", "--never-again")

    assert result.exit_code == 0, result.output
    assert "✓ #1 is active" in result.stdout
    assert "✓ #2 is revoked" in result.stdout
    assert "✗ #9: There is no memory 9 here." in result.stdout
    assert [row["id"] for row in parsed(run("inbox", "--json"))["items"]] == [3]


def test_nothing_to_undo_is_said(run: Run, parsed: Parsed) -> None:
    assert "nothing by itself" in run("undo").stdout
    assert parsed(run("undo", "--json"))["items"] == []
    assert run("undo", "7").exit_code == 1


def test_forgetting_by_query_shows_what_it_found_and_asks(run: Run, parsed: Parsed) -> None:
    run("remember", "我喜欢乌龙茶")

    refused = run("forget", "--query", "乌龙茶", answers="n\n")

    assert refused.exit_code == 1
    assert "我喜欢乌龙茶" in refused.stdout
    assert len(parsed(run("list", "--json"))["items"]) == 1


def test_forgetting_leaves_a_receipt_and_nothing_else(run: Run, parsed: Parsed) -> None:
    run("remember", "我喜欢乌龙茶")

    receipt = parsed(run("forget", "--query", "乌龙茶", "--yes", "--never-again", "--json"))

    assert receipt["deleted"] == 1
    assert set(receipt["receipt"]["remaining"].values()) == {0}
    assert parsed(run("list", "--status", "all", "--json"))["items"] == []


def test_forgetting_by_type_and_key(run: Run, parsed: Parsed) -> None:
    run("remember", "be brief", "--type", "note", "--mkey", "style")

    preview = parsed(run("forget", "--type", "note", "--mkey", "style", "--dry-run", "--json"))
    run("forget", "--type", "note", "--mkey", "style", "--yes")

    assert preview["memory_ids"] == [1]
    assert parsed(run("list", "--json"))["items"] == []


def test_forget_with_json_does_nothing_unless_told_to(run: Run, parsed: Parsed) -> None:
    run("remember", "我喜欢乌龙茶")

    result = run("forget", "1", "--json")

    assert result.exit_code == 2
    assert len(parsed(run("list", "--json"))["items"]) == 1


def test_goals_are_noted_tied_and_reached(run: Run, parsed: Parsed) -> None:
    run("remember", "我在学 Rust")
    goal_id = parsed(run("goals", "add", "Learn Rust", "--details", "practice", "--json"))[
        "goal_id"
    ]

    run("goals", "link", str(goal_id), "--memory", "1", "--note", "start")
    run("goals", "done", str(goal_id))

    (goal,) = parsed(run("goals", "list", "--json"))["items"]
    assert (goal["title"], goal["status"]) == ("Learn Rust", "done")
    assert [(link["memory_id"], link["note"]) for link in goal["links"]] == [(1, "start")]


def test_a_persona_is_made_from_a_template_and_erased(
    run: Run, parsed: Parsed, tmp_path: Path
) -> None:
    folder = tmp_path / "templates" / "friend"
    folder.mkdir(parents=True)
    (folder / "persona.md").write_text("You are a friend.", encoding="utf-8")
    root = {"PLASTIC_MEMORIES_TEMPLATE_ROOT": str(folder.parent)}

    names = parsed(run("persona", "templates", "--json", **root))["items"]
    run("persona", "template", "friend", "amy", **root)
    profile = parsed(run("persona", "profile", "amy", "--json"))
    gone = parsed(run("persona", "delete", "amy", "--yes", "--json"))

    assert names == ["friend"]
    assert "You are a friend." in profile["profile_markdown"]
    assert gone["receipt"]["erased"]["memories"] == 1
    assert parsed(run("persona", "list", "--json"))["items"] == []


def test_a_card_is_taken_in_and_given_out_with_what_it_knows(
    run: Run, parsed: Parsed, tmp_path: Path
) -> None:
    came, bundle = tmp_path / "阿澄.png", tmp_path / "own.png"
    came.write_bytes(as_png(v2()))

    taken = parsed(run("persona", "import-card", str(came), "cheng", "--json"))
    run("remember", "我对海鲜过敏", "--persona", "cheng")
    run("persona", "export-card", str(tmp_path / "out.png"), "cheng")
    run("persona", "export-card", str(bundle), "cheng", "--memories")
    careful = run("persona", "import-card", str(bundle), "twin")
    whole = run("persona", "import-card", str(bundle), "other", "--memories")

    assert taken["name"] == "阿澄"
    assert (tmp_path / "out.png").read_bytes() == came.read_bytes()
    assert "were left out: --memories" in careful.output
    assert whole.exit_code == 0
    assert "我对海鲜过敏" in run("list", "--persona", "other").output
    assert run("persona", "export-card", str(tmp_path / "out.gif")).exit_code == 2


def test_keys_are_made_shown_and_revoked(run: Run, parsed: Parsed) -> None:
    made = parsed(run("keys", "create", "--app-key", "--tenant", "acme", "--read-only", "--json"))

    opened = run("--key", made["key"], "--user", "bob", "list", "--json")
    refused = run("--key", made["key"], "--user", "bob", "remember", "叫我小林")
    run("keys", "revoke", str(made["id"]))
    closed = run("--key", made["key"], "--user", "bob", "list", "--json")

    assert parsed(opened)["items"] == []
    assert refused.stderr.rstrip().endswith("(forbidden)")
    assert closed.stderr.rstrip().endswith("(unauthorized)")
    assert parsed(run("keys", "list", "--json"))["items"][0]["user"] == "local"


def test_a_key_is_never_listed_by_its_text(run: Run, parsed: Parsed) -> None:
    made = parsed(run("keys", "create", "--json"))

    shown = run("keys", "list").stdout + run("keys", "list", "--json").stdout

    assert made["key"] not in shown


def test_without_any_key_the_remedy_is_named(run: Run) -> None:
    run("keys", "create", "--user", "bob")

    result = run("list")

    assert result.exit_code == 1
    assert "plastic-memories keys create" in result.stderr


def test_a_hub_that_was_named_must_be_there(run: Run) -> None:
    result = run("list", "--url", "http://127.0.0.1:1")

    assert result.exit_code == 1
    assert result.stderr.rstrip().endswith("(server_unreachable)")


def test_a_wrong_setting_is_one_line(run: Run) -> None:
    for command in (["list"], ["serve"], ["keys", "list"]):
        result = run(*command, PLASTIC_MEMORIES_BACKEND="nowhere")

        assert result.exit_code == 1
        assert "PLASTIC_MEMORIES_BACKEND='nowhere' is unknown" in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_a_file_that_is_no_database_is_one_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "junk.db"
    file.write_bytes(b"x" * 5000)

    for command in (["list"], ["serve"], ["keys", "list"], ["migrate"]):
        result = run(*command, PLASTIC_MEMORIES_DB_PATH=str(file))

        assert result.exit_code == 1
        assert "file is not a database" in result.stderr, command
        assert len(result.stderr.splitlines()) == 1


def test_a_folder_that_cannot_be_made_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    result = run("serve", PLASTIC_MEMORIES_DATA_DIR=str(tmp_path / "file" / "data"))

    assert result.exit_code == 1
    assert "cannot be made" in result.stderr


def test_migrate_says_what_it_did(run: Run, parsed: Parsed) -> None:
    first = parsed(run("migrate", "--json"))
    second = parsed(run("migrate", "--json"))

    assert (first["before"], first["after"]) == (0, first["wanted"])
    assert second["before"] == second["after"] == second["wanted"]


def test_the_version_is_shown(run: Run, parsed: Parsed) -> None:
    shown = parsed(run("version", "--json"))

    assert run("--version").stdout.split()[-1] == shown["version"]


def test_people_see_and_answer_what_came_through_their_bots(
    run: Run, parsed: Parsed, tmp_path: Path
) -> None:
    line = {
        "kind": "memory",
        "persona_id": "default",
        "id": 1,
        "type": "identity",
        "key": "job",
        "content": "a nurse",
        "status": "candidate",
        "bot_id": "qq-1",
    }
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps(line), encoding="utf-8")
    run("import", str(file))

    confirmed = parsed(run("inbox", "--yes", "--json"))["confirmed"]
    (seen,) = parsed(run("list", "--json"))["items"]
    gone = parsed(run("forget", str(seen["id"]), "--yes", "--json"))

    assert confirmed == [seen["id"]]
    assert (seen["bot_id"], seen["status"]) == ("qq-1", "active")
    assert gone["deleted"] == 1
