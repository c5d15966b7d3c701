"""The process in which residence is measured: an engine over a database, and nothing else.

Its allocator and its collector are tuned as those of a server are.

    python -m bench.resident memory|load DATABASE SESSION...

It prints its findings as JSON.
"""

import asyncio
import ctypes
import gc
import json
import sys
import time
from statistics import median

from bench.ground import rss_bytes
from bench.server import InstantSummarizer
from condense_grpc.engine.engine import Engine, EngineOptions
from condense_grpc.engine.requests import PruneRequest, ViewKind
from condense_grpc.server.allocator import tune_allocator
from condense_grpc.server.collector import tune_collector
from condense_grpc.server.composition import SystemClock, make_store
from condense_grpc.server.huge_pages import use_huge_pages

RESIDENTS = 150
_IDLE_MS = 61_000


class _LaterClock(SystemClock):
    """The clock of the machine, until time is let pass."""

    offset_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.offset_ms


_clock = _LaterClock()


async def _child(what: str, database: str, names: list[str]) -> dict[str, float]:
    engine = Engine(make_store(f"sqlite:///{database}"), InstantSummarizer(), _clock, EngineOptions())
    await engine.start()
    tune_allocator()
    tune_collector()
    use_huge_pages()
    try:
        return await (_memory if what == "memory" else _load)(engine, names)
    finally:
        await engine.close()


async def _memory(engine: Engine, names: list[str]) -> dict[str, float]:
    rest = len(names) - RESIDENTS
    for name in names[:rest]:
        await _first_view(engine, name)
    await _pass_idle_time(engine)
    before = _settled_rss()
    # One after another, as sessions come to rest at a server: what one gives back the next one can use.
    for name in names[rest:]:
        await _first_view(engine, name)
        await _pass_idle_time(engine)
    idle = _settled_rss()
    wakes: list[float] = []
    for name in names[rest:]:
        start = time.perf_counter()
        await _first_view(engine, name)
        wakes.append(time.perf_counter() - start)
    return {
        "bytes": (idle - before) / RESIDENTS,
        "in_use_bytes": (_settled_rss() - before) / RESIDENTS,
        "wake_seconds": median(wakes),
    }


async def _pass_idle_time(engine: Engine) -> None:
    """Let so much time pass that every session rests."""
    _clock.offset_ms += _IDLE_MS
    await engine.look_after_sessions()


def _settled_rss() -> int:
    """Resident memory without what the allocator keeps for later."""
    gc.collect()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).malloc_trim(0)
    return rss_bytes()


async def _load(engine: Engine, names: list[str]) -> dict[str, float]:
    whole: list[float] = []
    alone: list[float] = []
    for number, name in enumerate(names):
        gc.collect()
        start = time.perf_counter()
        if number % 2:
            await engine.call_facts(name, "no such ref")
            alone.append(time.perf_counter() - start)
        else:
            await _first_view(engine, name)
            whole.append(time.perf_counter() - start)
    return {"seconds": median(whole[1:]), "load_seconds": median(alone)}


async def _first_view(engine: Engine, name: str) -> None:
    await engine.prune(PruneRequest(name, view=ViewKind.EDITS))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_child(sys.argv[1], sys.argv[2], sys.argv[3:]))))
