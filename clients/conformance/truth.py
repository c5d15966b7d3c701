"""What the server holds of a session, asked over its own stubs: no client under test stands between."""

from __future__ import annotations

import time

import grpc

from condense_grpc.api.condense.v1.condense_service_pb2_grpc import CondenseServiceStub
from condense_grpc.api.condense.v1.config_pb2 import SessionConfig
from condense_grpc.api.condense.v1.diagnostics_pb2 import GetDiagnosticsRequest
from condense_grpc.api.condense.v1.session_pb2 import DeleteSessionRequest, ForkSessionRequest, UpdateSessionRequest
from condense_grpc.api.condense.v1.session_service_pb2_grpc import SessionServiceStub
from condense_grpc.api.condense.v1.view_pb2 import VIEW_FULL, PruneMessagesRequest
from condense_grpc.native.json_read import read_elements as split_array

_MAX_BYTES = 64 * 1024 * 1024
_MOST_QUESTIONS, _BETWEEN_SECONDS = 500, 0.02


def read_elements(address: str, session_id: str) -> list[str]:
    """The raw elements: a copy of the session that condenses nothing is shown whole, and removed again."""
    options = [("grpc.max_receive_message_length", _MAX_BYTES)]
    with grpc.insecure_channel(address, options) as channel:
        condense, sessions = CondenseServiceStub(channel), SessionServiceStub(channel)
        copy = sessions.ForkSession(ForkSessionRequest(session_id=session_id)).session.session_id
        off = UpdateSessionRequest(session_id=copy, config=SessionConfig(enabled=False))
        sessions.UpdateSession(off)
        shown = condense.PruneMessages(PruneMessagesRequest(session_id=copy, view=VIEW_FULL)).native_json
        sessions.DeleteSession(DeleteSessionRequest(session_id=copy))
    return [element.text for element in split_array(shown)] if shown else []


def wait_until_idle(address: str, session_id: str) -> None:
    """Returns when no flush of the session is running any more: a cancellation takes a moment to arrive."""
    with grpc.insecure_channel(address) as channel:
        condense = CondenseServiceStub(channel)
        for _ in range(_MOST_QUESTIONS):
            if not condense.GetDiagnostics(GetDiagnosticsRequest(session_id=session_id)).running_flush_id:
                return
            time.sleep(_BETWEEN_SECONDS)
    raise TimeoutError("the flush that was cancelled is still running")
