"""Sessions: requests that make, list and change them, and their answers."""

from collections.abc import Mapping

from condense_grpc.api.condense.v1 import session_pb2 as pb
from condense_grpc.engine.ports import SessionFilter
from condense_grpc.engine.requests import SessionInfo
from condense_grpc.errors import RequestInvalid
from condense_grpc.server.convert.config import write_config
from condense_grpc.server.convert.enums import MESSAGE_FORMAT
from condense_grpc.server.convert.times import read_time, write_time
from condense_grpc.server.convert.wire_text import wire_text
from condense_grpc.server.limits import (
    MAX_LABEL_NAME_CHARS,
    MAX_LABEL_VALUE_CHARS,
    MAX_LABELS,
    MAX_REQUEST_ID_CHARS,
)


def read_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels of a request. Raises RequestInvalid when there are too many, or one is too long or has no name."""
    if len(labels) > MAX_LABELS:
        raise RequestInvalid("labels", f"has {len(labels)} members, at most {MAX_LABELS} are allowed")
    for name, value in labels.items():
        if not name or len(name) > MAX_LABEL_NAME_CHARS or len(value) > MAX_LABEL_VALUE_CHARS:
            raise RequestInvalid(
                "labels",
                f"a name must have 1 to {MAX_LABEL_NAME_CHARS} characters, a value at most {MAX_LABEL_VALUE_CHARS}",
            )
        if "\0" in name or "\0" in value:
            raise RequestInvalid("labels", "must not hold the character NUL")
    return dict(labels)


def read_request_id(request_id: str) -> str:
    """The name that a client gives to a request."""
    if len(request_id) > MAX_REQUEST_ID_CHARS or "\0" in request_id:
        raise RequestInvalid("request_id", f"must have at most {MAX_REQUEST_ID_CHARS} characters, and no NUL")
    return request_id


def read_filter(request: pb.ListSessionsRequest) -> SessionFilter:
    """Which sessions to list."""
    since_ms = read_time(request.updated_since) if request.HasField("updated_since") else 0
    return SessionFilter(read_labels(request.labels), max(0, since_ms))


def changes_labels(request: pb.UpdateSessionRequest) -> bool:
    """Whether an update replaces the labels."""
    return "labels" in request.update_mask.paths if request.update_mask.paths else bool(request.labels)


def write_session(info: SessionInfo, target: pb.Session) -> None:
    """Write a session."""
    target.session_id = wire_text(info.session_id)
    write_time(info.create_time_ms, target.create_time)
    write_time(info.update_time_ms, target.update_time)
    for name, value in info.labels.items():
        target.labels[wire_text(name)] = wire_text(value)
    write_config(info.config, target.config)
    target.transcript_length = info.length
    target.transcript_etag = info.etag
    target.revision = info.revision
    target.pending_batches = info.pending_batches
    target.rearmed = info.rearmed
    target.status_line = wire_text(info.status_line)
    if info.native is not None:
        target.format = MESSAGE_FORMAT.write(info.native)
