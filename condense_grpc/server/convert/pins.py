"""Pins: their requests and their answers."""

from collections.abc import Sequence

from condense_grpc.api.condense.v1 import tool_call_pb2 as pb
from condense_grpc.engine.requests import PinResult
from condense_grpc.errors import RequestInvalid
from condense_grpc.server.convert.tool_call import write_facts
from condense_grpc.server.limits import MAX_QUERY_REFS


def read_refs(request: pb.PinToolCallsRequest) -> Sequence[str]:
    """The names to pin. Raises RequestInvalid when there are too many."""
    if len(request.refs) > MAX_QUERY_REFS:
        count = len(request.refs)
        raise RequestInvalid("refs", f"has {count} members, at most {MAX_QUERY_REFS} are allowed: pin in parts")
    return list(request.refs)


def read_lifetime(request: pb.PinToolCallsRequest) -> int | None:
    """The lifetime in milliseconds, rounded up; None: without end. Raises RequestInvalid for one that is over."""
    if not request.HasField("ttl"):
        return None
    nanos = request.ttl.seconds * 1_000_000_000 + request.ttl.nanos
    if nanos <= 0:
        raise RequestInvalid("ttl", "must be above 0; leave it out for a pin without end")
    return -(-nanos // 1_000_000)


def write_pins(result: PinResult) -> pb.PinToolCallsResponse:
    """The answer."""
    answer = pb.PinToolCallsResponse(unknown_refs=result.unknown_refs, revision=result.revision)
    for facts in result.facts:
        write_facts(facts, answer.records.add())
    return answer
