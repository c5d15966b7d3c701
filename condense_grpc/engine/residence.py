"""How sessions stay in memory: which are packed, which are let go, and how much may wait to be written.

A session that nobody uses is packed after a while and let go after a longer one. Beyond the memory budget both happen
sooner, to those first that were not used for longest. What was not written is written first: nothing is lost but time.
"""

from condense_grpc.domain.frozen import frozen

MIB = 1024 * 1024
SESSION_SHARE = 8
"""One session may fill this part of the window."""


@frozen
class Residence:
    """How long and in how much memory. Seconds without use; bytes are an estimate of all that is loaded."""

    rest_seconds: float = 60
    evict_seconds: float = 3600
    memory_bytes: int = 512 * MIB


@frozen
class WriteWindow:
    """How much may wait to be written, of all sessions together; appends beyond it wait for the store."""

    most_bytes: int = 64 * MIB
    most_messages: int = 40_000

    def is_full(self, waiting: "Waiting") -> bool:
        """Whether all sessions together have to wait."""
        return waiting.size_bytes > self.most_bytes or waiting.messages > self.most_messages

    def is_full_for_one(self, waiting: "Waiting") -> bool:
        """Whether one session has its share."""
        return SESSION_SHARE * waiting.size_bytes > self.most_bytes or (
            SESSION_SHARE * waiting.messages > self.most_messages
        )


@frozen
class Waiting:
    """What waits to be written."""

    size_bytes: int = 0
    messages: int = 0

    def changed(self, before: "Waiting", now: "Waiting") -> "Waiting":
        """The sum, when one of its members changes."""
        return Waiting(
            self.size_bytes + now.size_bytes - before.size_bytes, self.messages + now.messages - before.messages
        )


@frozen
class Resident:
    """A session in memory that nobody uses at this moment."""

    session_id: str
    last_used_ms: int
    size_bytes: int
    is_resting: bool
