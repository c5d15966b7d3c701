"""One request to a model: the port of the clients that send it, and how its end is judged.

An attempt ends in a usable text or in a failure with a short reason; nothing a client does makes it raise. Only the
caller's own cancellation goes through it, and is never taken for a failure, even when a client swallows it or wraps
it in an error of its own.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from enum import StrEnum
from typing import Protocol, TypeAlias

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Part, TextPart
from condense_grpc.domain.usability import is_usable_summary
from condense_grpc.engine.ports import SummaryProgress, SummaryReply, Usage
from condense_grpc.summarize.fallback import Ending
from condense_grpc.summarize.model_choice import Model, ReasoningEffort

_CLOSE_TIMEOUT_S = 5.0


@frozen
class ModelRequest:
    """One user message for one model. `effort` None: the option is not sent.

    `idle_timeout_ms` (0: none) is also the read timeout that a client should give its connection. An answer of more
    than `max_reply_chars` (0: no limit) is abandoned.
    """

    model: Model
    prompt: str
    effort: ReasoningEffort | None = None
    idle_timeout_ms: int = 0
    max_reply_chars: int = 0


@frozen
class ModelProgress:
    """A sign of life: `received_chars` of text have come so far. Thinking and keep-alives repeat the number."""

    received_chars: int


@frozen
class ModelReply:
    """The end of a stream: everything the model wrote.

    `stop_reason`: `stop`, `length`, `refusal`, `tool-call`, `error`, `aborted` (by the provider), or another word for
    a regular end. `error_code` is the provider's short word for an error, never its text.
    """

    parts: tuple[Part, ...]
    stop_reason: str = "stop"
    usage: Usage | None = None
    error_code: str = ""


ModelEvent: TypeAlias = ModelProgress | ModelReply


class CredentialsRejected(Exception):
    """The client has no usable credentials for the model, and has sent nothing."""


class StreamCut(Exception):
    """A stream ended as if it were complete, but its end is missing."""


class ProviderFailed(Exception):
    """The provider answered with an error. `status` 0: in a stream, or without one; `code` is its short word.

    `retry_after_s`: how long it asked to be left alone, if it said.
    """

    def __init__(self, status: int, code: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(f"{status} {code}".strip())
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


class ModelClient(Protocol):
    """Sends requests to models of any provider. Safe to use from many tasks of one event loop.

    It never retries: whether and where to try again is decided by its caller.
    """

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Send one request; every event of the provider is passed on at once, a reply is the last one.

        Raises CredentialsRejected before anything is sent, TimeoutError when the connection was silent for too
        long, ProviderFailed for an error that the provider tells, StreamCut for a stream that lacks its end, and any
        other exception when the connection broke. Closing the generator or cancelling the task abandons the request.
        """
        ...


class FailureReason(StrEnum):
    """Why an attempt gave no text."""

    CREDENTIALS = "credentials"
    UNAUTHORIZED = "unauthorized"
    REJECTED = "request-rejected"
    RATE_LIMITED = "rate-limited"
    SERVER_ERROR = "server-error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    CUT = "cut-off"
    NO_REPLY = "no-reply"
    PROVIDER_ERROR = "provider-error"
    ABORTED = "aborted"
    EMPTY = "empty"
    LENGTH = "length"
    REFUSAL = "refusal"
    TOOL_SYNTAX = "tool-syntax"
    RUNAWAY = "runaway"
    TOO_LONG = "longer-than-source"


_MAY_PASS_SOON = frozenset(
    {
        FailureReason.RATE_LIMITED,
        FailureReason.SERVER_ERROR,
        FailureReason.CONNECTION,
        FailureReason.CUT,
        FailureReason.NO_REPLY,
    }
)


@frozen
class AttemptFailure:
    """An attempt without a usable text. `detail`: an error code or the class of an exception, never content.

    `retry_after_s`: how long the provider asked to be left alone. `usage`: what an unusable reply took all the same.
    """

    reason: FailureReason
    detail: str = ""
    retry_after_s: float | None = None
    usage: Usage | None = None

    @property
    def timed_out(self) -> bool:
        """Whether a timer ended it: people are warned of that only."""
        return self.reason is FailureReason.TIMEOUT

    @property
    def may_pass_soon(self) -> bool:
        """Whether the same request may succeed in a moment. What waited out a timer has waited long enough."""
        return self.reason in _MAY_PASS_SOON


AttemptResult: TypeAlias = SummaryReply | AttemptFailure


def ending_of(result: AttemptResult) -> Ending:
    """How the result counts for an outage: everything except credentials may pass by itself."""
    if isinstance(result, SummaryReply):
        return Ending.OK
    return Ending.AUTH if result.reason is FailureReason.CREDENTIALS else Ending.TRANSIENT


