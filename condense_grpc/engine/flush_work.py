"""One batch of a flush on its way: what is left of it, what it repeats, and what becomes of it.

Nothing here waits or writes: the flush calls these steps while it holds the session's lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from condense_grpc.domain.batches import Batch, Call, Record, RecordContext, record_of
from condense_grpc.domain.entries import AliasEntry, Entry, IndexEntry, SkipEntry, SkippedCall, SkipReason, SummaryEntry
from condense_grpc.domain.extractive import last_resort_summary
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.labels import substitute_labels
from condense_grpc.domain.refs import build_short_refs, format_refs, summary_details
from condense_grpc.domain.spill import original_of
from condense_grpc.engine.events import BatchOutcome, DuplicateCall
from condense_grpc.engine.ports import SummaryReply, Usage
from condense_grpc.engine.summaries import summary_id

_SKIPS = {BatchOutcome.SKIPPED_TRIVIAL: SkipReason.TRIVIAL, BatchOutcome.SKIPPED_OVERSIZED: SkipReason.OVERSIZED}
STORED = (BatchOutcome.SUMMARIZED, BatchOutcome.EXTRACTIVE)
FAILURES_IN_A_ROW = 3


@dataclass(slots=True)
class Duplicate:
    """A call that was taken out. `home`: the batch of this flush that holds the call it repeats; None: long filed."""

    call: Call
    original_key: str
    home: "FlushWork | None"


@dataclass(slots=True)
class FlushWork:
    """A batch with its calls that are left (`calls`) and those that repeat others (`duplicates`)."""

    number: int
    batch: Batch
    path_arguments: tuple[str, ...]
    calls: list[Call] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    outcome: BatchOutcome | None = None
    reply: SummaryReply | None = None
    failure_reason: str = ""
    wasted: Usage | None = None
    text: str = ""
    refs: tuple[str, ...] = ()
    summary_id: str = ""
    shared: list[DuplicateCall] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    _records: dict[str, Record] = field(default_factory=dict)

    @property
    def remaining(self) -> Batch:
        """The batch without the calls that were taken out."""
        return replace(self.batch, calls=tuple(self.calls)) if self.duplicates else self.batch

    @property
    def raw_chars(self) -> int:
        """Length of the texts of the calls that are left."""
        return sum(len(call.result_text) for call in self.calls)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all captured calls, duplicates among them."""
        return tuple(call.key for call in self.batch.calls)

    @property
    def is_processed(self) -> bool:
        """Whether the batch is settled, one way or another."""
        return self.outcome is not None and self.outcome is not BatchOutcome.FAILED

    def let_go(self, reason: str) -> None:
        """Leave the batch as it is; a later flush captures again what of it is still there."""
        self.outcome, self.failure_reason = BatchOutcome.FAILED, reason
        self.pending = list(self.keys)

    def record(self, call: Call) -> Record:
        """The record of one of the calls, as it is filed."""
        key = call.key
        known = self._records.get(key)
        if known is None:
            context = RecordContext(self.batch.turn_index, self.batch.timestamp_ms, self.path_arguments)
            known = self._records[key] = record_of(call, context, is_filed=True)
        return known


def take_out_duplicates(works: Sequence[FlushWork], index: SessionIndex, *, enabled: bool) -> list[Entry]:
    """Fill `calls` and `duplicates` of every batch; those of long filed results are registered at once."""
    entries: list[Entry] = []
    first: dict[tuple[str, bool], tuple[FlushWork, str]] = {}
    for work in works:
        for call in work.batch.calls:
            record = work.record(call)
            if not enabled or record.content_key is None:
                work.calls.append(call)
                continue
            original = original_of(index, record)
            if original is not None:
                alias = AliasEntry(record.key, original, record)
                index.apply(alias)
                entries.append(alias)
                work.duplicates.append(Duplicate(call, original, None))
            elif record.content_key in first:
                home, key = first[record.content_key]
                work.duplicates.append(Duplicate(call, key, home))
            else:
                first[record.content_key] = (work, call.key)
                work.calls.append(call)
    return entries


