"""Context metrics that grow with the transcript: the open cycle, and the largest chain.

The same numbers as `domain.metrics` gives for the whole list, as long as every chain is found by its own timestamps.
Where times repeat it says that it does not know.
"""

from collections.abc import Sequence
from itertools import accumulate

from condense_grpc.domain.messages import ASSISTANT, USER
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
        # Times and ends of the assistant messages since the chain began.
        self._times: list[int | None] = []
        self._ends: list[int] = []

    def read(self, message: MessageSkeleton) -> None:
        """Take in the next message or summary."""
        before = self._total
        self._total += message.json_chars
        if message.thinking:
            self._thinking += message.thinking.block_chars
        if message.role is USER:
            self._open_chain(message, before)
        elif message.role is ASSISTANT:
            self._times.append(message.timestamp_ms)
            self._ends.append(self._total)
            if not message.calls:
                self._close_chain(message, self._total)

    def read_all(self, messages: Sequence[MessageSkeleton]) -> None:
        """Take in the next messages: the same as `read` for each, with a closer look only where a chain may end."""
        totals = [*accumulate([message.json_chars for message in messages], initial=self._total)]
        start = 0
        for place, message in enumerate(messages):
            if message.role is USER:
                self._read_inside(messages[start:place], totals[start + 1 : place + 1])
                self._open_chain(message, totals[place])
            elif message.role is ASSISTANT and not message.calls:
                self._read_inside(messages[start : place + 1], totals[start + 1 : place + 2])
                self._close_chain(message, totals[place + 1])
            else:
                continue
            start = place + 1
        self._read_inside(messages[start:], totals[start + 1 :])
        self._total = totals[-1]

    def _read_inside(self, messages: Sequence[MessageSkeleton], totals: Sequence[int]) -> None:
        """Messages that open no chain, each with the total behind it."""
        self._thinking += sum([message.thinking.block_chars for message in messages if message.thinking])
        if self._chain_start is not None:
            pairs = zip(messages, totals, strict=True)
            read = [(message, total) for message, total in pairs if message.role is ASSISTANT]
            self._times += [message.timestamp_ms for message, _ in read]
            self._ends += [total for _, total in read]

    def _open_chain(self, message: MessageSkeleton, before: int) -> None:
        if message.timestamp_ms in self._user_times:
            self.is_exact = False
        if self._chain_start is not None:
            self._largest = max(self._largest, before - self._chain_start)
        self._user_times.add(message.timestamp_ms)
        self._chain_start = before
        self._times.clear()
        self._ends.clear()

    def _close_chain(self, message: MessageSkeleton, total: int) -> None:
        if self._chain_start is not None:
            end = self._ends[self._times.index(message.timestamp_ms)]
            self._largest = max(self._largest, end - self._chain_start)
        self._chain_start = None
        self._before_open = total
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
