"""Steps that would hold up everybody: many messages are worked on in a thread, few of them at once, in small pieces.

Such a step touches nothing but the state of one session, whose lock the caller holds, so that nobody else sees it half
done. A caller who is cancelled waits for its end: with the lock let go the thread would go on beside whoever is next.
A hop to a thread costs more than a small step.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import TypeVar

from condense_grpc.engine.shielding import completed

P = TypeVar("P")
T = TypeVar("T")

MANY_MESSAGES = 200
# So many pieces of a step are done at once. Whoever sends answers meanwhile is never long without its turn.
PIECES_AT_ONCE = 10


async def offloaded(messages: int, step: Callable[[], T]) -> T:
    """What a step over so many messages gives. What it raises is raised here."""
    return step() if messages <= MANY_MESSAGES else await completed(asyncio.to_thread(step))


async def worked_off(messages: int, pieces: Iterable[P], work: Callable[[P], T]) -> list[T]:
    """What each piece of a step over so many messages gives; behind every few of them everybody else has a turn."""
    if messages > MANY_MESSAGES:
        return await offloaded(messages, lambda: [work(piece) for piece in pieces])
    done: list[T] = []
    for piece in pieces:
        done.append(work(piece))
        if len(done) % PIECES_AT_ONCE == 0:
            await asyncio.sleep(0)
    return done
