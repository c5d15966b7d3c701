"""What a fork takes along besides the messages and decisions of the active path.

That is also what was decided on other branches, with the originals that it names: what the client of the original was
shown may come to the fork, as it may to the original after a rewind.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from condense_grpc.domain.batches import Record
from condense_grpc.domain.entries import AliasEntry, IndexEntry
from condense_grpc.engine.carried import carried_file
from condense_grpc.engine.decisions import Commit
from condense_grpc.engine.state import INFO_FACT, LEFT_FACT, NEXT_NODE_FACT, SessionState

# How the original came to be, and what its client has seen, are its own.
_OWN_FACTS = ("import", "shown", INFO_FACT)


def forked_facts(state: SessionState) -> dict[str, Any]:
    """The facts of a session as they hold for a fork of it."""
    kept = {name: value for name, value in state.facts.items() if name not in _OWN_FACTS}
    kept[NEXT_NODE_FACT] = state.transcript.next_node
    return kept | {LEFT_FACT: state.left_end} if state.left_end else kept


def state_at(state: SessionState, length: int) -> SessionState:
    """What a session is that has gone back to this length."""
    twin = state.copy()
    twin.append(length, (), 0)
    return twin


def taken_along(state: SessionState) -> tuple[list[int], list[int]]:
    """The messages and the commits of a fork of a session: its path, all that was decided, and what that names."""
    path = state.transcript.nodes
    commits = [*state.decisions.commits, *state.left_commits()]
    return [*path, *_nodes_beside(commits, path)], [commit.number for commit in commits]


def _nodes_beside(commits: Sequence[Commit], path: Iterable[int]) -> list[int]:
    """The messages outside of a path that decisions need: bodies of records, and of lines before a compaction."""
    sources = [record.source for record in _records(commits) if record.source]
    wanted = {node for source in sources for node in (source.call_node, source.result_node)}
    file = carried_file(commits)
    if file is not None:
        wanted.update(line.body_node for line in file.lines if line.is_compacted)
    return sorted(wanted - set(path) - {0})


def _records(commits: Sequence[Commit]) -> Iterable[Record]:
    for commit in commits:
        for entry in commit.entries:
            if isinstance(entry, IndexEntry):
                yield from entry.records
            elif isinstance(entry, AliasEntry) and entry.record is not None:
                yield entry.record
