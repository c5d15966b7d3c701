"""Steps that would hold up everybody: many messages are worked on in a thread, few of them at once.

Such a step touches nothing but the state of one session, whose lock the caller holds, so that nobody else sees it half
done. A caller who is cancelled waits for its end: with the lock let go the thread would go on beside whoever is next.
A hop to a thread costs more than a small step.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from condense_grpc.engine.shielding import completed

T = TypeVar("T")

MANY_MESSAGES = 200


async def offloaded(messages: int, step: Callable[[], T]) -> T:
    """What a step over so many messages gives. What it raises is raised here."""
    return step() if messages <= MANY_MESSAGES else await completed(asyncio.to_thread(step))
