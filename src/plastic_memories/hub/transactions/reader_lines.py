"""Resolve which branch of each conversation a reader sees."""

from __future__ import annotations

from collections import defaultdict

from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.session import Branch
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.conversation.branch_lines import BranchAncestry, branch_ancestry


def reader_lines(stores: Stores, view: Viewpoint) -> BranchAncestry:
    """Return the branch ancestry that a viewpoint sees in each session.

    In its own session that is the branch it names, or the main line. In other sessions it is
    the branch that was active last: the others were abandoned.
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
