"""How an error looks on the wire: one table from reasons to codes, and the details of `google.rpc.Status`.

Every status carries one ErrorInfo, a BadRequest where fields are at fault, and a RetryInfo where waiting helps. All of
it stays far below the 8 KB that gRPC allows for metadata, whatever texts the request held.
"""

from collections.abc import Iterable, Mapping

import grpc
from google.protobuf.message import Message as ProtoMessage
from google.rpc import error_details_pb2, status_pb2

from condense_grpc.domain.frozen import frozen
from condense_grpc.errors import CondenseError, FieldViolation, QuotaExceeded, RequestInvalid
from condense_grpc.server.convert.wire_text import wire_text

DOMAIN = "condense.v1"
INTERNAL_MESSAGE = "the server has met a defect; nothing more is known to this side"

# The status travels twice: as message (percent-encoded, up to 3 times as long) and, with it, as details (base64).
_MAX_MESSAGE_BYTES = 600
_MAX_VALUE_BYTES = 256
_MAX_STATUS_BYTES = 3500


@frozen
class Treatment:
    """The code of a reason, and after how many seconds it is worth to try again (None: waiting does not help)."""

    code: grpc.StatusCode
    retry_seconds: float | None = None


TREATMENTS: Mapping[str, Treatment] = {
    "SESSION_NOT_FOUND": Treatment(grpc.StatusCode.NOT_FOUND),
    "SESSION_ALREADY_EXISTS": Treatment(grpc.StatusCode.ALREADY_EXISTS),
    "SESSION_ID_INVALID": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "TRANSCRIPT_MISMATCH": Treatment(grpc.StatusCode.FAILED_PRECONDITION),
    "MESSAGE_INVALID": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "MESSAGE_TOO_LARGE": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "DELTA_TOO_LARGE": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "NATIVE_JSON_INVALID": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "CONFIG_INVALID": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "FLUSH_IN_PROGRESS": Treatment(grpc.StatusCode.ABORTED, 1.0),
    "REVISION_CONFLICT": Treatment(grpc.StatusCode.ABORTED, 0.1),
    "PAGE_TOKEN_INVALID": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "PATTERN_INVALID": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "QUOTA_EXCEEDED": Treatment(grpc.StatusCode.RESOURCE_EXHAUSTED),
    "SUMMARIZER_UNKNOWN": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "UNAUTHENTICATED": Treatment(grpc.StatusCode.UNAUTHENTICATED),
    "PERMISSION_DENIED": Treatment(grpc.StatusCode.PERMISSION_DENIED),
    "STORE_UNAVAILABLE": Treatment(grpc.StatusCode.UNAVAILABLE, 2.0),
    "SHUTTING_DOWN": Treatment(grpc.StatusCode.UNAVAILABLE, 1.0),
    "REQUEST_INVALID": Treatment(grpc.StatusCode.INVALID_ARGUMENT),
    "NOT_IMPLEMENTED": Treatment(grpc.StatusCode.UNIMPLEMENTED),
    "INTERNAL": Treatment(grpc.StatusCode.INTERNAL),
}


def status_of(error: CondenseError, further: Mapping[str, str] | None = None) -> status_pb2.Status:
    """The status of an error. `further` metadata are what the server knows and the error does not."""
    violations = error.violations if isinstance(error, RequestInvalid) else ()
    return _status(error.reason, error.message, {**error.metadata, **(further or {})}, violations, _retry(error))


def _retry(error: CondenseError) -> float | None:
    if isinstance(error, QuotaExceeded) and error.waiting_helps:
        return 1.0
    return TREATMENTS[error.reason].retry_seconds


def internal_status(incident_id: str) -> status_pb2.Status:
    """The status of a defect. It says nothing about the cause."""
    return _status("INTERNAL", INTERNAL_MESSAGE, {"incidentId": incident_id})


def _status(
    reason: str,
    message: str,
    metadata: Mapping[str, str],
    violations: Iterable[FieldViolation] = (),
    retry_seconds: float | None = None,
) -> status_pb2.Status:
    status = status_pb2.Status(code=TREATMENTS[reason].code.value[0], message=_within(message, _MAX_MESSAGE_BYTES))
    facts = {name: _within(value, _MAX_VALUE_BYTES) for name, value in metadata.items()}
    _add_detail(status, error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=facts))
    if retry_seconds is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(int(retry_seconds * 1000))
        _add_detail(status, retry)
    bad = error_details_pb2.BadRequest()
    for violation in violations:
        added = bad.field_violations.add(
            field=_within(violation.field, _MAX_VALUE_BYTES),
            description=_within(violation.description, _MAX_VALUE_BYTES),
            reason=reason,
        )
        if status.ByteSize() + bad.ByteSize() > _MAX_STATUS_BYTES:
            bad.field_violations.remove(added)
            break
    if bad.field_violations:
        _add_detail(status, bad)
    return status


def _add_detail(status: status_pb2.Status, detail: ProtoMessage) -> None:
    status.details.add().Pack(detail)


def _within(text: str, max_bytes: int) -> str:
    """The text, cut at a character boundary."""
    data = wire_text(text).encode()
    return text if len(data) <= max_bytes and text.isascii() else data[:max_bytes].decode(errors="ignore")
