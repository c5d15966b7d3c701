"""Session entries in Pi's JSON: one form for imports, exports and the test vectors.

Reading never fails: an entry that is malformed or not one of ours is None (messages are none).
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from condense_grpc.domain.entries import (
    AliasEntry,
    ArchivedRef,
    ChainEntry,
    ContextMetrics,
    DiagnosticEntry,
    Entry,
    FlushMetricsEntry,
    Frontier,
    FrontierEntry,
    IndexEntry,
    PinEntry,
    SkipEntry,
    SkippedCall,
    SkipReason,
    Stats,
    StatsEntry,
    SummaryEntry,
)
from condense_grpc.domain.messages import TextPart
from condense_grpc.domain.occurrence import ParsedKey, occurrence_key, parse_key
from condense_grpc.domain.pi_json import SUMMARY_TYPE, number_or_none, part_from_pi, text_or_empty
from condense_grpc.domain.pi_records import (
    details_from_pi,
    objects_in,
    occurrence_or_none,
    record_from_pi,
    refs_from_pi,
    strings_in,
    without_none,
)

PREFIX = "context-prune-"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PI_STATS = (
    "totalInputTokens",
    "totalOutputTokens",
    "totalCost",
    "callCount",
    "chainsCompressed",
    "rangesSummarized",
)


def entry_from_pi(value: Any, path_arguments: Sequence[str] = ("path",)) -> Entry | None:
    """One session entry; None when it is malformed or none of ours (messages are none)."""
    if not isinstance(value, dict):
        return None
    kind = value.get("customType")
    if value.get("type") == "custom_message" and kind == SUMMARY_TYPE:
        return _summary(value)
    data = value.get("data")
    if value.get("type") != "custom" or not isinstance(kind, str) or not isinstance(data, dict):
        return None
    name = kind.removeprefix(PREFIX) if kind.startswith(PREFIX) else ""
    if name in _RECORD_READERS:
        return _RECORD_READERS[name](data, path_arguments)
    return _READERS[name](data) if name in _READERS else None


def summary_text(content: Any) -> str:
    """A string content, or its text blocks joined with line feeds."""
    if isinstance(content, str):
        return content
    parts = (part_from_pi(block) for block in content) if isinstance(content, list) else ()
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def entry_time_ms(value: Any) -> int | None:
    """The time of an entry, an ISO string, in epoch milliseconds; a number is taken as it is. None if it is neither."""
    if not isinstance(value, str):
        return number_or_none(value)
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (time.replace(tzinfo=time.tzinfo or UTC) - _EPOCH) // timedelta(milliseconds=1)


def _summary(value: dict[str, Any]) -> Entry:
    text = summary_text(value.get("content"))
    details, time_ms = details_from_pi(value.get("details")), entry_time_ms(value.get("timestamp"))
    return SummaryEntry(text, details, time_ms, value.get("extractive") is True)


def _index(data: dict[str, Any], path_arguments: Sequence[str]) -> Entry:
    records = (record_from_pi(item, path_arguments) for item in objects_in(data.get("toolCalls")))
    refs = refs_from_pi(data["refs"]) if isinstance(data.get("refs"), list) else None
    found = tuple(record for record in records if record is not None)
    return IndexEntry(found, refs, data.get("backfilled") is True)


def _alias(data: dict[str, Any], path_arguments: Sequence[str]) -> Entry | None:
    new, original = data.get("newToolCallId"), data.get("originalToolCallId")
    if not isinstance(new, str) or not isinstance(original, str):
        return None
    new_time = number_or_none(data.get("newResultTimestamp"))
    new_number = occurrence_or_none(data.get("newOccurrence"))
    original_time = number_or_none(data.get("originalResultTimestamp"))
    original_number = occurrence_or_none(data.get("originalOccurrence"))
    new_key = occurrence_key(new, new_time, new_number)
    identity = ParsedKey(new, new_time, new_number)
    return AliasEntry(
        new_key,
        occurrence_key(original, original_time, original_number),
        record_from_pi(data.get("record"), path_arguments),
        None if parse_key(new_key) == identity else identity,
    )


def _skip(data: dict[str, Any]) -> Entry:
    reason = SkipReason.OVERSIZED if data.get("reason") == SkipReason.OVERSIZED else SkipReason.TRIVIAL
    calls = tuple(
        SkippedCall(
            call["toolCallId"],
            number_or_none(call.get("resultTimestamp")),
            occurrence_or_none(call.get("occurrence")),
        )
        for call in objects_in(data.get("calls"))
        if isinstance(call.get("toolCallId"), str)
    )
    return SkipEntry(reason, calls)


def _frontier(data: dict[str, Any]) -> Entry | None:
    frontier = frontier_from_pi(data)
    return FrontierEntry(frontier) if frontier else None


def frontier_from_pi(data: Any) -> Frontier | None:
    """A frontier; None without an id of the last call. Absent members take their defaults."""
    if not isinstance(data, dict) or not text_or_empty(data.get("lastAttemptedToolCallId")):
        return None
    return Frontier(
        last_attempted_tool_call_id=data["lastAttemptedToolCallId"],
        last_attempted_tool_name=data.get("lastAttemptedToolName") or "unknown",
        last_attempted_turn_index=number_or_none(data.get("lastAttemptedTurnIndex")) or 0,
        last_attempted_timestamp_ms=number_or_none(data.get("lastAttemptedTimestamp")) or 0,
        attempted_batch_count=number_or_none(data.get("attemptedBatchCount")) or 0,
        attempted_tool_call_count=number_or_none(data.get("attemptedToolCallCount")) or 0,
        raw_char_count=number_or_none(data.get("rawCharCount")) or 0,
        summary_char_count=number_or_none(data.get("summaryCharCount")) or 0,
        outcome=text_or_empty(data.get("outcome")) or "summarized",
    )


def _camel(name: str) -> str:
    head, *tail = name.removesuffix("_ms").split("_")
    return head + "".join(word.capitalize() for word in tail)


def frontier_to_pi(frontier: Frontier) -> dict[str, Any]:
    """A frontier as JSON."""
    return {_camel(item.name): getattr(frontier, item.name) for item in fields(frontier)}


def _stats(data: dict[str, Any]) -> Entry:
    cost = data.get("totalCost")
    whole = {
        item.name: number_or_none(data.get(_camel(item.name))) or 0
        for item in fields(Stats)
        if item.name != "total_cost"
    }
    return StatsEntry(Stats(total_cost=0 if number_or_none(cost) is None else float(cost or 0), **whole))


def stats_to_pi(stats: Stats) -> dict[str, Any]:
    """Statistics as JSON. What Pi does not count is written only when there is some."""
    every = {_camel(item.name): getattr(stats, item.name) for item in fields(stats)}
    return {name: value for name, value in every.items() if value or name in _PI_STATS}


def chain_from_pi(data: Any) -> ChainEntry | None:
    """A chain entry; None without a block id or a numeric start."""
    if not isinstance(data, dict):
        return None
    start = number_or_none(data.get("startUserTimestamp"))
    block_id = data.get("blockId")
    if not isinstance(block_id, str) or start is None:
        return None
    archived = (
        ArchivedRef(item["ref"], text_or_empty(item.get("tool")))
        for item in objects_in(data.get("archivedRefs"))
        if isinstance(item.get("ref"), str)
    )
    text = data.get("rangeSummaryText")
    source = data.get("bodySource")
    return ChainEntry(
        block_id=block_id,
        start_user_timestamp_ms=start,
        dropped_tool_call_ids=strings_in(data.get("droppedToolCallIds")),
        final_assistant_timestamp_ms=number_or_none(data.get("finalAssistantTimestamp")),
        tool_refs=strings_in(data.get("toolRefs")),
        compressed_at_ms=number_or_none(data.get("compressedAt")) or 0,
        range_summary_text=text if isinstance(text, str) else None,
        body_source=source if isinstance(source, str) else None,
        archived_refs=tuple(archived),
        protected_tool_call_ids=strings_in(data.get("protectedToolCallIds")),
        dropped_occurrence_keys=strings_in(data.get("droppedOccurrenceKeys")),
    )


def chain_to_pi(chain: ChainEntry) -> dict[str, Any]:
    """A chain entry as JSON. Digests are ours alone and stay out of it."""
    return without_none(
        {
            "blockId": chain.block_id,
            "startUserTimestamp": chain.start_user_timestamp_ms,
            "droppedToolCallIds": list(chain.dropped_tool_call_ids),
            "finalAssistantTimestamp": chain.final_assistant_timestamp_ms,
            "toolRefs": list(chain.tool_refs),
            "compressedAt": chain.compressed_at_ms,
            "rangeSummaryText": chain.range_summary_text,
            "bodySource": chain.body_source,
            "archivedRefs": [{"ref": item.ref, "tool": item.tool} for item in chain.archived_refs] or None,
            "protectedToolCallIds": list(chain.protected_tool_call_ids) or None,
            "droppedOccurrenceKeys": list(chain.dropped_occurrence_keys) or None,
        }
    )


def _diagnostic(data: dict[str, Any]) -> Entry:
    return DiagnosticEntry(text_or_empty(data.get("kind")), text_or_empty(data.get("detail")))


def metrics_to_pi(metrics: ContextMetrics) -> dict[str, Any]:
    """Context metrics as JSON."""
    return {_camel(item.name): getattr(metrics, item.name) for item in fields(metrics)}


def _flush_metrics(data: dict[str, Any]) -> Entry:
    raw = data.get("metrics")
    raw = raw if isinstance(raw, dict) else {}
    numbers = {item.name: number_or_none(raw.get(_camel(item.name))) or 0 for item in fields(ContextMetrics)}
    return FlushMetricsEntry(
        ts_ms=number_or_none(data.get("ts")) or 0,
        trigger=text_or_empty(data.get("trigger")),
        captured_batches=number_or_none(data.get("capturedBatches")) or 0,
        processed_batches=number_or_none(data.get("processedBatches")) or 0,
        outcome=text_or_empty(data.get("outcome")),
        metrics=ContextMetrics(**numbers),
        flush_id=text_or_empty(data.get("flushId")),
    )


def _pin(data: dict[str, Any]) -> Entry:
    expires_ms = number_or_none(data.get("expiresAt"))
    return PinEntry(strings_in(data.get("occurrenceKeys")), expires_ms, data.get("unpin") is True)


_RECORD_READERS: dict[str, Callable[[dict[str, Any], Sequence[str]], Entry | None]] = {
    "index": _index,
    "dedup-alias": _alias,
}
_READERS: dict[str, Callable[[dict[str, Any]], Entry | None]] = {
    "skip": _skip,
    "frontier": _frontier,
    "stats": _stats,
    "chain": chain_from_pi,
    "diagnostic": _diagnostic,
    "flush-metrics": _flush_metrics,
    "pin": _pin,
}
