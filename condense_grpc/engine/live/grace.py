"""When recovered results come out of their grace: as many user messages later as the settings say."""

import heapq
from collections.abc import Iterator


class GraceWatch:
    """The turns with results in grace. Owned by one live view."""

    def __init__(self, grace_turns: int) -> None:
        self._grace_turns = grace_turns
        self._heap: list[tuple[int, int]] = []
        self._known: set[tuple[int, int]] = set()

    def watch(self, turn: int, users_before: int) -> None:
        """A result in a turn, with so many user messages before it, is in grace."""
        item = (users_before, turn)
        if item not in self._known:
            self._known.add(item)
            heapq.heappush(self._heap, item)

    def expired(self, users: int) -> Iterator[int]:
        """The turns with results whose grace is over, now that there are so many user messages; each told once."""
        while self._heap and users - self._heap[0][0] > self._grace_turns:
            item = heapq.heappop(self._heap)
            self._known.discard(item)
            yield item[1]