async def attempt(
    client: ModelClient, request: ModelRequest, max_timeout_ms: int
) -> AsyncGenerator[SummaryProgress | AttemptResult, None]:
    """Send a request; the last item is the result, everything before is progress.

    The idle timer starts with the request and again with every event, the total timer (`max_timeout_ms`) with the
    request; 0 turns either off. Time that the consumer takes between two items is not idle time.
    """
    timers = _Timers(request.idle_timeout_ms, max_timeout_ms)
    try:
        stream = client.stream(request)
    except Exception as error:
        yield _failure_of(error)
        return
    received_chars = 0
    try:
        while isinstance(event := await _next_event(stream, timers), ModelProgress):
            if event.received_chars > received_chars:
                received_chars = event.received_chars
                yield SummaryProgress(received_chars)
                if received_chars > request.max_reply_chars > 0:
                    event = AttemptFailure(FailureReason.RUNAWAY)
                    break
    finally:
        await _close(stream)
    yield judge(event) if isinstance(event, ModelReply) else event


def judge(reply: ModelReply) -> AttemptResult:
    """What a complete reply is worth. Thinking and other parts are no text."""
    if reply.stop_reason == "error":
        return AttemptFailure(FailureReason.PROVIDER_ERROR, reply.error_code, usage=reply.usage)
    if reply.stop_reason == "aborted":
        return AttemptFailure(FailureReason.ABORTED, reply.error_code, usage=reply.usage)
    if reply.stop_reason == "tool-call":
        return AttemptFailure(FailureReason.TOOL_SYNTAX, usage=reply.usage)
    text = "\n".join(part.text for part in reply.parts if isinstance(part, TextPart))
    if is_usable_summary(text, reply.stop_reason):
        return SummaryReply(text, reply.usage)
    named = {"length": FailureReason.LENGTH, "refusal": FailureReason.REFUSAL}
    return AttemptFailure(named.get(reply.stop_reason, FailureReason.EMPTY), usage=reply.usage)


class _Timers:
    """The two timers of one attempt, in the time of the running event loop."""

    def __init__(self, idle_timeout_ms: int, max_timeout_ms: int) -> None:
        self._idle_s = idle_timeout_ms / 1000
        self._ends_at = self._now() + max_timeout_ms / 1000 if max_timeout_ms else None

    def deadline(self) -> float | None:
        """When the next event is due; arms the idle timer."""
        idle_at = self._now() + self._idle_s if self._idle_s else None
        return min((at for at in (idle_at, self._ends_at) if at is not None), default=None)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


async def _next_event(stream: AsyncGenerator[ModelEvent, None], timers: _Timers) -> ModelEvent | AttemptFailure:
    """The next event, or why there is none."""
    task = asyncio.current_task()
    cancels_before = task.cancelling() if task else 0
    event: ModelEvent | AttemptFailure | None
    timer = asyncio.timeout_at(timers.deadline())
    try:
        async with timer:
            event = await anext(stream, None)
    except Exception as error:
        event = _failure_of(error)
    if task and task.cancelling() > cancels_before:
        raise asyncio.CancelledError
    if timer.expired():
        return AttemptFailure(FailureReason.TIMEOUT)
    return AttemptFailure(FailureReason.NO_REPLY) if event is None else event


def _failure_of(error: Exception) -> AttemptFailure:
    match error:
        case CredentialsRejected():
            return AttemptFailure(FailureReason.CREDENTIALS)
        case TimeoutError():
            return AttemptFailure(FailureReason.TIMEOUT)
        case StreamCut():
            return AttemptFailure(FailureReason.CUT)
        case ProviderFailed():
            return AttemptFailure(_reason_of(error), error.code or str(error.status or ""), error.retry_after_s)
    return AttemptFailure(FailureReason.CONNECTION, type(error).__name__)


def _reason_of(error: ProviderFailed) -> FailureReason:
    if error.status in (401, 403):
        return FailureReason.UNAUTHORIZED
    if error.status == 429:
        return FailureReason.RATE_LIMITED
    if error.status >= 500 or error.status in (408, 409, 425):
        return FailureReason.SERVER_ERROR
    return FailureReason.REJECTED if error.status >= 400 else FailureReason.PROVIDER_ERROR


async def _close(stream: AsyncGenerator[ModelEvent, None]) -> None:
    """Let go of the connection. What goes wrong here does not change a result that has been paid for."""
    with suppress(Exception):
        async with asyncio.timeout(_CLOSE_TIMEOUT_S):
            await stream.aclose()
