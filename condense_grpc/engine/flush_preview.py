"""What a flush would take, without taking it."""

from condense_grpc.domain.capture import group_runs
from condense_grpc.engine.capture_step import find_pending
from condense_grpc.engine.events import BatchPreview
from condense_grpc.engine.state import SessionState


def preview(state: SessionState) -> tuple[BatchPreview, ...]:
    """The batches that capture finds now, grouped as a flush would."""
    skeletons = state.transcript.skeletons
    previews = []
    for number, run in enumerate(group_runs(find_pending(state), state.config.batching_mode)):
        calls = [(batch, call) for batch in run for call in batch.calls]
        names = tuple(skeletons[batch.position].calls[call.ordinal].name for batch, call in calls)
        chars = sum(skeletons[call.result_position].text_chars for _, call in calls)
        previews.append(BatchPreview(number, run[-1].turn_index, names, len(calls), chars))
    return tuple(previews)
