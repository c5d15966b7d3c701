"""Session entries written in Pi's JSON, as `pi_entries` reads them.

Records must be complete: texts, arguments and parts that lie in stored messages have to be filled in before.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from condense_grpc.domain.entries import (
    AliasEntry,
    CarriedEntry,
    ChainEntry,
    DiagnosticEntry,
    Entry,
    FlushMetricsEntry,
    FrontierEntry,
    IndexEntry,
    PinEntry,
    SkipEntry,
    StatsEntry,
    SummaryEntry,
)
from condense_grpc.domain.occurrence import ParsedKey, occurrence_key, parse_key
from condense_grpc.domain.pi_entries import PREFIX, chain_to_pi, frontier_to_pi, metrics_to_pi, stats_to_pi
from condense_grpc.domain.pi_json import SUMMARY_TYPE
from condense_grpc.domain.pi_records import details_to_pi, record_to_pi, ref_to_pi, without_none

Json = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999


def iso_time(time_ms: int) -> str:
    """A time as entries write it; one that no calendar has becomes the nearest that it has."""
    time = _EPOCH + timedelta(milliseconds=min(max(time_ms, _FIRST_MS), _LAST_MS))
    return f"{time.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def entry_to_pi(entry: Entry) -> Json | None:
    """An entry without its id and time; None for one that has no form of its own in a file."""
    match entry:
        case CarriedEntry():
            return None
        case SummaryEntry():
            return _summary(entry)
        case _:
            name, data = _custom(entry)
            return {"type": "custom", "customType": PREFIX + name, "data": data}


def _summary(entry: SummaryEntry) -> Json:
    value: Json = {
        "type": "custom_message",
        "customType": SUMMARY_TYPE,
        "content": entry.text,
        "display": False,
        "details": details_to_pi(entry.details),
    }
    return value | {"extractive": True} if entry.is_extractive else value


def _custom(entry: Entry) -> tuple[str, Json]:
    match entry:
        case IndexEntry():
            return "index", _index(entry)
        case AliasEntry():
            return "dedup-alias", _alias(entry)
        case SkipEntry():
            return "skip", _skip(entry)
        case FrontierEntry():
            return "frontier", frontier_to_pi(entry.frontier)
        case StatsEntry():
            return "stats", stats_to_pi(entry.stats)
        case ChainEntry():
            return "chain", chain_to_pi(entry)
        case DiagnosticEntry():
            return "diagnostic", {"kind": entry.kind, "detail": entry.detail}
        case FlushMetricsEntry():
            return "flush-metrics", _flush_metrics(entry)
        case PinEntry():
            return "pin", _pin(entry)
        case _:
            raise TypeError(f"{type(entry).__name__} has no custom form")


def _index(entry: IndexEntry) -> Json:
    data: Json = {"toolCalls": [record_to_pi(record) for record in entry.records]}
    if entry.backfilled:
        data["backfilled"] = True
    if entry.refs is not None:
        data["refs"] = [ref_to_pi(ref) for ref in entry.refs]
    return data


def _alias(entry: AliasEntry) -> Json:
    new = entry.new_identity or _identity(entry.new_key)
    original = _identity(entry.original_key)
    return without_none(
        {
            "newToolCallId": new.tool_call_id,
            "originalToolCallId": original.tool_call_id,
            "newResultTimestamp": new.result_timestamp_ms,
            "originalResultTimestamp": original.result_timestamp_ms,
            "newOccurrence": new.occurrence,
            "originalOccurrence": original.occurrence,
            "record": None if entry.record is None else record_to_pi(entry.record),
        }
    )


def _identity(key: str) -> ParsedKey:
    """The pieces of a key, such that they give the key again."""
    parsed = parse_key(key)
    again = occurrence_key(parsed.tool_call_id, parsed.result_timestamp_ms, parsed.occurrence)
    return parsed if again == key else ParsedKey(key)


def _skip(entry: SkipEntry) -> Json:
    calls = [
        without_none(
            {
                "toolCallId": call.tool_call_id,
                "resultTimestamp": call.result_timestamp_ms,
                "occurrence": call.occurrence,
            }
        )
        for call in entry.calls
    ]
    return {"reason": entry.reason.value, "calls": calls}


def _flush_metrics(entry: FlushMetricsEntry) -> Json:
    data: Json = {
        "ts": entry.ts_ms,
        "trigger": entry.trigger,
        "capturedBatches": entry.captured_batches,
        "processedBatches": entry.processed_batches,
        "outcome": entry.outcome,
        "metrics": metrics_to_pi(entry.metrics),
    }
    return data | {"flushId": entry.flush_id} if entry.flush_id else data


def _pin(entry: PinEntry) -> Json:
    data: Json = {"occurrenceKeys": list(entry.keys)}
    if entry.expires_ms is not None:
        data["expiresAt"] = entry.expires_ms
    return data | {"unpin": True} if entry.unpin else data
