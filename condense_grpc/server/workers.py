"""Threads for what would hold up the event loop: parsing and converting large messages.

Small ones stay on the loop, where a hop to a thread would cost more than it saves.
"""

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

LARGE_BYTES = 128 * 1024
LARGE_COUNT = 200

_SWITCH_SECONDS = 0.0005


def tune_switching() -> None:
    """Have threads give way soon.

    The event loop asks for the interpreter's lock several times per call. A thread that converts a large message keeps
    it until the switch interval is over, by default for 5 ms, which a small call would wait every one of these times.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)


class Workers:
    """The threads of one server. Owned by it; `close` waits for nothing, since what runs is pure."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="condense-convert")

    async def run(self, work: Callable[[], T]) -> T:
        """Run pure work in a thread. What it raises is raised here."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)