def settle(work: FlushWork, index: SessionIndex, failures: dict[str, int], now_ms: int) -> list[Entry]:
    """Decide what becomes of a batch whose reply is there (or that needs none), and apply it to the index.

    Batches are settled in order, so that the batch of a repeated call is decided before its duplicates are.
    """
    entries = _settle_calls(work, index, failures, now_ms) if work.calls else []
    for entry in entries:
        index.apply(entry)
    if work.outcome in STORED:
        work.summary_id = summary_id(index.summaries_sharing([work.calls[0].key])[-1])
    fates = [_settle_duplicate(work, duplicate, index, entries) for duplicate in work.duplicates]
    if not work.calls:
        work.outcome = _outcome_of_duplicates(fates)
    elif work.outcome is BatchOutcome.FAILED:
        work.pending = [call.key for call in work.calls] + work.pending
    work.shared = [
        DuplicateCall(duplicate.call.key, ref)
        for duplicate in work.duplicates
        if (ref := index.short_ref(duplicate.call.key)) is not None
    ]
    return entries


def _settle_calls(work: FlushWork, index: SessionIndex, failures: dict[str, int], now_ms: int) -> list[Entry]:
    batch = work.remaining
    refs, _ = build_short_refs(batch.calls, index.next_ref_number)
    text, stored = "", BatchOutcome.SUMMARIZED
    if work.reply is not None:
        text = substitute_labels(work.reply.text, refs, [call.tool_name for call in batch.calls])
    elif work.outcome is not BatchOutcome.SKIPPED_TRIVIAL:
        for call in batch.calls:
            failures[call.key] = failures.get(call.key, 0) + 1
        if max(failures[call.key] for call in batch.calls) < FAILURES_IN_A_ROW:
            work.outcome = BatchOutcome.FAILED
            return []
        text, stored = last_resort_summary(batch.calls, refs), BatchOutcome.EXTRACTIVE
    for call in batch.calls:
        failures.pop(call.key, None)
    if work.outcome is BatchOutcome.SKIPPED_TRIVIAL:
        return [_skip(work.calls, SkipReason.TRIVIAL)]
    work.text = text + format_refs(refs)
    if len(work.text) > work.raw_chars:
        work.outcome = BatchOutcome.SKIPPED_OVERSIZED
        return [_skip(work.calls, SkipReason.OVERSIZED)]
    work.outcome = stored
    work.refs = tuple(ref.short_id for ref in refs)
    records = tuple(map(work.record, batch.calls))
    is_extractive = stored is BatchOutcome.EXTRACTIVE
    return [SummaryEntry(work.text, summary_details(batch, refs), now_ms, is_extractive), IndexEntry(records)]


def _skip(calls: Sequence[Call], reason: SkipReason) -> SkipEntry:
    marks = (SkippedCall(call.tool_call_id, call.result_timestamp_ms, call.occurrence) for call in calls)
    return SkipEntry(reason, tuple(marks))


def _settle_duplicate(work: FlushWork, duplicate: Duplicate, index: SessionIndex, entries: list[Entry]) -> BatchOutcome:
    """The fate of a call that repeats another; its entry is added and applied."""
    if duplicate.home is None:
        return BatchOutcome.SKIPPED_DEDUPED
    fate = duplicate.home.outcome
    entry: Entry
    # A rewind may have taken back what was stored for the original a moment ago.
    if fate in STORED and index.is_summarized(duplicate.original_key):
        record = work.record(duplicate.call)
        entry, fate = AliasEntry(record.key, duplicate.original_key, record), BatchOutcome.SKIPPED_DEDUPED
    elif fate in _SKIPS and index.is_skipped(duplicate.original_key):
        entry = _skip([duplicate.call], _SKIPS[fate])
    else:
        work.pending.append(duplicate.call.key)
        return BatchOutcome.FAILED
    index.apply(entry)
    entries.append(entry)
    return fate


def _outcome_of_duplicates(fates: Sequence[BatchOutcome]) -> BatchOutcome:
    for outcome in (BatchOutcome.FAILED, BatchOutcome.SKIPPED_OVERSIZED, BatchOutcome.SKIPPED_TRIVIAL):
        if outcome in fates:
            return outcome
    return BatchOutcome.SKIPPED_DEDUPED
