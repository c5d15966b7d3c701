"""The lines of a session as a Pi session file, before their texts are fetched.

Lines that a file brought along stand where they stood, as long as what they belong to is still there. Messages and
decisions that came later get lines of their own. Every line names the one before it.
"""

import hashlib
from collections.abc import Sequence

from condense_grpc.domain.entries import (
    AliasEntry,
    CarriedEntry,
    ChainEntry,
    DiagnosticEntry,
    Entry,
    IndexEntry,
    SummaryEntry,
)
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.carried import CarriedFile, CarriedLine
from condense_grpc.engine.decisions import Commit
from condense_grpc.engine.ports import SessionRow, StoredDiagnostic


@frozen
class Snapshot:
    """A session at one moment, all of it durable. By position: nodes, times, sizes in characters, digests.

    `diagnostics` are those that no line of an imported file tells already.
    """

    row: SessionRow
    nodes: Sequence[int]
    times_ms: Sequence[int]
    sizes: Sequence[int]
    digests: Sequence[bytes]
    commits: Sequence[Commit]
    diagnostics: Sequence[StoredDiagnostic] = ()


@frozen
class PlannedLine:
    """One line: what a file brought along, or else a message (`node`), or else a decision.

    `parent_id`: the line before; empty if that has no id. For a carried line None: it says the right one. `ends`: the
    entries that begin and end a chain.
    """

    entry_id: str
    parent_id: str | None
    time_ms: int = 0
    carried: CarriedLine | None = None
    node: int = 0
    entry: Entry | None = None
    ends: tuple[str, str] | None = None
    size: int = 0

    @property
    def nodes(self) -> set[int]:
        """The messages whose bodies the line needs."""
        if self.carried is not None:
            return {self.carried.body_node} - {0}
        match self.entry:
            case IndexEntry():
                records = self.entry.records
            case AliasEntry() if self.entry.record is not None:
                records = (self.entry.record,)
            case _:
                return {self.node} - {0}
        sources = [record.source for record in records if record.source]
        return {node for source in sources for node in (source.call_node, source.result_node)} - {0}


def plan_lines(snapshot: Snapshot, file: CarriedFile | None) -> list[PlannedLine]:
    """The lines behind the header, in order."""
    planner = _Planner(snapshot, file or CarriedFile("", ""))
    planner.run()
    return planner.lines


