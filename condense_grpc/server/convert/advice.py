"""What appends and renders report beside the view: advice about flushes, and violations of the input."""

from condense_grpc.api.condense.v1 import flush_pb2, transcript_pb2
from condense_grpc.domain.validity import Violation, ViolationKind
from condense_grpc.engine.requests import FlushAdvice
from condense_grpc.errors import short
from condense_grpc.server.convert.enums import TRIGGER, VIOLATION_KIND
from condense_grpc.server.convert.wire_text import wire_text

_SENTENCES = {
    ViolationKind.UNANSWERED_CALL: "call {id} had no result when the history went on",
    ViolationKind.ORPHAN_RESULT: "the result belongs to no call ({id})",
    ViolationKind.DUPLICATE_RESULT: "call {id} has a result already; the first one counts",
    ViolationKind.INTERRUPTED_RESULTS: "another message stands between call {id} and this result",
    ViolationKind.REPEATED_CALL_ID: "several calls of the message have the id {id}; they are paired by their order",
    ViolationKind.EMPTY_ID: "a call has no id; it is paired by its order",
    ViolationKind.EMPTY_CONTENT: "the message has no content that a provider would accept",
    ViolationKind.MALFORMED: "the message has not the form that its provider wants",
    ViolationKind.ROLE_ORDER: "another side than this one has to speak here",
    ViolationKind.REPEATED_ID: "the id {id} stands for something earlier already",
    ViolationKind.BROKEN_REASONING: "the reasoning lacks what belongs to it",
}


def write_advice(advice: FlushAdvice, target: flush_pb2.FlushAdvice) -> None:
    """Write advice; without a reason to flush its trigger stays unspecified."""
    target.SetInParent()
    if advice.trigger is not None:
        target.trigger = TRIGGER.write(advice.trigger)
    target.pending_batches = advice.pending_batches
    target.pending_chars = advice.pending_chars
    target.running = advice.running
    target.started = advice.started


def write_violation(violation: Violation, target: transcript_pb2.Violation) -> None:
    """Write one violation with a sentence that names id and position."""
    target.kind = VIOLATION_KIND[violation.kind]
    target.message_index = violation.message_index
    target.tool_call_id = wire_text(violation.tool_call_id)
    target.repaired = violation.is_repaired
    sentence = _SENTENCES[violation.kind].format(id=repr(short(violation.tool_call_id)))
    more = f": {violation.what}" if violation.what else ""
    target.detail = wire_text(f"message {violation.message_index}: {sentence}{more}")
