"""A copy of a session to try something on."""

from condense_grpc.domain.config import SessionConfig, merge
from condense_grpc.engine.config_codec import config_to_json
from condense_grpc.engine.ports import Clock, SessionRow, Store, StoredSession
from condense_grpc.engine.registry import Registry
from condense_grpc.engine.requests import PruneRequest
from condense_grpc.engine.state import SessionState
from condense_grpc.errors import SessionNotFound


async def scratch_state(store: Store, registry: Registry, request: PruneRequest, clock: Clock) -> SessionState:
    """The session as it stands in the store after everything is written, or an empty one that a delta would create."""
    session_id, delta = request.session_id, request.delta
    try:
        async with registry.locked(session_id) as live:
            await registry.persist(live)
            stored = await store.load(session_id)
            if stored is None:
                raise SessionNotFound(session_id)
            copy = SessionState(stored)
            copy.shown, copy.reclaim = live.state.shown, live.state.reclaim
            return copy
    except SessionNotFound:
        if delta is None or not delta.create_if_missing:
            raise
        now_ms = clock.now_ms()
        config = config_to_json(merge(SessionConfig(), dict(delta.config)))
        return SessionState(StoredSession(SessionRow(session_id, now_ms, now_ms, config_json=config), (), ()))
