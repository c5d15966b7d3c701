"""A summary as a message of the view: what a host of ours shows where the summary was made."""

from json.encoder import encode_basestring as quoted

from condense_grpc.domain.batches import Ref
from condense_grpc.domain.entries import SummaryEntry
from condense_grpc.domain.json_text import compact
from condense_grpc.domain.messages import Message, Role, TextPart
from condense_grpc.domain.pi_json import SUMMARY_TYPE
from condense_grpc.domain.pi_records import details_to_pi, occurrence_or_none
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.tokens import wide_chars

_OPENING = f'{{"role":"custom","customType":{quoted(SUMMARY_TYPE)},"content":'


def summary_message(entry: SummaryEntry) -> Message:
    """The message. Its Pi JSON has the text as a string content, which a message of parts could not say."""
    details = compact(details_to_pi(entry.details))
    time = "null" if entry.timestamp_ms is None else entry.timestamp_ms
    # Written member by member: a flush makes one for each of its batches.
    source = f'{_OPENING}{quoted(entry.text)},"display":false,"details":{details},"timestamp":{time}}}'
    return Message(
        Role.CUSTOM,
        (TextPart(entry.text),),
        entry.timestamp_ms,
        custom_role="custom",
        custom_type=SUMMARY_TYPE,
        details_json=details,
        source_json=source,
    )


def summary_skeleton(entry: SummaryEntry, message: Message) -> MessageSkeleton:
    """The skeleton of that message, as `skeleton_of` would find it by reading all of it."""
    return MessageSkeleton(
        Role.CUSTOM,
        message.timestamp_ms,
        len(message.source_json),
        is_summary=True,
        summary_refs=tuple([_as_read(ref) for ref in entry.details.refs]),
        wide_chars=wide_chars(message.source_json),
    )


def _as_read(ref: Ref) -> Ref:
    """A ref as it is in JSON, where a number that names no further occurrence says nothing."""
    if ref.occurrence is None or occurrence_or_none(ref.occurrence) is not None:
        return ref
    return Ref(ref.short_id, ref.tool_call_id, ref.result_timestamp_ms)
