"""A session at rest: loaded, and packed to a few dozen bytes for each of its messages.

It is what the store has, compressed, and beside it the little that a state knows and the store does not (what was
noticed and measured since the session was loaded). Waking it is a load without the store: nobody can tell by its
answers that a session has rested.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import zstandard

from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.ports import SessionRow, StoredCommit, StoredMessage, StoredSession
from condense_grpc.engine.requests import SessionInfo
from condense_grpc.engine.state import SessionState

_LEVEL = 3
_ROW_BYTES = 2000
"""About what row, settings, facts and measures take."""
_MARK_BYTES = 16

_encoder = msgspec.msgpack.Encoder()
_messages_decoder = msgspec.msgpack.Decoder(list[StoredMessage])
_commits_decoder = msgspec.msgpack.Decoder(list[StoredCommit])


@frozen
class RestingSession:
    """One session at rest. `info`: what clients are told of it; `remembered`: what the store does not know."""

    row: SessionRow
    info: SessionInfo
    remembered: Mapping[str, Any]
    messages: bytes
    commits: bytes

    @classmethod
    def of(cls, stored: StoredSession, info: SessionInfo, remembered: Mapping[str, Any]) -> "RestingSession":
        """Pack a session. Slow for long ones: not for the event loop."""
        # A compressor must not be shared between threads.
        compressor = zstandard.ZstdCompressor(level=_LEVEL)
        # The compressor's own bytes keep the memory that the uncompressed ones would have needed.
        messages = bytes(memoryview(compressor.compress(_encoder.encode(stored.messages))))
        commits = bytes(memoryview(compressor.compress(_encoder.encode(stored.commits))))
        return cls(stored.row, info, remembered, messages, commits)

    def wake(self) -> SessionState:
        """The state that went to rest."""
        decompressor = zstandard.ZstdDecompressor()
        messages = _messages_decoder.decode(decompressor.decompress(self.messages))
        commits = _commits_decoder.decode(decompressor.decompress(self.commits))
        state = SessionState(StoredSession(self.row, messages, commits))
        state.remember(self.remembered)
        return state

    @property
    def size_bytes(self) -> int:
        """About what it takes of memory."""
        shown = self.remembered["shown"]
        marks = 0 if shown is None else _MARK_BYTES * len(shown.marks)
        return _ROW_BYTES + len(self.messages) + len(self.commits) + marks
