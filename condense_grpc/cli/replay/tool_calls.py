"""The keys of a session's results, asked of the server: hosts without times do not know them."""

from collections.abc import Callable

import grpc

from condense_grpc.api.condense.v1.session_service_pb2_grpc import SessionServiceStub
from condense_grpc.api.condense.v1.tool_call_pb2 import ListToolCallsRequest, ToolCallRecord


def lister(channel: grpc.Channel, session_id: str) -> Callable[[], dict[str, list[str]]]:
    """What gives, for each tool call id, the keys of its results in the order in which they came."""

    def keys() -> dict[str, list[str]]:
        stub, token = SessionServiceStub(channel), ""
        records: list[ToolCallRecord] = []
        while True:
            page = stub.ListToolCalls(ListToolCallsRequest(session_id=session_id, page_token=token))
            records += [record for group in page.groups for record in group.records]
            token = page.next_page_token
            if not token:
                break
        found: dict[str, list[str]] = {}
        for record in sorted(records, key=lambda record: record.result_timestamp_ms):
            found.setdefault(record.tool_call_id, []).append(record.occurrence_key)
        return found

    return keys
