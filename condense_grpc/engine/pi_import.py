"""A session made of a Pi session file: its messages, its decisions where they stand, and the lines around them.

Pure: reads no store, and may run in a thread.
"""

from collections.abc import Sequence
from dataclasses import replace

from condense_grpc.domain.archive import Bodies, archive_candidates, archived_record, as_filed
from condense_grpc.domain.batches import Ref, Source
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.diagnostics import DiagnosticKind
from condense_grpc.domain.entries import AliasEntry, ChainEntry, DiagnosticEntry, Entry, IndexEntry, SummaryEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.text import storable
from condense_grpc.engine.branches import stored_commit
from condense_grpc.engine.carried import CarriedFile, pack_file
from condense_grpc.engine.decisions import Commit
from condense_grpc.engine.pi_entry import PiKind, read_entry
from condense_grpc.engine.pi_file import PiFile
from condense_grpc.engine.pi_layout import Layout, Placed
from condense_grpc.engine.ports import StoredCommit, StoredDiagnostic, StoredMessage
from condense_grpc.engine.record_homes import RecordHomes
from condense_grpc.engine.requests import ImportCounts

# More lines of one file that cannot be read are counted, but not named one by one.
_NAMED_LINES = 100


@frozen
class ImportedSession:
    """Everything of a session but its row. The transcript ends with `head_node`, the decisions with `head_commit`."""

    head_node: int
    head_commit: int
    length: int
    messages: Sequence[StoredMessage]
    commits: Sequence[StoredCommit]
    diagnostics: Sequence[StoredDiagnostic]
    counts: ImportCounts


def import_file(
    file: PiFile, session_id: str, config: SessionConfig, now_ms: int, *, is_native: bool = False
) -> ImportedSession:
    """Make a session of a file that is complete: one in the shape of Pi, or of messages of the contract."""
    entries = [read_entry(line, config.path_arguments, is_native=is_native) for line in file.active_path()]
    layout = Layout(entries, config.path_arguments, now_ms, is_native=is_native)
    decided = _Decided(layout, file, config, now_ms)
    carried = CarriedFile(file.header, session_id, [one.carried() for one in layout.placed], layout.silent)
    commits = [replace(decided.commits[0], entries=(pack_file(carried),)), *decided.commits[1:]]
    return ImportedSession(
        head_node=layout.transcript.head_node,
        head_commit=len(commits),
        length=len(layout.transcript),
        messages=[*layout.transcript.to_write(), *decided.homes.beside],
        commits=[stored_commit(commit) for commit in commits],
        diagnostics=_diagnostics(layout, now_ms),
        counts=_counts(layout, file),
    )


