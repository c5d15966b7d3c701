"""Appending to a live session: the delta, the spill of large results, and whether the service flushes by itself."""

from condense_grpc.domain.config import PruneOn
from condense_grpc.domain.messages import Role
from condense_grpc.domain.validity import Violation, find_violations
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import find_pending, large_calls, places_of, spill, with_texts
from condense_grpc.engine.ports import Clock
from condense_grpc.engine.requests import Delta
from condense_grpc.engine.state import SessionState


async def append_delta(state: SessionState, delta: Delta, bodies: BodyCache, clock: Clock) -> list[Violation]:
    """Make the transcript what the delta says, spill what is large in it; the defects of the new messages.

    Decisions that this takes are in the state and not written yet.
    """
    now_ms = clock.now_ms()
    extension = state.append(delta.base_length, delta.base_etag, delta.messages, now_ms)
    if state.config.enabled and extension.kept_length < len(state.transcript):
        await _spill_arrivals(state, extension.kept_length, bodies, now_ms)
    return violations_since(state, extension.kept_length)


def violations_since(state: SessionState, position: int) -> list[Violation]:
    """The defects that the messages from a position on brought. A turn is looked at from its assistant message on."""
    skeletons = state.transcript.skeletons
    start = position
    while start > 0 and (start >= len(skeletons) or skeletons[start].role is not Role.ASSISTANT):
        start -= 1
    known = set(find_violations(skeletons, start, position))
    return [violation for violation in find_violations(skeletons, start) if violation not in known]


async def _spill_arrivals(state: SessionState, since: int, bodies: BodyCache, now_ms: int) -> None:
    """Spill large results as they arrive; each decision stands right behind its result."""
    threshold = state.config.spill_threshold
    if not any(skeleton.text_chars >= threshold for skeleton in state.transcript.skeletons[since:]):
        return
    large = large_calls(state, find_pending(state), since)
    messages = await bodies.messages(state, places_of(large))
    arrivals = sorted(
        ((call, captured) for captured in large for call in captured.calls),
        key=lambda arrival: arrival[0].result_position,
    )
    for place, captured in arrivals:
        batch = with_texts(state, captured, messages)
        calls = [call for call in batch.calls if call.key == place.key]
        state.decide(spill(state, batch, calls), now_ms, applied=True, anchor=place.result_position + 1)


def ends_with_answer(state: SessionState) -> bool:
    """Whether the newest message is an answer without tool calls: the natural boundary."""
    skeletons = state.transcript.skeletons
    return bool(skeletons) and skeletons[-1].is_text_only_assistant


def wants_flush(state: SessionState) -> bool:
    """Whether the service flushes by itself now."""
    config = state.config
    return config.enabled and config.prune_on is PruneOn.AGENT_MESSAGE and ends_with_answer(state)
