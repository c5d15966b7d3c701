"""Pages of a filtered listing: filled up to their size, however few of the elements pass the filter."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from condense_grpc.domain.frozen import frozen

T = TypeVar("T")


@frozen
class Page(Generic[T]):
    """One page. `next_position` None: it is the last one."""

    items: list[T]
    next_position: int | None


@frozen
class Listing(Generic[T]):
    """Where elements come from.

    `fetch(position, limit)` gives those behind a position, `position_behind(start, index, item)` the position behind
    the element that was number `index` of what was fetched from `start`.
    """

    fetch: Callable[[int, int], Awaitable[Sequence[T]]]
    position_behind: Callable[[int, int, T], int]
    keeps: Callable[[T], bool]

    async def page(self, start: int, size: int) -> Page[T]:
        """The page behind a position."""
        items: list[T] = []
        position = start
        while True:
            fetched_from = position
            batch = await self.fetch(fetched_from, size + 1)
            for index, item in enumerate(batch):
                if self.keeps(item):
                    if len(items) == size:
                        return Page(items, position)
                    items.append(item)
                position = self.position_behind(fetched_from, index, item)
            if len(batch) <= size:
                return Page(items, None)
