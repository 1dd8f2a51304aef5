"""Loads which line of each branched conversation counts for a reader."""

from __future__ import annotations

from collections import defaultdict

from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.session import Branch
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.conversation.branch_lines import BranchAncestry, branch_ancestry


def reader_lines(stores: Stores, view: Viewpoint) -> BranchAncestry:
    """Return the lines a viewpoint sees.

    In its own session that is the branch it names, or the main line. From elsewhere it is the
    branch on which the conversation was last carried on: the others were left behind.
    """
    by_session: defaultdict[str, list[Branch]] = defaultdict(list)
    for branch in stores.branches.all(view.owner):
        by_session[branch.session_id].append(branch)
    return BranchAncestry(
        {
            session_id: branch_ancestry(branches, _current_branch(stores, view, session_id))
            for session_id, branches in by_session.items()
        }
    )


def _current_branch(stores: Stores, view: Viewpoint, session_id: str) -> str:
    if session_id == view.session_id:
        return view.branch_id
    last = stores.sessions.find(view.owner, session_id=session_id)
    return last[0].place.branch_id if last else ""
