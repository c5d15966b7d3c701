"""Errors that a caller can act on, one class per reason.

    CondenseError
    ├── RequestInvalid            a field is missing, malformed or out of range
    │   ├── SessionIdInvalid
    │   ├── MessageInvalid
    │   ├── ConfigInvalid
    │   ├── PatternInvalid
    │   ├── PageTokenInvalid
    │   ├── NativeJsonInvalid
    │   └── SummarizerUnknown
    ├── SessionNotFound
    ├── SessionAlreadyExists
    ├── TranscriptMismatch        the client's idea of the history is not ours
    ├── FlushInProgress
    ├── RevisionConflict          someone else changed the session meanwhile
    ├── LimitExceeded
    │   ├── MessageTooLarge
    │   ├── DeltaTooLarge
    │   └── QuotaExceeded
    ├── NotImplementedYet         part of the contract, not of this release
    ├── StoreUnavailable
    └── ShuttingDown

Each class has a constant `reason` (the contract's ErrorReason without its prefix); an instance has a message that
names the thing, the limit and the next step, and `metadata` for machines. Messages never carry content of a
session, a path or a driver's text. Nothing here knows gRPC: the server's status table maps reasons to codes.
"""

from typing import ClassVar


class CondenseError(Exception):
    """The root. `metadata`: facts for machines, lowerCamelCase names, short values."""

    reason: ClassVar[str] = "UNSPECIFIED"

    def __init__(self, message: str, **metadata: str | int) -> None:
        super().__init__(message)
        self.message = message
        self.metadata = {name: str(value) for name, value in metadata.items()}


class RequestInvalid(CondenseError):
    """A field of the request is missing, malformed or out of range. `field` names it as the contract does."""

    reason = "REQUEST_INVALID"

    def __init__(self, field: str, message: str, **metadata: str | int) -> None:
        super().__init__(f"{field}: {message}", **metadata)
        self.field = field
        self.description = message


class SessionIdInvalid(RequestInvalid):
    """A session id is empty, too long or has a control character."""

    reason = "SESSION_ID_INVALID"


class MessageInvalid(RequestInvalid):
    """A message has no role, or something that cannot be stored. Metadata `messageIndex`: its place in the request."""

    reason = "MESSAGE_INVALID"


class ConfigInvalid(RequestInvalid):
    """A setting has a value outside of its rule."""

    reason = "CONFIG_INVALID"


class PatternInvalid(RequestInvalid):
    """A pattern is not one of the expression language."""

    reason = "PATTERN_INVALID"


class PageTokenInvalid(RequestInvalid):
    """A page token was not made by this service, or for another request."""

    reason = "PAGE_TOKEN_INVALID"


class NativeJsonInvalid(RequestInvalid):
    """A native history is not a JSON array of that format's messages."""

    reason = "NATIVE_JSON_INVALID"


class SummarizerUnknown(RequestInvalid):
    """A summarizer of that name is not available. The message lists those that are."""

    reason = "SUMMARIZER_UNKNOWN"


class SessionNotFound(CondenseError):
    """There is no such session."""

    reason = "SESSION_NOT_FOUND"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"session {short(session_id)!r} does not exist: create it, or set create_if_missing in the delta",
            sessionId=short(session_id),
        )


class SessionAlreadyExists(CondenseError):
    """A session of that id exists."""

    reason = "SESSION_ALREADY_EXISTS"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"session {short(session_id)!r} exists already: use it, choose another id, or delete it first",
            sessionId=short(session_id),
        )


class TranscriptMismatch(CondenseError):
    """The base of a delta does not match the stored transcript."""

    reason = "TRANSCRIPT_MISMATCH"

    def __init__(self, base_length: int, server_length: int, server_etag: str) -> None:
        super().__init__(
            f"the delta starts at message {base_length} of a history that is not the stored one "
            f"({server_length} messages): resend from an earlier base whose etag you know, or everything from base 0",
            baseLength=base_length,
            serverLength=server_length,
            serverEtag=server_etag,
        )


class FlushInProgress(CondenseError):
    """A flush or compaction of this session is running."""

    reason = "FLUSH_IN_PROGRESS"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"a flush of session {short(session_id)!r} is running: wait for it, or attach to it with attach = true",
            sessionId=short(session_id),
        )


class RevisionConflict(CondenseError):
    """The session was changed by someone else between reading and writing."""

    reason = "REVISION_CONFLICT"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"session {short(session_id)!r} was changed meanwhile: repeat the call",
            sessionId=short(session_id),
        )


class LimitExceeded(CondenseError):
    """A size is beyond its limit."""

    reason = "QUOTA_EXCEEDED"


class MessageTooLarge(LimitExceeded):
    """One message is larger than the service stores."""

    reason = "MESSAGE_TOO_LARGE"


class DeltaTooLarge(LimitExceeded):
    """A delta has more messages or bytes than one request may carry."""

    reason = "DELTA_TOO_LARGE"


class QuotaExceeded(LimitExceeded):
    """A session or the service holds as much as it may."""

    reason = "QUOTA_EXCEEDED"


class NotImplementedYet(CondenseError):
    """The contract has it, this release does not."""

    reason = "NOT_IMPLEMENTED"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not available in this release: GetCapabilities lists what is")


class StoreUnavailable(CondenseError):
    """The store did not answer; nothing was changed by the call, or it can be repeated safely."""

    reason = "STORE_UNAVAILABLE"

    def __init__(self) -> None:
        super().__init__("the store does not answer: nothing is lost, repeat the call in a moment")


class ShuttingDown(CondenseError):
    """The server is stopping and takes no new work."""

    reason = "SHUTTING_DOWN"

    def __init__(self) -> None:
        super().__init__("the server is shutting down: repeat the call against another one or in a moment")


def short(text: str, limit: int = 64) -> str:
    """A text for an error message: at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
