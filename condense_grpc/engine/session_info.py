"""A session as clients see it: told by its state, or by its row when it went to rest and has not changed since."""

import json
from typing import Any

from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import count_pending, find_pending
from condense_grpc.engine.config_codec import config_from_json
from condense_grpc.engine.measures import session_metrics, session_status
from condense_grpc.engine.native_delta import format_of
from condense_grpc.engine.ports import SessionRow
from condense_grpc.engine.requests import SessionInfo
from condense_grpc.engine.revision import current_revision, read_view
from condense_grpc.engine.state import INFO_FACT, SessionState
from condense_grpc.native.formats import NativeFormat


async def session_info(bodies: BodyCache, state: SessionState) -> SessionInfo:
    """Everything that a client is told about a session."""
    await read_view(state)
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


def described(info: SessionInfo) -> dict[str, Any]:
    """What is kept beside the row, of all that does not follow from it."""
    return {
        "length": info.length,
        "etag": info.etag,
        "revision": info.revision,
        "pending": info.pending_batches,
        "status": info.status_line,
        "native": None if info.native is None else info.native.number,
    }


def info_of_row(row: SessionRow) -> SessionInfo | None:
    """What a client is told of a session that is not loaded; None when the row does not say it."""
    said = json.loads(row.facts_json).get(INFO_FACT)
    if said is None:
        return None
    return SessionInfo(
        session_id=row.session_id,
        create_time_ms=row.create_time_ms,
        update_time_ms=row.update_time_ms,
        labels=dict(row.labels),
        config=config_from_json(row.config_json),
        length=said["length"],
        etag=said["etag"],
        revision=said["revision"],
        pending_batches=said["pending"],
        # Whatever waits in a session that is not loaded has waited since before it will be.
        rearmed=said["pending"] > 0,
        status_line=said["status"],
        native=None if said["native"] is None else NativeFormat.of_number(said["native"]),
    )