class _Decided:
    """The decisions of a file as commits. The first commit is left empty for what the file brings along."""

    def __init__(self, layout: Layout, file: PiFile, config: SessionConfig, now_ms: int) -> None:
        self._layout = layout
        self._config = config
        self._now_ms = now_ms
        self._nodes = {one.entry.entry_id: one.node for one in layout.placed if one.node and one.entry.entry_id}
        self._digests = dict(zip(layout.transcript.nodes, layout.transcript.digests, strict=True))
        files = {path: bytes(content) for path, content in file.files.items()}
        self.homes = RecordHomes(files, layout.transcript.next_node, config.path_arguments)
        if layout.former is not None:
            self.homes.learn(layout.former, layout.former_messages)
        self.homes.learn(layout.transcript, layout.messages)
        self.commits: list[Commit] = []
        self._commit((), 0, now_ms)
        self._decide()

    def _decide(self) -> None:
        decided = [one for one in self._layout.placed if one.entry.decision is not None]
        entries = [self._taken_over(one) for one in decided]
        archive = self._archive_of_history(SessionIndex.rebuild(entries))
        for one, entry in zip(decided, entries, strict=True):
            if not one.is_compacted:
                self._commit(archive, 0, self._now_ms)
                archive = ()
            one.commit = self._commit((entry,), one.anchor_length, one.entry.time_ms)
        self._commit(archive, 0, self._now_ms)

    def _commit(self, entries: Sequence[Entry], anchor_length: int, time_ms: int) -> int:
        number = len(self.commits) + 1
        if entries or number == 1:
            node = self._layout.transcript.node_at(anchor_length)
            self.commits.append(Commit(number, number - 1, node, anchor_length, time_ms, tuple(entries)))
        return number

    def _taken_over(self, placed: Placed) -> Entry:
        """A decision as it holds here."""
        entry = placed.entry.decision
        assert entry is not None
        match entry:
            case IndexEntry():
                return replace(entry, records=tuple(map(self.homes.housed, entry.records)))
            case AliasEntry() if entry.record is not None:
                return replace(entry, record=self.homes.housed(entry.record))
            case SummaryEntry() if placed.is_compacted:
                # The host shows it no longer. Its refs go on to name what they named.
                return IndexEntry((), entry.details.refs)
            case ChainEntry():
                return self._with_digests(entry, placed.entry.line.value("data"))
            case _:
                return entry

    def _with_digests(self, entry: ChainEntry, data: object) -> ChainEntry:
        """A chain whose boundaries the file names by their entries is found by these, whatever their times."""
        if not isinstance(data, dict):
            return entry
        ends = [data.get(name) for name in ("startEntryId", "finalEntryId")]
        nodes = [self._nodes.get(end, 0) for end in ends if isinstance(end, str)]
        if len(nodes) < 2 or not all(nodes):
            return entry
        start, final = (self._digests[node].hex() for node in nodes)
        return replace(entry, start_digest=start, final_digest=final)

    def _archive_of_history(self, index: SessionIndex) -> Sequence[Entry]:
        """File the results that a compaction has cut off, unless a decision has filed them."""
        former = self._layout.former
        if former is None:
            return ()
        stamped = [
            replace(message, timestamp_ms=skeleton.timestamp_ms)
            for message, skeleton in zip(self._layout.former_messages, former.skeletons, strict=True)
        ]
        shown = set(self._layout.transcript.keys)
        candidates = archive_candidates(
            former.skeletons,
            (former.keys, former.numbers),
            (-1, len(former)),
            (),
            lambda key: index.is_summarized(key) or key in shown,
        )
        bodies = Bodies(
            stamped.__getitem__,
            lambda call, ordinal, result: Source(former.nodes[call], ordinal, former.nodes[result]),
            self._config.path_arguments,
        )
        records = tuple(as_filed(archived_record(candidate, bodies)) for candidate in candidates)
        refs = tuple(
            Ref(f"t{number}", one.tool_call_id, one.result_timestamp_ms, one.occurrence)
            for number, one in enumerate(records, index.next_ref_number)
        )
        return (IndexEntry(records, refs, backfilled=True),) if records else ()


def _diagnostics(layout: Layout, now_ms: int) -> list[StoredDiagnostic]:
    """What the file tells of problems, and then its lines that cannot be read."""
    told = [one for one in layout.placed if isinstance(one.entry.decision, DiagnosticEntry)]
    unread = [one for one in layout.placed if one.entry.kind is PiKind.MALFORMED][:_NAMED_LINES]
    found: list[tuple[Placed, int, DiagnosticEntry]] = []
    for one in told:
        assert isinstance(one.entry.decision, DiagnosticEntry)
        found.append((one, one.entry.time_ms, one.entry.decision))
    for one in unread:
        line = one.entry.line
        detail = f"line {line.number}: {line.text_value('customType')[:80]}"
        found.append((one, now_ms, DiagnosticEntry(DiagnosticKind.MALFORMED_ENTRY.value, detail)))
    return [
        StoredDiagnostic(number, time_ms, storable(entry.kind), storable(entry.detail), one.anchor_length)
        for number, (one, time_ms, entry) in enumerate(found, 1)
    ]


def _counts(layout: Layout, file: PiFile) -> ImportCounts:
    kinds = [one.entry.kind for one in layout.placed]
    ignored = kinds.count(PiKind.MALFORMED) + kinds.count(PiKind.FOREIGN)
    return ImportCounts(layout.message_count, kinds.count(PiKind.DECISION), file.unreadable_lines + ignored)
