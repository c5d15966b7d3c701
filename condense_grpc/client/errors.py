"""Errors of the client, one class per reason of the contract.

    CondenseError
    ├── RequestInvalid             correct what `violations` and the message name
    │   ├── SessionIdInvalid
    │   ├── MessageInvalid         also raised before anything is sent: text that UTF-8 cannot hold
    │   ├── MessageTooLarge
    │   ├── DeltaTooLarge
    │   ├── NativeJsonInvalid
    │   ├── ConfigInvalid
    │   ├── PageTokenInvalid
    │   ├── PatternInvalid
    │   └── SummarizerUnknown
    ├── SessionNotFound
    ├── SessionAlreadyExists
    ├── TranscriptMismatch         sessions of this client heal it by themselves
    ├── FlushInProgress
    ├── RevisionConflict
    ├── QuotaExceeded
    ├── Unauthenticated
    ├── PermissionDenied
    ├── NotImplementedByServer
    ├── ServerInternal
    ├── ResultNotFound             a ref that names no single result
    ├── Unavailable                no answer from the server, or from what stands before it
    │   ├── StoreUnavailable
    │   └── ShuttingDown
    ├── DeadlineExceeded
    └── Cancelled

A class is chosen by the reason of the error's details; without details (a proxy, the transport itself) by the status
code, never by the text. A reason that this client does not know is a plain `CondenseError` with that reason.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import grpc

from condense_grpc.client.status_details import METADATA_KEY, FieldViolation, StatusDetails, read_details

DOMAIN = "condense.v1"


class CondenseError(Exception):
    """The root: a call that failed.

    `reason` is the contract's, empty for errors without details; `code` is None if nothing was sent. `metadata` are
    facts for programs, `retry_after_seconds` is how long the server wants a caller to wait (None: it does not say).
    """

    default_reason: ClassVar[str] = ""

    def __init__(
        self,
        message: str,
        *,
        code: grpc.StatusCode | None = None,
        details: StatusDetails | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        details = details or StatusDetails()
        self.message = message
        self.code = code
        self.reason = details.reason or self.default_reason
        self.metadata: dict[str, str] = dict(metadata or details.metadata)
        self.retry_after_seconds: float | None = details.retry_after_seconds
        self.violations: tuple[FieldViolation, ...] = details.violations


class RequestInvalid(CondenseError):
    """Something of the request cannot be used; nothing of it was applied."""

    default_reason = "REQUEST_INVALID"


class SessionIdInvalid(RequestInvalid):
    """A session cannot have this id."""

    default_reason = "SESSION_ID_INVALID"


class MessageInvalid(RequestInvalid):
    """A message cannot be stored. Metadata `messageIndex`: where it is."""

    default_reason = "MESSAGE_INVALID"


class MessageTooLarge(RequestInvalid):
    """One message is larger than the server takes."""

    default_reason = "MESSAGE_TOO_LARGE"


class DeltaTooLarge(RequestInvalid):
    """The new messages together are more than the server takes."""

    default_reason = "DELTA_TOO_LARGE"


class NativeJsonInvalid(RequestInvalid):
    """Native text cannot be read."""

    default_reason = "NATIVE_JSON_INVALID"


class ConfigInvalid(RequestInvalid):
    """A knob has a value that it cannot have."""

    default_reason = "CONFIG_INVALID"


class PageTokenInvalid(RequestInvalid):
    """A page token or a cursor is not one of this request."""

    default_reason = "PAGE_TOKEN_INVALID"


class PatternInvalid(RequestInvalid):
    """A regular expression cannot be used."""

    default_reason = "PATTERN_INVALID"


class SummarizerUnknown(RequestInvalid):
    """The server has no summarizer of that name."""

    default_reason = "SUMMARIZER_UNKNOWN"


class SessionNotFound(CondenseError):
    """There is no session with this id."""

    default_reason = "SESSION_NOT_FOUND"


class SessionAlreadyExists(CondenseError):
    """There is a session with this id."""

    default_reason = "SESSION_ALREADY_EXISTS"


class TranscriptMismatch(CondenseError):
    """The base of a delta is not what the server has, and resending from earlier bases has not helped."""

    default_reason = "TRANSCRIPT_MISMATCH"


class FlushInProgress(CondenseError):
    """A flush or a compaction is running: follow it with `attach`, or wait for its end."""

    default_reason = "FLUSH_IN_PROGRESS"


class RevisionConflict(CondenseError):
    """Other servers kept writing to the session at the same moment."""

    default_reason = "REVISION_CONFLICT"


class QuotaExceeded(CondenseError):
    """A limit of the server is reached."""

    default_reason = "QUOTA_EXCEEDED"


class Unauthenticated(CondenseError):
    """The call has no valid credentials."""

    default_reason = "UNAUTHENTICATED"


class PermissionDenied(CondenseError):
    """The caller may not do this."""

    default_reason = "PERMISSION_DENIED"


class NotImplementedByServer(CondenseError):
    """This server does not have what was asked for."""

    default_reason = "NOT_IMPLEMENTED"


class ServerInternal(CondenseError):
    """A defect of the server. Metadata `incidentId` names it in the server's log."""

    default_reason = "INTERNAL"


class ResultNotFound(CondenseError):
    """A ref names no result of the session, or several."""


class Unavailable(CondenseError):
    """No answer came. Whether the call took effect is not known; repeating it is safe."""


class StoreUnavailable(Unavailable):
    """The server's store does not answer."""

    default_reason = "STORE_UNAVAILABLE"


class ShuttingDown(Unavailable):
    """The server takes no more work."""

    default_reason = "SHUTTING_DOWN"


class DeadlineExceeded(CondenseError):
    """The call took longer than its timeout. Whether it took effect is not known; repeating it is safe."""


class Cancelled(CondenseError):
    """The call was cancelled."""


def _classes(root: type[CondenseError]) -> list[type[CondenseError]]:
    return [root, *(found for child in root.__subclasses__() for found in _classes(child))]


BY_REASON = {found.default_reason: found for found in _classes(CondenseError) if found.default_reason}
_BY_CODE: dict[grpc.StatusCode, type[CondenseError]] = {
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.CANCELLED: Cancelled,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.UNIMPLEMENTED: NotImplementedByServer,
}


def error_of(failure: grpc.RpcError) -> CondenseError:
    """The error of a failed call, sync or async, with the transport's own as its cause."""
    code: grpc.StatusCode = failure.code()
    trailing: Iterable[Any] = failure.trailing_metadata() or ()
    raw = next((value for key, value in trailing if key == METADATA_KEY), b"")
    details = read_details(raw if isinstance(raw, bytes) else b"")
    if details.domain != DOMAIN:
        details = StatusDetails(retry_after_seconds=details.retry_after_seconds)
    kind = BY_REASON.get(details.reason) if details.reason else _BY_CODE.get(code)
    error = (kind or CondenseError)(failure.details() or code.name, code=code, details=details)
    error.__cause__ = failure
    return error
