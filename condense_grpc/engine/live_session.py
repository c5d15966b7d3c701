"""A session in memory, and who is told what happens to it."""

import asyncio
from typing import Protocol

from condense_grpc.engine.ports import Changes
from condense_grpc.engine.requests import SessionInfo
from condense_grpc.engine.residence import Waiting
from condense_grpc.engine.state import SessionState


class LiveSession:
    """One loaded session: its state, and the lock under which it changes. `gone`: discarded, it counts no more.

    `info`: what clients were told when it went to rest the last time. `waiting`: what the store does not have yet.
    `told_node`: the last message that was taken in for good, so that it must not be lost with decisions behind it.
    """

    def __init__(self, state: SessionState, lock: asyncio.Lock, info: SessionInfo | None = None) -> None:
        self.state = state
        self.lock = lock
        self.info = info
        self.gone = False
        self.waiting = Waiting()
        self.told_node = state.transcript.head_node

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self.state.row.session_id


class Listener(Protocol):
    """Who is told what happens to sessions. Nothing here may fail."""

    def listens_to(self, session_id: str) -> bool:
        """Whether `released` is wanted for a session."""
        ...

    async def released(self, live: LiveSession) -> None:
        """Somebody is about to let go of the lock."""
        ...

    def written(self, session_id: str, changes: Changes) -> None:
        """Changes are durable."""
        ...

    def deleted(self, session_id: str) -> None:
        """A session is gone."""
        ...
