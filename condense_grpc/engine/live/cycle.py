"""Context metrics that grow with the transcript: the open cycle, and the largest chain.

The same numbers as `domain.metrics` gives for the whole list, as long as every chain is found by its own timestamps.
Where times repeat it says that it does not know.
"""

from condense_grpc.domain.messages import Role
from condense_grpc.domain.numbers import half_up, token_estimate
from condense_grpc.domain.skeleton import MessageSkeleton


class Cycle:
    """Reads the rendered list message by message. Owned by one live view. `is_exact`: whether its numbers count."""

    def __init__(self) -> None:
        self.is_exact = True
        self._total = 0
        self._before_open = 0
        self._thinking = 0
        self._largest = 0
        self._chain_start: int | None = None
        self._user_times: set[int | None] = set()
        self._assistant_ends: dict[int | None, int] = {}

    def read(self, message: MessageSkeleton) -> None:
        """Take in the next message or summary."""
        before = self._total
        self._total += message.json_chars
        if message.thinking:
            self._thinking += message.thinking.block_chars
        if message.role is Role.USER:
            self._open_chain(message, before)
        elif message.role is Role.ASSISTANT:
            self._assistant_ends.setdefault(message.timestamp_ms, self._total)
            if not message.calls:
                self._close_chain(message)

    def _open_chain(self, message: MessageSkeleton, before: int) -> None:
        if message.timestamp_ms in self._user_times:
            self.is_exact = False
        if self._chain_start is not None:
            self._largest = max(self._largest, before - self._chain_start)
        self._user_times.add(message.timestamp_ms)
        self._chain_start = before
        self._assistant_ends.clear()

    def _close_chain(self, message: MessageSkeleton) -> None:
        if self._chain_start is not None:
            end = self._assistant_ends[message.timestamp_ms]
            self._largest = max(self._largest, end - self._chain_start)
        self._chain_start = None
        self._before_open = self._total
        self._thinking = 0

    @property
    def open_thinking_tokens(self) -> int:
        """Estimated tokens of the thinking behind the last text-only answer."""
        return token_estimate(self._thinking)

    @property
    def largest_share_pct(self) -> int:
        """Share of the largest chain, or of the open cycle, in everything."""
        largest = max(self._largest, self._total - self._before_open)
        return half_up(100 * largest / self._total) if self._total else 0
