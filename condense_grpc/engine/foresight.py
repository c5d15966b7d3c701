"""What the next flush will ask a summarizer for, as far as that can be told now. Reads; decides nothing.

A batch is left out as long as it may still change: an unanswered call, a group of turns that goes on, a result that
a flush would spill or find to be a repetition.
"""

from collections.abc import Sequence

from condense_grpc.domain.batches import Batch, RecordContext, record_of
from condense_grpc.domain.capture import CapturedBatch, group_batches
from condense_grpc.domain.config import BatchingMode
from condense_grpc.domain.messages import Role
from condense_grpc.domain.spill import original_of
from condense_grpc.engine.capture_step import find_pending, large_calls, places_of, with_texts
from condense_grpc.engine.ports import SummaryRequest
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.tools import Tools


async def foreseen_requests(tools: Tools, session_id: str, state: SessionState) -> list[SummaryRequest]:
    """The requests for all batches that are complete. The lock must be held."""
    pending = find_pending(state)
    if large_calls(state, pending):
        return []
    captured = _complete(state, pending)
    messages = await tools.bodies.messages(state, places_of(captured))
    batches = group_batches([with_texts(state, one, messages) for one in captured], state.config.batching_mode)
    config = state.config
    return [
        SummaryRequest(session_id, batch, config.result_budget_chars, config=config)
        for batch in _without_repetitions(state, batches)
        if sum(len(call.result_text) for call in batch.calls) >= config.min_batch_chars
    ]


def _complete(state: SessionState, captured: Sequence[CapturedBatch]) -> list[CapturedBatch]:
    """The batches to which nothing can be added any more, as long as the history only grows."""
    skeletons = state.transcript.skeletons
    if state.config.batching_mode is BatchingMode.AGENT_MESSAGE:
        last_user = max((at for at, one in enumerate(skeletons) if one.role is Role.USER), default=-1)
        return [batch for batch in captured if batch.position < last_user]
    complete = []
    for batch in captured:
        behind = skeletons[batch.position + 1 :]
        answered = sum(one.role is Role.TOOL_RESULT for one in behind)
        is_over = any(one.role is Role.ASSISTANT for one in behind)
        if is_over or answered >= len(skeletons[batch.position].calls):
            complete.append(batch)
    return complete


def _without_repetitions(state: SessionState, batches: Sequence[Batch]) -> list[Batch]:
    """The batches out of which a flush will take no call."""
    if not state.config.dedup_by_content_hash:
        return list(batches)
    kept = []
    met: set[tuple[str, bool]] = set()
    for batch in batches:
        context = RecordContext(batch.turn_index, batch.timestamp_ms, state.config.path_arguments)
        records = [record_of(call, context, is_filed=True) for call in batch.calls]
        contents = [record.content_key for record in records if record.content_key is not None]
        is_new = len(set(contents)) == len(contents) and not met & set(contents)
        if is_new and all(original_of(state.decisions.index, record) is None for record in records):
            kept.append(batch)
        met |= set(contents)
    return kept
