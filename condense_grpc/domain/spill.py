"""Large results: archived as they arrive, shown as a preview with a short ref, without any summary.

A large result that repeats an earlier one becomes its duplicate instead. Each call sees what the ones before it
filed, so the second of two equal large results is a duplicate.
"""

from collections.abc import Sequence

from condense_grpc.domain.batches import Call, Record, RecordContext, Ref, Spill, record_of
from condense_grpc.domain.entries import AliasEntry, Entry, IndexEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.refs import build_short_refs
from condense_grpc.domain.text import head_preview, utf8_bytes


@frozen
class SpillOutcome:
    """What was decided: entries in the order in which they must be replayed, and the ids of the calls dealt with."""

    entries: tuple[Entry, ...] = ()
    handled: tuple[str, ...] = ()


def spill_calls(
    index: SessionIndex,
    calls: Sequence[Call],
    context: RecordContext,
    *,
    threshold: int,
    preview_bytes: int,
    dedup: bool,
) -> SpillOutcome:
    """Spill the calls whose text has at least `threshold` characters, in order, and apply that to the index.

    Calls whose key is summarized already are passed over.
    """
    records: list[Record] = []
    refs: list[Ref] = []
    aliases: list[AliasEntry] = []
    handled: dict[str, None] = {}
    for call in calls:
        if len(call.result_text) < threshold or index.is_summarized(call.key):
            continue
        spill = Spill(utf8_bytes(call.result_text), head_preview(call.result_text, preview_bytes))
        record = record_of(call, context, spill, is_filed=True)
        handled[call.tool_call_id] = None
        original = original_of(index, record) if dedup else None
        if original is not None:
            aliases.append(AliasEntry(record.key, original, record))
            index.add_alias(aliases[-1])
            continue
        own_refs, _ = build_short_refs([call], index.next_ref_number)
        index.file_record(record, register_content=True)
        index.register_refs(own_refs)
        records.append(record)
        refs += own_refs
    filed = (IndexEntry(tuple(records), tuple(refs)),) if records else ()
    return SpillOutcome((*filed, *aliases), tuple(handled))


def original_of(index: SessionIndex, record: Record) -> str | None:
    """The key of the indexed result that the record repeats; None if there is none or it is the record's own."""
    if record.content_key is None:
        return None
    found = index.by_content(*record.content_key)
    return None if found == record.key else found
