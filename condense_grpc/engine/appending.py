"""Appending to a live session: the delta, the spill of large results, and whether the service flushes by itself."""

import logging

from condense_grpc.domain.config import PruneOn
from condense_grpc.domain.messages import ASSISTANT
from condense_grpc.domain.validity import Violation, find_violations, is_valid
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import find_pending, large_calls, places_of, spill, with_texts
from condense_grpc.engine.echo import keep_refs
from condense_grpc.engine.native_delta import format_of, read_delta
from condense_grpc.engine.native_violations import native_violations_since
from condense_grpc.engine.offloading import MANY_MESSAGES, offloaded
from condense_grpc.engine.requests import Delta
from condense_grpc.engine.revision import read_view
from condense_grpc.engine.state import SessionState
from condense_grpc.errors import StoreUnavailable
from condense_grpc.native.formats import NativeFormat

logger = logging.getLogger(__name__)


async def append_delta(state: SessionState, delta: Delta, bodies: BodyCache, now_ms: int) -> list[Violation]:
    """Make the transcript what the delta says, spill what is large in it; the defects of the new messages.

    Decisions that this takes are in the state and not written yet.
    """
    before, known = state.transcript.head_node, state.decisions.index
    position, arrivals = await read_delta(state, delta, bodies)
    if len(arrivals) <= MANY_MESSAGES:
        extension = state.append(position, arrivals, now_ms)
    else:
        extension = await offloaded(len(arrivals), lambda: state.append(position, arrivals, now_ms))
    if delta.prints is not None:
        state.transcript.remember_sent(delta.prints)
    new = arrivals[extension.kept_length - position :] if extension.kept_length > position else arrivals
    await keep_refs(state, known, new, extension.kept_length, now_ms)
    new_messages = len(state.transcript) - extension.kept_length
    await read_view(state)
    has_new_messages = new_messages > 0
    if state.transcript.head_node != before:
        state.boundary_due = has_new_messages and wants_flush(state)
    if state.config.enabled and _has_large(state, extension.kept_length):
        try:
            await _spill_arrivals(state, extension.kept_length, bodies, now_ms)
        except StoreUnavailable:
            # Results of a branch that was taken up again lie in the store; the next flush spills them.
            logger.warning("large results could not be read: they stay as they are until the next flush")
    if not has_new_messages:
        return []
    form = format_of(state.transcript)
    if form is None and new_messages <= MANY_MESSAGES:
        return violations_since(state, extension.kept_length)
    return await _new_violations(state, extension.kept_length, form, bodies)


async def _new_violations(
    state: SessionState, since: int, form: NativeFormat | None, bodies: BodyCache
) -> list[Violation]:
    if form is None:
        return await offloaded(len(state.transcript) - since, lambda: violations_since(state, since))
    try:
        return await native_violations_since(state, since, form, bodies)
    except StoreUnavailable:
        logger.warning("the turn before new messages could not be read: their defects are not reported")
        return []


def violations_since(state: SessionState, position: int) -> list[Violation]:
    """The defects that the messages from a position on brought, to the turn before them too."""
    skeletons = state.transcript.skeletons
    start = max(position - 1, 0)
    while start > 0 and skeletons[start].role is not ASSISTANT:
        start -= 1
    if is_valid(skeletons, start):
        return []
    known = set(find_violations(skeletons, start, position))
    return [violation for violation in find_violations(skeletons, start) if violation not in known]


def _has_large(state: SessionState, since: int) -> bool:
    threshold = state.config.spill_threshold
    return any(skeleton.text_chars >= threshold for skeleton in state.transcript.skeletons[since:])


async def _spill_arrivals(state: SessionState, since: int, bodies: BodyCache, now_ms: int) -> None:
    """Spill large results as they arrive; each decision stands right behind its result."""
    large = large_calls(state, find_pending(state), since)
    messages = await bodies.messages(state, places_of(large))
    arrivals = [
        (place.result_position, batch, call)
        for captured in large
        for batch in [with_texts(state, captured, messages)]
        for place, call in zip(captured.calls, batch.calls, strict=True)
    ]
    for position, batch, call in sorted(arrivals, key=lambda arrival: arrival[0]):
        state.decide(spill(state, batch, [call]), now_ms, applied=True, anchor=position + 1)


def ends_with_answer(state: SessionState) -> bool:
    """Whether the newest message is an answer without tool calls: the natural boundary. One that is paused is none."""
    skeletons = state.transcript.skeletons
    if not skeletons or not skeletons[-1].is_text_only_assistant:
        return False
    span = skeletons[-1].native
    return span is None or not span.awaits


def wants_flush(state: SessionState) -> bool:
    """Whether the service flushes by itself now."""
    config = state.config
    return config.enabled and config.prune_on is PruneOn.AGENT_MESSAGE and ends_with_answer(state)
