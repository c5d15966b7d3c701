"""The registry of compressed chains: one entry for each message that starts a chain.

A start is identified by the digest of its message; imported entries have none and are identified by its time, so
that equal or missing times never keep a chain from being compressed or replace another chain's entry.
"""

from collections.abc import Iterable

from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.refs import next_block_number


class ChainRegistry:
    """The chains of one session. Mutable and not thread-safe; listings are made when they are asked for."""

    def __init__(self) -> None:
        self._by_start: dict[str | int, ChainEntry] = {}
        self._next_block_number = 1
        self._sorted: tuple[ChainEntry, ...] | None = None
        self._by_block: dict[str, ChainEntry] = {}

    def add(self, entry: ChainEntry) -> None:
        """Register an entry in place of an earlier one with the same start."""
        self._by_start[entry.start_digest or entry.start_user_timestamp_ms] = entry
        self._next_block_number = max(self._next_block_number, next_block_number([entry.block_id]))
        self._sorted = None

    @property
    def next_block_number(self) -> int:
        """One more than the highest block number so far, replaced entries included."""
        return self._next_block_number

    def at(self, start_digest: str, start_timestamp_ms: int | None) -> ChainEntry | None:
        """The entry of a start; its time counts only for entries without digest."""
        found = self._by_start.get(start_digest)
        if found is None and start_timestamp_ms is not None:
            found = self._by_start.get(start_timestamp_ms)
        return found

    def by_start(self) -> tuple[ChainEntry, ...]:
        """All entries by start timestamp."""
        if self._sorted is None:
            entries = self._by_start.values()
            self._sorted = tuple(sorted(entries, key=lambda entry: entry.start_user_timestamp_ms))
            self._by_block = _first_of_each_block(self._sorted)
        return self._sorted

    def by_block(self, block_id: str) -> ChainEntry | None:
        """The first entry with a block id."""
        self.by_start()
        return self._by_block.get(block_id)


def _first_of_each_block(entries: Iterable[ChainEntry]) -> dict[str, ChainEntry]:
    found: dict[str, ChainEntry] = {}
    for entry in entries:
        found.setdefault(entry.block_id, entry)
    return found
