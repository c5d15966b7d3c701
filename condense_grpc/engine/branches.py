"""Decisions of branches that were left, and which of them hold again when the transcript comes back.

Only those hold that continue the decisions that are active: what was decided meanwhile may have given their refs
away. Reports (statistics, metrics of flushes) give nothing away, so that they are left in turn where they stand in
between.
"""

from collections.abc import Iterable, Iterator, Sequence

from condense_grpc.domain.entries import DiagnosticEntry, Entry, FlushMetricsEntry, FrontierEntry, StatsEntry
from condense_grpc.engine.decisions import Commit
from condense_grpc.engine.entry_codec import decode_entries, encode_entries
from condense_grpc.engine.ports import StoredCommit
from condense_grpc.engine.transcript import Transcript

_REPORTS = (DiagnosticEntry, FlushMetricsEntry, FrontierEntry, StatsEntry)


class LeftCommits:
    """The commits that are not active, in the form in which they are stored. Owned by one session."""

    def __init__(self, commits: Iterable[StoredCommit] = (), latest: int = 0) -> None:
        self._by_parent: dict[int, list[StoredCommit]] = {}
        self.latest = latest
        """The last commit of the branch that was left last; 0 if that is not known."""
        for commit in commits:
            self._add(commit)

    def _add(self, commit: StoredCommit) -> None:
        self._by_parent.setdefault(commit.parent, []).append(commit)

    def copy(self) -> "LeftCommits":
        """The same commits apart."""
        return LeftCommits(self._all(), self.latest)

    def __bool__(self) -> bool:
        return bool(self._by_parent)

    def _all(self) -> Iterator[StoredCommit]:
        return (commit for commits in self._by_parent.values() for commit in commits)

    def stored(self) -> list[StoredCommit]:
        """Every commit that is not active, as it is stored."""
        return [*self._all()]

    def all(self) -> list[Commit]:
        """Every commit that is not active."""
        return [loaded_commit(commit) for commit in self._all()]

    def branches(self, active: Sequence[Commit]) -> Iterator[list[Commit]]:
        """What was decided on each branch that was left, from its begin: the one left last, then later ones first."""
        known = {commit.number: commit for commit in self._all()}
        ends = sorted((number for number in known if number not in self._by_parent), reverse=True)
        if self.latest in known:
            ends = [self.latest, *(number for number in ends if number != self.latest)]
        lengths = {commit.number: length for length, commit in enumerate(active, 1)}
        loaded: dict[int, Commit] = {}
        for number in ends:
            path: list[Commit] = []
            while number in known:
                if number not in loaded:
                    loaded[number] = loaded_commit(known[number])
                path.append(loaded[number])
                number = known[number].parent
            yield [*active[: lengths.get(number, 0)], *reversed(path)]

    def leave(self, commits: Iterable[Commit]) -> None:
        """Take in commits that are not active any more."""
        for commit in commits:
            self._add(stored_commit(commit))

    def take_back(self, active: Sequence[Commit], transcript: Transcript) -> tuple[int, list[Commit]]:
        """What holds again on this transcript: how many of the active commits stay, and those that follow them."""
        if not self._by_parent:
            return len(active), []
        kept = len(active)
        while True:
            parent = active[kept - 1].number if kept else 0
            following = self._path(parent, transcript)
            if following and (kept == len(active) or any(map(_decides, following))):
                for commit in following:
                    self._remove(commit.number, commit.parent)
                self.leave(active[kept:])
                return kept, following
            if not kept or _decides(active[kept - 1]):
                return len(active), []
            kept -= 1

    def _path(self, parent: int, transcript: Transcript) -> list[Commit]:
        """The newest commits on the transcript that follow a commit, one after another."""
        path: list[Commit] = []
        while True:
            fitting = [commit for commit in self._by_parent.get(parent, ()) if _is_on(commit, transcript)]
            if not fitting:
                return path
            path.append(loaded_commit(max(fitting, key=lambda commit: commit.number)))
            parent = path[-1].number

    def _remove(self, number: int, parent: int) -> None:
        rest = [commit for commit in self._by_parent.pop(parent) if commit.number != number]
        if rest:
            self._by_parent[parent] = rest


def _is_on(commit: StoredCommit, transcript: Transcript) -> bool:
    length = commit.anchor_length
    return length <= len(transcript) and commit.anchor_node == transcript.node_at(length)


def _decides(commit: Commit) -> bool:
    """Whether there is more than reports in a commit."""
    return not all(map(_is_report, commit.entries))


def _is_report(entry: Entry) -> bool:
    return isinstance(entry, _REPORTS)


def loaded_commit(commit: StoredCommit) -> Commit:
    """A commit as decisions have it."""
    return Commit(
        commit.number,
        commit.parent,
        commit.anchor_node,
        commit.anchor_length,
        commit.time_ms,
        decode_entries(commit.entries),
    )


def stored_commit(commit: Commit) -> StoredCommit:
    """A commit as it is stored."""
    return StoredCommit(
        commit.number,
        commit.parent,
        commit.anchor_node,
        commit.anchor_length,
        commit.time_ms,
        encode_entries(commit.entries),
    )
