"""Refs, calls, batches and records in Pi's JSON: one form for imports, exports and the test vectors.

Reading never fails: a malformed record or ref is None or left out.
"""

from collections.abc import Iterable
from typing import Any

from condense_grpc.domain.arguments import paths_in
from condense_grpc.domain.batches import Batch, Call, Record, Ref, SummaryDetails
from condense_grpc.domain.json_text import compact, parse_or_text
from condense_grpc.domain.messages import TextPart
from condense_grpc.domain.pi_json import number_or_none, part_from_pi, part_to_pi, text_or_empty
from condense_grpc.domain.text import content_hash


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none when it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def strings_in(value: Any) -> tuple[str, ...]:
    """The strings of a list; none when it is no list."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def occurrence_or_none(value: Any) -> int | None:
    """A whole number of at least 2; None for everything else."""
    number = number_or_none(value)
    return number if number is not None and number >= 2 and number == value else None


def without_none(value: dict[str, Any]) -> dict[str, Any]:
    """The members that are not None."""
    return {name: member for name, member in value.items() if member is not None}


def ref_from_pi(value: Any) -> Ref | None:
    """A ref with its two string ids; None for anything else."""
    if not isinstance(value, dict):
        return None
    short_id, tool_call_id = value.get("shortId"), value.get("toolCallId")
    if not isinstance(short_id, str) or not isinstance(tool_call_id, str):
        return None
    time = number_or_none(value.get("resultTimestamp"))
    return Ref(short_id, tool_call_id, time, occurrence_or_none(value.get("occurrence")))


def refs_from_pi(value: Any) -> tuple[Ref, ...]:
    """The well-formed refs of a list."""
    refs = (ref_from_pi(item) for item in value) if isinstance(value, list) else ()
    return tuple(ref for ref in refs if ref is not None)


def ref_to_pi(ref: Ref) -> dict[str, Any]:
    """A ref as JSON."""
    return without_none(
        {
            "shortId": ref.short_id,
            "toolCallId": ref.tool_call_id,
            "resultTimestamp": ref.result_timestamp_ms,
            "occurrence": ref.occurrence,
        }
    )


def details_from_pi(value: Any) -> SummaryDetails:
    """The details of a summary. Old ones list bare ids only; an empty list of refs is final."""
    if not isinstance(value, dict):
        return SummaryDetails()
    if isinstance(value.get("toolCallRefs"), list):
        refs = refs_from_pi(value["toolCallRefs"])
    else:
        refs = tuple(Ref(item, item) for item in strings_in(value.get("toolCallIds")))
    names = strings_in(value.get("toolNames"))
    time = number_or_none(value.get("timestamp"))
    return SummaryDetails(refs, names, number_or_none(value.get("turnIndex")), time)


def details_to_pi(details: SummaryDetails) -> dict[str, Any]:
    """The details of a summary as JSON."""
    return {
        "toolCallRefs": [ref_to_pi(ref) for ref in details.refs],
        "toolNames": list(details.tool_names),
        "turnIndex": details.turn_index,
        "timestamp": details.timestamp_ms,
    }


def call_from_pi(value: dict[str, Any]) -> Call:
    """One call of a batch."""
    parts = value.get("parts")
    return Call(
        tool_call_id=text_or_empty(value.get("toolCallId")),
        tool_name=text_or_empty(value.get("toolName")),
        args_json="{}" if value.get("args") is None else compact(value["args"]),
        result_text=text_or_empty(value.get("resultText")),
        is_error=value.get("isError") is True,
        result_timestamp_ms=number_or_none(value.get("resultTimestamp")),
        occurrence=occurrence_or_none(value.get("occurrence")),
        parts=tuple(part_from_pi(part) for part in objects_in(parts)),
    )


def call_to_pi(call: Call) -> dict[str, Any]:
    """A call as JSON."""
    return without_none(
        {
            "toolCallId": call.tool_call_id,
            "toolName": call.tool_name,
            "args": parse_or_text(call.args_json),
            "resultText": call.result_text,
            "isError": call.is_error,
            "resultTimestamp": call.result_timestamp_ms,
            "occurrence": call.occurrence,
            "parts": [part_to_pi(part) for part in call.parts] or None,
        }
    )


def batch_from_pi(value: dict[str, Any]) -> Batch:
    """A batch from JSON."""
    calls = tuple(call_from_pi(call) for call in objects_in(value.get("toolCalls")))
    return Batch(
        turn_index=number_or_none(value.get("turnIndex")) or 0,
        timestamp_ms=number_or_none(value.get("timestamp")) or 0,
        assistant_text=text_or_empty(value.get("assistantText")),
        calls=calls,
        group=number_or_none(value.get("userTurnGroup")),
    )


def batch_to_pi(batch: Batch) -> dict[str, Any]:
    """A batch as JSON."""
    return without_none(
        {
            "turnIndex": batch.turn_index,
            "timestamp": batch.timestamp_ms,
            "assistantText": batch.assistant_text,
            "toolCalls": [call_to_pi(call) for call in batch.calls],
            "userTurnGroup": batch.group,
        }
    )


def record_from_pi(value: Any, path_arguments: Iterable[str] = ("path",)) -> Record | None:
    """A record; None without a string id.

    A text that is missing, or that lies in a file of its old host, registers no content unless a hash is stored.
    """
    if not isinstance(value, dict) or not isinstance(value.get("toolCallId"), str):
        return None
    call = call_from_pi(value)
    text = value.get("resultText")
    stored = value.get("contentHash")
    has_other = any(not isinstance(part, TextPart) for part in call.parts)
    if isinstance(stored, str) and stored:
        hashed = stored
    elif isinstance(text, str) and not has_other and not (text == "" and value.get("spillPath")):
        hashed = content_hash(call.tool_name, text)
    else:
        hashed = ""
    spill_path = value.get("spillPath")
    preview = value.get("resultPreview")
    return Record(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        is_error=call.is_error,
        turn_index=number_or_none(value.get("turnIndex")),
        timestamp_ms=number_or_none(value.get("timestamp")),
        result_timestamp_ms=call.result_timestamp_ms,
        occurrence=call.occurrence,
        text_chars=len(call.result_text),
        text=call.result_text,
        args_json=call.args_json,
        parts=call.parts,
        has_other_parts=has_other,
        paths=paths_in(call.args_json, tuple(path_arguments)),
        content_hash=hashed,
        spilled=value.get("spilled") is True,
        spill_bytes=number_or_none(value.get("spillBytes")),
        result_preview=preview if isinstance(preview, str) else None,
        spill_path=spill_path if isinstance(spill_path, str) and spill_path else None,
    )


def record_to_pi(record: Record) -> dict[str, Any]:
    """A record, complete with its text, as JSON."""
    return without_none(
        {
            "toolCallId": record.tool_call_id,
            "toolName": record.tool_name,
            "args": parse_or_text(record.args_json or "{}"),
            "resultText": record.text or "",
            "isError": record.is_error,
            "turnIndex": record.turn_index,
            "timestamp": record.timestamp_ms,
            "resultTimestamp": record.result_timestamp_ms,
            "occurrence": record.occurrence,
            "parts": [part_to_pi(part) for part in record.parts] or None,
            "spilled": True if record.spilled else None,
            "spillBytes": record.spill_bytes,
            "resultPreview": record.result_preview,
            "spillPath": record.spill_path,
            "contentHash": record.content_hash if record.spill_path and record.content_hash else None,
        }
    )
