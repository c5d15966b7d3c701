"""What a change that came with a call needs before the call: the session, when it is to be made without messages."""

from contextlib import suppress

from condense_grpc.engine.engine import Engine
from condense_grpc.errors import SessionAlreadyExists
from condense_grpc.server.convert.delta import Change


async def ensure_session(engine: Engine, session_id: str, change: Change, *, dry_run: bool = False) -> bool:
    """Make the session of a delta that asks for it and brings nothing; whether it was made.

    A delta with messages makes its session by itself. One without must not touch the transcript of a session that
    exists, so it cannot be appended.
    """
    if change.create is None or dry_run:
        return False
    with suppress(SessionAlreadyExists):
        await engine.create_session(session_id, config=change.create, labels={})
        return True
    return False
