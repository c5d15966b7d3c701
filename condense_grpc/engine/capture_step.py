"""Capture on a live session: what waits to be summarized, with its texts, and the spill of large results."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from condense_grpc.domain.arguments import captured_arguments
from condense_grpc.domain.batches import Batch, Call, Record, RecordContext, Source
from condense_grpc.domain.capture import BranchView, CapturedBatch, find_batches, group_runs, hydrate
from condense_grpc.domain.entries import Entry
from condense_grpc.domain.messages import Message, calls_of
from condense_grpc.domain.pairing import Pairs
from condense_grpc.domain.spill import spill_calls
from condense_grpc.engine.state import SessionState

Messages = Mapping[int, Message]


def find_pending(state: SessionState) -> list[CapturedBatch]:
    """The batches that capture takes now, one for each assistant message, without texts. Never what is pinned."""
    live = state.view.read(state)
    return pending_of_whole(state) if live is None else live.waiting.batches()


def pending_of_whole(state: SessionState) -> list[CapturedBatch]:
    """The same, found by a walk through the whole transcript."""
    transcript = state.transcript
    branch = BranchView(transcript.skeletons, transcript.keys, transcript.numbers, Pairs(transcript.skeletons))
    return find_batches(branch, stays_as_it_is(state), state.protection)


def stays_as_it_is(state: SessionState) -> Callable[[str], bool]:
    """Whether a flush leaves the result of a key alone: it is settled or pinned."""
    index = state.decisions.index
    return (lambda key: key in index.pins or index.is_settled(key)) if index.pins else index.is_settled


def count_pending(state: SessionState) -> tuple[int, int]:
    """How many batches a flush would make of what waits, and the length of their texts."""
    live = state.view.read(state)
    if live is not None:
        return live.waiting.count(state.config.batching_mode), live.waiting.chars
    captured = pending_of_whole(state)
    skeletons = state.transcript.skeletons
    chars = sum(skeletons[call.result_position].text_chars for batch in captured for call in batch.calls)
    return len(group_runs(captured, state.config.batching_mode)), chars


def places_of(captured: Iterable[CapturedBatch]) -> set[int]:
    """The positions whose bodies these batches need."""
    return {
        position for batch in captured for position in (batch.position, *(call.result_position for call in batch.calls))
    }


def source_of(state: SessionState) -> Callable[[int, int, int], Source]:
    """Names the stored messages of a call by position."""
    nodes = state.transcript.nodes
    return lambda call, ordinal, result: Source(nodes[call], ordinal, nodes[result])


def with_texts(state: SessionState, captured: CapturedBatch, messages: Messages) -> Batch:
    """The batch with its texts."""
    time_ms = state.transcript.skeletons[captured.position].timestamp_ms or 0
    return hydrate(captured, messages.__getitem__, time_ms, source_of(state))


def arguments_from(messages: Mapping[int, Message]) -> Callable[[Record], str]:
    """Reads the arguments of records from messages by node."""

    def args_of(record: Record) -> str:
        if record.source is None:
            return record.args_json or "{}"
        return captured_arguments(calls_of(messages[record.source.call_node])[record.source.call_ordinal])

    return args_of


def large_calls(state: SessionState, captured: Iterable[CapturedBatch], since: int = 0) -> list[CapturedBatch]:
    """Of these batches the calls whose result stands at `since` or later and is to be spilled."""
    skeletons, threshold = state.transcript.skeletons, state.config.spill_threshold
    found: list[CapturedBatch] = []
    for batch in captured:
        calls = tuple(
            call
            for call in batch.calls
            if call.result_position >= since and skeletons[call.result_position].text_chars >= threshold
        )
        if calls:
            found.append(CapturedBatch(batch.turn_index, batch.group, batch.position, calls))
    return found


def spill(state: SessionState, batch: Batch, calls: Sequence[Call]) -> tuple[Entry, ...]:
    """Spill these calls of a batch; the index knows it at once."""
    config = state.config
    return spill_calls(
        state.decisions.index,
        calls,
        RecordContext(batch.turn_index, batch.timestamp_ms, config.path_arguments),
        threshold=config.spill_threshold,
        preview_bytes=config.spill_preview_bytes,
        dedup=config.dedup_by_content_hash,
    ).entries
