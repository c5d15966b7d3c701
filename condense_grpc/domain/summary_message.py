"""A summary as a message of the view: what a host of ours shows where the summary was made."""

from condense_grpc.domain.entries import SummaryEntry
from condense_grpc.domain.json_text import compact
from condense_grpc.domain.messages import Message, Role, TextPart
from condense_grpc.domain.pi_json import SUMMARY_TYPE
from condense_grpc.domain.pi_records import details_to_pi


def summary_message(entry: SummaryEntry) -> Message:
    """The message. Its Pi JSON has the text as a string content, which a message of parts could not say."""
    details = details_to_pi(entry.details)
    value = {
        "role": "custom",
        "customType": SUMMARY_TYPE,
        "content": entry.text,
        "display": False,
        "details": details,
        "timestamp": entry.timestamp_ms,
    }
    return Message(
        Role.CUSTOM,
        (TextPart(entry.text),),
        entry.timestamp_ms,
        custom_role="custom",
        custom_type=SUMMARY_TYPE,
        details_json=compact(details),
        source_json=compact(value),
    )
