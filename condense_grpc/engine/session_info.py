"""A session as clients see it."""

from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import count_pending, find_pending
from condense_grpc.engine.measures import session_metrics, session_status
from condense_grpc.engine.native_delta import format_of
from condense_grpc.engine.requests import SessionInfo
from condense_grpc.engine.revision import current_revision
from condense_grpc.engine.state import SessionState


async def session_info(bodies: BodyCache, state: SessionState) -> SessionInfo:
    """Everything that a client is told about a session."""
    row = state.row
    batches, _ = count_pending(state)
    from_before = any(batch.position < state.loaded_length for batch in find_pending(state))
    return SessionInfo(
        session_id=row.session_id,
        create_time_ms=row.create_time_ms,
        update_time_ms=row.update_time_ms,
        labels=dict(row.labels),
        config=state.config,
        length=state.transcript.element_count,
        etag=state.transcript.etag,
        revision=await current_revision(bodies, state),
        pending_batches=batches,
        rearmed=from_before and not state.flushed_since_load,
        status_line=session_status(state, session_metrics(state)),
        native=format_of(state.transcript),
    )
