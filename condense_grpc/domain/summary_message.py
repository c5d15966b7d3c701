"""A summary as a message of the view: what a host of ours shows where the summary was made."""

from collections.abc import Sequence
from dataclasses import replace
from json.encoder import encode_basestring as quoted

from condense_grpc.domain.batches import Ref
from condense_grpc.domain.entries import SummaryEntry
from condense_grpc.domain.json_text import compact, value_chars
from condense_grpc.domain.messages import Message, Role, TextPart
from condense_grpc.domain.pi_json import SUMMARY_TYPE
from condense_grpc.domain.pi_records import details_to_pi, occurrence_or_none
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.tokens import wide_chars

_OPENING = f'{{"role":"custom","customType":{quoted(SUMMARY_TYPE)},"content":'


def summary_message(entry: SummaryEntry) -> Message:
    """The message. Its Pi JSON has the text as a string content, which a message of parts could not say."""
    details = compact(details_to_pi(entry.details))
    return Message(
        Role.CUSTOM,
        (TextPart(entry.text),),
        entry.timestamp_ms,
        custom_role="custom",
        custom_type=SUMMARY_TYPE,
        details_json=details,
        source_json=_source(entry, details),
    )


def _source(entry: SummaryEntry, details: str) -> str:
    """Its Pi JSON, given that of its details, which is the larger part."""
    time = "null" if entry.timestamp_ms is None else entry.timestamp_ms
    # Written member by member: a flush makes one for each of its batches.
    return f'{_OPENING}{quoted(entry.text)},"display":false,"details":{details},"timestamp":{time}}}'


def summary_skeleton(entry: SummaryEntry) -> MessageSkeleton:
    """The skeleton of that message, as `skeleton_of` would find it by reading all of it. Its refs are only measured."""
    refs = entry.details.refs
    around = _source(entry, compact(details_to_pi(replace(entry.details, refs=()))))
    texts = "".join([ref.short_id for ref in refs]) + "".join([ref.tool_call_id for ref in refs])
    wide = wide_chars(around) + wide_chars(texts)
    return _skeleton(entry.timestamp_ms, refs, len(around) + _refs_chars(refs, texts), wide)


def skeleton_of_summary(message: Message, refs: Sequence[Ref]) -> MessageSkeleton:
    """The same skeleton where the message is there already; `refs` are those of its entry."""
    return _skeleton(message.timestamp_ms, refs, len(message.source_json), wide_chars(message.source_json))


def _skeleton(time_ms: int | None, refs: Sequence[Ref], chars: int, wide: int) -> MessageSkeleton:
    return MessageSkeleton(
        Role.CUSTOM,
        time_ms,
        chars,
        is_summary=True,
        summary_refs=tuple(map(_as_read, refs)) if any(ref.occurrence is not None for ref in refs) else tuple(refs),
        wide_chars=wide,
    )


def _refs_chars(refs: Sequence[Ref], texts: str) -> int:
    """The length of the JSON of refs between the brackets of their list; `texts` are all of their ids."""
    times = [ref.result_timestamp_ms for ref in refs if ref.result_timestamp_ms is not None]
    numbers = [ref.occurrence for ref in refs if ref.occurrence is not None]
    members = len(',"resultTimestamp":') * len(times) + len(',"occurrence":') * len(numbers)
    members += len("".join(map(str, times))) + len("".join(map(str, numbers)))
    empty = len('{"shortId":"","toolCallId":""}') * len(refs) + max(len(refs) - 1, 0)
    return empty + value_chars(texts) - len('""') + members


def _as_read(ref: Ref) -> Ref:
    """A ref as it is in JSON, where a number that names no further occurrence says nothing."""
    if ref.occurrence is None or occurrence_or_none(ref.occurrence) is not None:
        return ref
    return Ref(ref.short_id, ref.tool_call_id, ref.result_timestamp_ms)
