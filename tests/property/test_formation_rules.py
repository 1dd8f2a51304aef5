"""Paths of the archive and lines of branches, for ids and trees of every shape."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.formats.archive_file import conversation_path, persona_folder, safe_path_part
from plastic_memories.model.owner import Owner
from plastic_memories.model.session import Branch, Conversation, Session
from plastic_memories.rules.conversation.branch_lines import BranchAncestry, branch_ancestry

ids = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=200)
OWNER = Owner("default", "u", "p")


@given(ids)
def test_an_id_is_one_plain_part_of_a_path(text: str) -> None:
    part = safe_path_part(text)

    assert part not in ("", ".", "..")
    assert not set(part) & set('/\\:*?"<>|\0 ')
    assert len(part.encode()) <= 140
    assert not part.endswith(".")


@given(ids, ids)
def test_two_ids_never_share_a_part(one: str, other: str) -> None:
    assert (safe_path_part(one) == safe_path_part(other)) is (one == other) or {one, other} == {
        "",
        "_",
    }


@given(ids, ids, ids, ids)
def test_users_of_two_tenants_never_share_a_folder(
    tenant: str, user: str, persona: str, other: str
) -> None:
    here = persona_folder(Owner("default", user, persona))
    there = persona_folder(Owner(f"t{tenant}", other, persona))

    assert not here.startswith(f"{there}/")
    assert not there.startswith(f"{here}/")
    assert here != there


@given(ids.filter(bool), st.integers(0, 4_000_000_000))
def test_a_session_has_its_day_in_its_path(session_id: str, started: int) -> None:
    session = Session(id=1, place=Conversation(OWNER, session_id), last_active=0)

    path = conversation_path(session, started, alone=True)

    assert path.startswith("conversations/u/p/")
    assert path.endswith(f"/{safe_path_part(session_id)}.json")
    assert len(path.split("/")) == 7


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Branch]:
    """Branches, each from some message of an older one."""
    made: dict[str, Branch] = {}
    for number in range(draw(st.integers(0, 8))):
        parent = draw(st.sampled_from(["", *made]))
        made[f"b{number}"] = Branch(
            owner=OWNER,
            session_id="s",
            branch_id=f"b{number}",
            parent_id=parent,
            from_message_id=draw(st.integers(1, 20)),
            created_at=number,
        )
    return made


def is_past(tree: Mapping[str, Branch], branch_id: str, other: str, message_id: int) -> bool:
    """Say the slow way whether a message of another branch lies before this one's end."""
    if branch_id == other:
        return True
    if branch_id not in tree:
        return False
    branch = tree[branch_id]
    if branch.parent_id == other:
        return message_id <= branch.from_message_id
    return is_past(tree, branch.parent_id, other, message_id)


@given(trees(), st.data())
def test_a_line_holds_a_branch_and_its_past_and_nothing_else(
    tree: dict[str, Branch], data: st.DataObject
) -> None:
    mine, other = (data.draw(st.sampled_from(["", *tree])) for _ in range(2))
    message_id = data.draw(st.integers(1, 25))

    lines = BranchAncestry({"s": branch_ancestry(tree.values(), mine)})

    assert lines.includes("s", other, message_id) is is_past(tree, mine, other, message_id)
    assert lines.includes("elsewhere", other, message_id)
