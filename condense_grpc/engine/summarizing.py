"""Asking a summarizer: whatever it does, the answer is a usable text or a failure, and only cancellation passes."""

import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import fields
from functools import lru_cache
from typing import cast

from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.stats import SummaryUsage
from condense_grpc.domain.text import is_blank
from condense_grpc.engine.faults import log_fault
from condense_grpc.engine.ports import (
    KeepsOutages,
    Summarizer,
    SummarizerHealth,
    SummaryAttempt,
    SummaryCheck,
    SummaryEvent,
    SummaryFailure,
    SummaryNotice,
    SummaryProgress,
    SummaryReply,
    Usage,
)

logger = logging.getLogger(__name__)

Stream = AsyncIterator[SummaryEvent] | SummaryFailure
OnTheWay = SummaryAttempt | SummaryProgress | SummaryNotice


def ask(request: Callable[[], AsyncIterator[SummaryEvent]]) -> Stream:
    """Make a request. A summarizer may choose right here where to send it, so requests are made in their order."""
    try:
        return request()
    except Exception as error:
        return _raised(error)


async def answer_of(stream: Stream, on_event: Callable[[OnTheWay], None]) -> SummaryReply | SummaryFailure:
    """The end of a request; `on_event` is told what happens on the way."""
    if isinstance(stream, SummaryFailure):
        return stream
    try:
        async for event in stream:
            if isinstance(event, SummaryReply):
                return SummaryFailure("empty-reply", event.usage) if is_blank(event.text) else event
            if isinstance(event, SummaryFailure):
                return event
            on_event(event)
    except Exception as error:
        return _raised(error)
    finally:
        await _close(stream)
    return SummaryFailure("no-reply")


async def _close(stream: AsyncIterator[SummaryEvent]) -> None:
    aclose = getattr(stream, "aclose", None)
    if aclose is None:
        return
    try:
        await aclose()
    except Exception as error:
        _raised(error)


def _raised(error: Exception) -> SummaryFailure:
    """A summarizer answers by values; whatever it raises all the same costs this request only."""
    log_fault(logger, "a summarizer raised", error)
    return SummaryFailure("summarizer-error")


def health_of(summarizer: Summarizer, session_id: str, config: SessionConfig) -> SummarizerHealth:
    """Who writes the summaries of a session now; one that cannot fail over is always itself."""
    if _keeps_outages(type(summarizer)):
        return cast(KeepsOutages, summarizer).health(session_id, config)
    return SummarizerHealth(summarizer.name)


@lru_cache(maxsize=8)
def _keeps_outages(kind: type[Summarizer]) -> bool:
    """Whether summarizers of a class can fail over. To look at its members for every batch would cost a flush much."""
    return issubclass(kind, KeepsOutages)


def writer_of(summarizer: Summarizer, session_id: str, config: SessionConfig) -> str:
    """The name of who would write for a session now."""
    health = health_of(summarizer, session_id, config)
    return health.fallback if health.in_fallback and health.fallback else health.name


def sum_of_checks(first: SummaryCheck | None, second: SummaryCheck) -> SummaryCheck:
    """What was found in two summaries, or in some and one more."""
    if first is None:
        return second
    return SummaryCheck(*(getattr(first, one.name) + getattr(second, one.name) for one in fields(SummaryCheck)))


def summary_usage(usage: Usage | None) -> SummaryUsage:
    """A reply's usage as the statistics count it; without a model there is none, and nothing to pay."""
    if usage is None:
        return SummaryUsage()
    return SummaryUsage(usage.input_tokens, usage.output_tokens, usage.cost or 0, usage.cost is not None)
