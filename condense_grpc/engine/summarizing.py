"""Asking a summarizer: whatever it does, the answer is a usable text or a failure, and only cancellation passes."""

import logging
from collections.abc import AsyncIterator, Callable

from condense_grpc.domain.text import is_blank
from condense_grpc.engine.ports import SummaryEvent, SummaryFailure, SummaryProgress, SummaryReply

logger = logging.getLogger(__name__)

Stream = AsyncIterator[SummaryEvent] | SummaryFailure


def ask(request: Callable[[], AsyncIterator[SummaryEvent]]) -> Stream:
    """Make a request. A summarizer may choose right here where to send it, so requests are made in their order."""
    try:
        return request()
    except Exception as error:
        return _raised(error)


async def answer_of(stream: Stream, on_progress: Callable[[int], None]) -> SummaryReply | SummaryFailure:
    """The end of a request; `on_progress` is told the characters received so far."""
    if isinstance(stream, SummaryFailure):
        return stream
    try:
        async for event in stream:
            if isinstance(event, SummaryProgress):
                on_progress(event.received_chars)
            elif isinstance(event, SummaryReply) and is_blank(event.text):
                return SummaryFailure("empty-reply")
            else:
                return event
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
    # The message of the error may hold content.
    unnamed = RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
    logger.error("a summarizer raised", exc_info=unnamed)
    return SummaryFailure("summarizer-error")
