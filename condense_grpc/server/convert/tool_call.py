"""Tool calls of the archive, towards the wire."""

from condense_grpc.api.condense.v1 import tool_call_pb2 as pb
from condense_grpc.domain.batches import Record
from condense_grpc.engine.requests import CallFacts, CallPage
from condense_grpc.server.convert.enums import CALL_STATE
from condense_grpc.server.convert.message import write_parts
from condense_grpc.server.convert.summary import write_summary
from condense_grpc.server.convert.times import write_time
from condense_grpc.server.convert.wire_text import wire_text


def write_record(record: Record, target: pb.ToolCallRecord) -> None:
    """What a record says by itself: identity, times, size."""
    target.occurrence_key = wire_text(record.key)
    target.tool_call_id = wire_text(record.tool_call_id)
    target.tool_name = wire_text(record.tool_name)
    target.is_error = record.is_error
    target.turn_index = -1 if record.turn_index is None else record.turn_index
    if record.timestamp_ms is not None:
        target.timestamp_ms = record.timestamp_ms
    if record.result_timestamp_ms is not None:
        target.result_timestamp_ms = record.result_timestamp_ms
    target.text_chars = record.text_chars


def write_facts(facts: CallFacts, target: pb.ToolCallRecord) -> None:
    """A record with what the index knows about it."""
    write_record(facts.record, target)
    target.ref = wire_text(facts.ref)
    target.arguments_json = wire_text(facts.arguments_json)
    write_parts(facts.parts, target.parts, with_content=False)
    target.text_chars = facts.text_chars
    target.text_bytes = facts.text_bytes
    target.digest = facts.sha256
    target.state = CALL_STATE.write(facts.state)
    target.duplicate_of = wire_text(facts.duplicate_of)
    target.summary_id = facts.summary_id
    target.block_id = wire_text(facts.block_id)
    if facts.pin is not None:
        target.pin.SetInParent()
        if facts.pin.expires_ms is not None:
            write_time(facts.pin.expires_ms, target.pin.expire_time)


def write_page(page: CallPage, next_page_token: str) -> pb.ListToolCallsResponse:
    """One page: neighbours that one summary covers, or that none covers, are a group."""
    answer = pb.ListToolCallsResponse(next_page_token=next_page_token)
    group = None
    for facts in page.calls:
        if group is None or group.summary.summary_id != facts.summary_id:
            group = answer.groups.add()
            if facts.summary_id:
                write_summary(page.summaries[facts.summary_id], group.summary)
        write_facts(facts, group.records.add())
    return answer
