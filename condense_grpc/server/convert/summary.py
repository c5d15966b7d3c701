"""Summaries and blocks, towards the wire."""

from condense_grpc.api.condense.v1 import summary_pb2 as pb
from condense_grpc.engine.requests import SummaryFacts
from condense_grpc.server.convert.enums import SUMMARY_KIND
from condense_grpc.server.convert.times import write_time
from condense_grpc.server.convert.wire_text import wire_text, wire_texts


def write_summary(facts: SummaryFacts, target: pb.Summary) -> None:
    """Write a summary."""
    text = wire_text(facts.text)
    target.summary_id = wire_text(facts.summary_id)
    target.kind = SUMMARY_KIND.write(facts.kind)
    target.text = text
    target.refs.extend(wire_texts(facts.refs))
    target.tool_names.extend(wire_texts(facts.tool_names))
    target.turn_index = facts.turn_index
    write_time(facts.create_time_ms, target.create_time)
    target.transcript_length = facts.transcript_length
    target.source_chars = facts.source_chars
    target.summary_chars = len(facts.text)
    target.block_id = wire_text(facts.block_id)
