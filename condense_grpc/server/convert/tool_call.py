"""Tool calls of the archive, towards the wire."""

from collections.abc import Iterable

from condense_grpc.api.condense.v1 import tool_call_pb2 as pb
from condense_grpc.domain.batches import Record
from condense_grpc.domain.messages import TextPart
from condense_grpc.engine.requests import CallFacts
from condense_grpc.server.convert.enums import CALL_STATE
from condense_grpc.server.convert.message import write_parts
from condense_grpc.server.convert.wire_text import wire_text


def write_record(record: Record, target: pb.ToolCallRecord) -> None:
    """What a record says by itself: identity, times, the parts that are not text without their content."""
    target.occurrence_key = wire_text(record.key)
    target.tool_call_id = wire_text(record.tool_call_id)
    target.tool_name = wire_text(record.tool_name)
    target.arguments_json = wire_text(record.args_json or "")
    target.is_error = record.is_error
    target.turn_index = -1 if record.turn_index is None else record.turn_index
    if record.timestamp_ms is not None:
        target.timestamp_ms = record.timestamp_ms
    if record.result_timestamp_ms is not None:
        target.result_timestamp_ms = record.result_timestamp_ms
    target.text_chars = record.text_chars
    others = [part for part in record.parts if not isinstance(part, TextPart)]
    write_parts(others, target.parts, with_content=False)


def write_facts(facts: CallFacts, target: pb.ToolCallRecord) -> None:
    """A record with what the index knows about it."""
    write_record(facts.record, target)
    target.ref = wire_text(facts.ref)
    target.text_chars = facts.text_chars
    target.text_bytes = facts.text_bytes
    target.digest = facts.sha256
    target.state = CALL_STATE.write(facts.state)
    target.duplicate_of = wire_text(facts.duplicate_of)
    target.summary_id = facts.summary_id
    target.block_id = wire_text(facts.block_id)


def write_page(page: Iterable[CallFacts], next_page_token: str) -> pb.ListToolCallsResponse:
    """One page: neighbours that one summary covers, or that none covers, are a group."""
    answer = pb.ListToolCallsResponse(next_page_token=next_page_token)
    group = None
    for facts in page:
        if group is None or group.summary.summary_id != facts.summary_id:
            group = answer.groups.add()
            if facts.summary_id:
                group.summary.summary_id = facts.summary_id
        write_facts(facts, group.records.add())
    return answer
