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
    ├── Unauthenticated
    ├── PermissionDenied
    ├── NotImplementedYet         part of the contract, not of this release
    ├── StoreUnavailable
    └── ShuttingDown

Each class has a constant `reason` (the contract's ErrorReason without its prefix); an instance has a message that
names the thing, the limit and the next step, and `metadata` for machines. Messages never carry content of a
session, a path or a driver's text. Nothing here knows gRPC: the server's status table maps reasons to codes.
A defect has no class: whatever else is raised becomes the reason INTERNAL at the edge.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple


class CondenseError(Exception):
    """The root. `metadata`: facts for machines, lowerCamelCase names, short values."""

    reason: ClassVar[str] = "UNSPECIFIED"

    def __init__(self, message: str, **metadata: str | int) -> None:
        super().__init__(message)
        self.message = message
        self.metadata = {name: str(value) for name, value in metadata.items()}


class FieldViolation(NamedTuple):
    """One field that breaks a rule, named as the contract does, and the rule."""

    field: str
    description: str


class RequestInvalid(CondenseError):
    """A field of the request is missing, malformed or out of range. `field` names it as the contract does."""

    reason = "REQUEST_INVALID"

    def __init__(self, field: str, message: str, **metadata: str | int) -> None:
        super().__init__(f"{field}: {message}", field=field, **metadata)
        self.field = field
        self.description = message
        self.violations: tuple[FieldViolation, ...] = (FieldViolation(field, message),)


class SessionIdInvalid(RequestInvalid):
    """A session id is empty, too long or has a control character. Metadata `chars`, `maxChars`."""

    reason = "SESSION_ID_INVALID"


class MessageInvalid(RequestInvalid):
    """A message has no role, or something that cannot be stored. Metadata `messageIndex`: its place in the request."""

    reason = "MESSAGE_INVALID"


class ConfigInvalid(RequestInvalid):
    """Settings have values outside of their rules. `field` is the first of them, `violations` are all."""

    reason = "CONFIG_INVALID"

    @classmethod
    def of(cls, violations: Sequence[FieldViolation]) -> "ConfigInvalid":
        """The error for all settings that break their rules; there must be one."""
        error = cls(*violations[0])
        error.violations = tuple(violations)
        return error


class PatternInvalid(RequestInvalid):
    """A pattern is not one of the expression language. Metadata `position`: the character where reading stopped."""

    reason = "PATTERN_INVALID"


class PageTokenInvalid(RequestInvalid):
    """A page token was not made by this service, or for another request."""

    reason = "PAGE_TOKEN_INVALID"

    def __init__(self, field: str = "page_token") -> None:
        super().__init__(field, "was not given out for this request: begin again with an empty one")


class NativeJsonInvalid(RequestInvalid):
    """A native history is not a JSON array of that format's messages.

    Metadata `format`, and `offset` (bytes) or `elementIndex`.
    """

    reason = "NATIVE_JSON_INVALID"


class SummarizerUnknown(RequestInvalid):
    """A summarizer of that name is not available. The message lists those that are."""

    reason = "SUMMARIZER_UNKNOWN"

    def __init__(self, field: str, name: str, available: Sequence[str]) -> None:
        listed = ", ".join(short(other) for other in available)
        super().__init__(
            field,
            f"there is no summarizer {short(name)!r}: choose one of {listed}",
            summarizerModel=short(name),
            available=short(",".join(available), 512),
        )


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
    """The base of a delta does not match the stored transcript. `common_length`: the longest base known to both."""

    reason = "TRANSCRIPT_MISMATCH"

    def __init__(
        self, base_length: int, server_length: int, server_etag: str, common_length: int | None = None
    ) -> None:
        super().__init__(
            f"the delta starts at message {base_length} of a history that is not the stored one "
            f"({server_length} messages): resend from an earlier base whose etag you know, or everything from base 0",
            baseLength=base_length,
            serverLength=server_length,
            serverEtag=server_etag,
            **({} if common_length is None else {"commonLength": common_length}),
        )


class FlushInProgress(CondenseError):
    """A flush or compaction of this session is running."""

    reason = "FLUSH_IN_PROGRESS"

    def __init__(self, session_id: str, flush_id: str = "") -> None:
        super().__init__(
            f"a flush of session {short(session_id)!r} is running: wait for it, or attach to it with attach = true",
            sessionId=short(session_id),
            **({"flushId": flush_id} if flush_id else {}),
        )


class RevisionConflict(CondenseError):
    """The session was changed by someone else between reading and writing, `attempts` times in a row."""

    reason = "REVISION_CONFLICT"

    def __init__(self, session_id: str, attempts: int = 1) -> None:
        super().__init__(
            f"session {short(session_id)!r} was changed meanwhile: repeat the call",
            sessionId=short(session_id),
            attempts=attempts,
        )


class LimitExceeded(CondenseError):
    """A size is beyond its limit."""

    reason = "QUOTA_EXCEEDED"


class MessageTooLarge(LimitExceeded):
    """One message is larger than the service stores. `message_index`: its place in the request."""

    reason = "MESSAGE_TOO_LARGE"

    def __init__(self, message_index: int, size_bytes: int, max_bytes: int) -> None:
        super().__init__(
            f"message {message_index} of the request has {size_bytes} bytes, at most {max_bytes} are allowed: make it "
            "smaller (an image by its uri), or raise the limit of the server",
            messageIndex=message_index,
            bytes=size_bytes,
            maxBytes=max_bytes,
        )


class DeltaTooLarge(LimitExceeded):
    """A delta has more `bytes` or `messages` (the unit) than one request, or one stream of chunks, may carry."""

    reason = "DELTA_TOO_LARGE"

    def __init__(self, size: int, limit: int, *, unit: str = "bytes", is_stream: bool = False) -> None:
        what, advice = ("stream", "raise the limit of the server") if is_stream else ("delta", "use AppendMessages")
        if unit == "messages":
            advice = "send it as several deltas"
        super().__init__(
            f"the {what} has {size} {unit}, at most {limit} are allowed: {advice}",
            **{unit: size, f"max{unit.capitalize()}": limit},
        )


class QuotaExceeded(LimitExceeded):
    """The service holds, or an answer would have, as much of `resource` as it may; `way_out` says what helps."""

    reason = "QUOTA_EXCEEDED"

    def __init__(self, resource: str, used: int, limit: int, way_out: str, *, waiting_helps: bool = False) -> None:
        self.waiting_helps = waiting_helps
        super().__init__(
            f"{resource}: {used} of at most {limit}: {way_out}",
            resource=resource,
            used=used,
            limit=limit,
        )


class Unauthenticated(CondenseError):
    """The call has no credentials, or they are not valid."""

    reason = "UNAUTHENTICATED"

    def __init__(self, scheme: str = "Bearer") -> None:
        super().__init__(f"no valid credentials: send them as the metadata authorization ({scheme})", scheme=scheme)


class PermissionDenied(CondenseError):
    """The caller may not call this method."""

    reason = "PERMISSION_DENIED"

    def __init__(self, method: str) -> None:
        super().__init__(f"{short(method, 128)} is not allowed: use credentials that may", method=short(method, 128))


class NotImplementedYet(CondenseError):
    """The contract has it, this release does not."""

    reason = "NOT_IMPLEMENTED"

    def __init__(self, feature: str) -> None:
        super().__init__(
            f"{short(feature, 128)} is not available in this release: use a newer server, or do without",
            feature=short(feature, 128),
        )


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
