"""The archive of a session, asked of the server: hosts without times do not know the keys of their results."""

from collections.abc import Callable, Iterable

import grpc

from condense_grpc.api.condense.v1.session_service_pb2_grpc import SessionServiceStub
from condense_grpc.api.condense.v1.tool_call_pb2 import ListToolCallsRequest, ToolCallRecord


def lister(channel: grpc.Channel, session_id: str) -> Callable[[], list[ToolCallRecord]]:
    """What gives the records of all results, in the order in which they came."""

    def records() -> list[ToolCallRecord]:
        stub, token = SessionServiceStub(channel), ""
        found: list[ToolCallRecord] = []
        while True:
            page = stub.ListToolCalls(ListToolCallsRequest(session_id=session_id, page_token=token))
            found += [record for group in page.groups for record in group.records]
            token = page.next_page_token
            if not token:
                return sorted(found, key=lambda record: record.result_timestamp_ms)

    return records


def keys_by_id(records: Iterable[ToolCallRecord]) -> dict[str, list[str]]:
    """For each tool call id the keys of its results, in order."""
    found: dict[str, list[str]] = {}
    for record in records:
        found.setdefault(record.tool_call_id, []).append(record.occurrence_key)
    return found