class _Planner:
    """One plan on its way."""

    def __init__(self, snapshot: Snapshot, file: CarriedFile) -> None:
        self.lines: list[PlannedLine] = []
        self._snapshot = snapshot
        self._file = file
        # The carried line that was planned last, if nothing came behind it.
        self._last = -1
        self._used = {line.entry_id for line in file.lines}
        self._id_of_node: dict[int, str] = {}
        self._node_of_digest = dict(zip(snapshot.digests, snapshot.nodes, strict=True))
        is_whole = list(file.silent) == list(snapshot.nodes[: len(file.silent)])
        self._silent = set(file.silent) if is_whole else set()
        self._line_of_node: dict[int, int] = {}
        self._behind: dict[tuple[int, int], list[int]] = {}
        active = {0, *(commit.number for commit in snapshot.commits)}
        for number, line in enumerate(file.lines):
            if line.node:
                self._line_of_node[line.node] = number
            elif line.commit in active and (is_whole or not line.is_compacted):
                self._behind.setdefault((line.anchor_length, line.anchor_node), []).append(number)
        # What was decided before a compaction goes on to hold where the lines of that time have no place any more.
        told = {line.commit for line in file.lines if is_whole or not line.is_compacted}
        self._commits = _by_anchor(snapshot.commits, told)
        # What an import has archived of the time before a compaction must not part the lines of its file.
        self._last_of_all = self._commits.pop(0, []) if self._silent else []
        self._diagnostics = _by_length(snapshot.diagnostics, len(snapshot.nodes))

    def run(self) -> None:
        """Plan line after line."""
        for length in range(len(self._snapshot.nodes) + 1):
            node = self._snapshot.nodes[length - 1] if length else 0
            if length:
                self._message(length - 1, node)
            for number in self._behind.get((length, node), ()):
                self._carry(number)
            for commit in self._commits.get(length, ()):
                self._decide(commit)
            for diagnostic in self._diagnostics.get(length, ()):
                entry = DiagnosticEntry(diagnostic.kind, diagnostic.detail)
                self._add(f"diagnostic {diagnostic.number}", diagnostic.time_ms, entry=entry)
        for commit in self._last_of_all:
            self._decide(commit)

    def _message(self, position: int, node: int) -> None:
        time_ms = self._snapshot.times_ms[position]
        if node in self._line_of_node:
            number = self._line_of_node[node]
            self._id_of_node[node] = self._file.lines[number].entry_id
            self._carry(number, time_ms)
        elif node not in self._silent:
            self._add(f"message {node}", time_ms, node=node, size=self._snapshot.sizes[position])
            self._id_of_node[node] = self.lines[-1].entry_id

    def _carry(self, number: int, time_ms: int = 0) -> None:
        line = self._file.lines[number]
        is_next = not self.lines or (self._last >= 0 and self._last == number - 1)
        parent_id = None if is_next or not line.entry_id else self._parent() or None
        self.lines.append(PlannedLine(line.entry_id, parent_id, time_ms, line, size=len(line.head)))
        self._last = number

    def _decide(self, commit: Commit) -> None:
        for place, entry in enumerate(commit.entries):
            if isinstance(entry, CarriedEntry):
                continue
            time_ms = commit.time_ms
            if isinstance(entry, SummaryEntry) and entry.timestamp_ms is not None:
                time_ms = entry.timestamp_ms
            ends = self._ends(entry) if isinstance(entry, ChainEntry) else None
            self._add(f"decision {commit.number}.{place}", time_ms, entry=entry, ends=ends)

    def _ends(self, chain: ChainEntry) -> tuple[str, str] | None:
        """The entries between which a chain lies, for a reader who does not know our digests."""
        digests = (bytes.fromhex(chain.start_digest), bytes.fromhex(chain.final_digest))
        start, final = (self._id_of_node.get(self._node_of_digest.get(digest, 0)) for digest in digests)
        return (start, final) if start and final else None

    def _add(
        self,
        name: str,
        time_ms: int,
        *,
        node: int = 0,
        entry: Entry | None = None,
        ends: tuple[str, str] | None = None,
        size: int = 0,
    ) -> None:
        line = PlannedLine(self._new_id(name), self._parent(), time_ms, None, node, entry, ends, size)
        self.lines.append(line)
        self._last = -1

    def _parent(self) -> str | None:
        """The id of the line before, which may be empty; None if there is no line."""
        return self.lines[-1].entry_id if self.lines else None

    def _new_id(self, name: str) -> str:
        """Eight digits as hosts write them, the same whenever the same thing is written."""
        salt = 0
        while True:
            entry_id = hashlib.blake2b(f"{name} {salt}".encode(), digest_size=4).hexdigest()
            if entry_id not in self._used:
                self._used.add(entry_id)
                return entry_id
            salt += 1


def _by_anchor(commits: Sequence[Commit], carried: set[int]) -> dict[int, list[Commit]]:
    """The commits that no carried line records, by where they stand."""
    found: dict[int, list[Commit]] = {}
    for commit in commits:
        if commit.number not in carried:
            found.setdefault(commit.anchor_length, []).append(commit)
    return found


def _by_length(diagnostics: Sequence[StoredDiagnostic], longest: int) -> dict[int, list[StoredDiagnostic]]:
    found: dict[int, list[StoredDiagnostic]] = {}
    for diagnostic in diagnostics:
        found.setdefault(min(diagnostic.transcript_length, longest), []).append(diagnostic)
    return found
