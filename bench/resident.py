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

RESIDENTS = 60


async def _child(what: str, database: str, names: list[str]) -> dict[str, float]:
    engine = Engine(make_store(f"sqlite:///{database}"), InstantSummarizer(), SystemClock(), EngineOptions())
    await engine.start()
    tune_allocator()
    tune_collector()
    try:
        return await (_memory if what == "memory" else _load)(engine, names)
    finally:
        await engine.close()


async def _memory(engine: Engine, names: list[str]) -> dict[str, float]:
    rest = len(names) - RESIDENTS
    for name in names[:rest]:
        await _first_view(engine, name)
    before = _settled_rss()
    for name in names[rest:]:
        await _first_view(engine, name)
    return {"bytes": (_settled_rss() - before) / RESIDENTS}


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
