"""Many sessions at once."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import grpc
import grpc.aio
from google.protobuf.empty_pb2 import Empty

from bench.ground import OPTIONS, Ground
from bench.histories import Shape, turn
from bench.rows.turns import NUMBERS
from bench.server import YARDSTICKS
from bench.table import Row
from bench.timing import quiet
from condense_grpc.api.condense.v1.condense_service_pb2_grpc import CondenseServiceStub

SESSIONS = 1000
AT_A_TIME = 16
SLICES = 5


def thousand_sessions(rounds: int) -> Row:
    """One turn of each of a thousand sessions, in random order, against as many no-op calls."""
    with Ground() as ground:
        first = ground.session(40, Shape())
        sessions = [ground.fork(first) for _ in range(SESSIONS)]
        random.Random(3).shuffle(sessions)
        requests = [session.turn_request(turn(next(NUMBERS))) for session in sessions]
        with quiet():
            turns, no_ops = asyncio.run(_compare(ground.address, requests))
    return Row(
        "sessions",
        "1 000 sessions, one turn each in random order, 16 at a time: turns / no-op calls per second",
        no_ops / turns,
        0.5,
        at_least=True,
        facts={"turns_per_s": SESSIONS / turns, "no_ops_per_s": SESSIONS / no_ops},
    )


async def _compare(address: str, requests: Sequence[Any]) -> tuple[float, float]:
    """Seconds for all turns and for as many no-op calls, slice by slice in turns."""
    async with grpc.aio.insecure_channel(address, OPTIONS) as channel:
        condense: Any = CondenseServiceStub(channel)
        no_op = channel.unary_unary(f"/{YARDSTICKS}/NoOp", Empty.SerializeToString, Empty.FromString)
        await _seconds(no_op, [Empty()] * AT_A_TIME * 4)
        turns = no_ops = 0.0
        size = len(requests) // SLICES
        for start in range(0, len(requests), size):
            piece = requests[start : start + size]
            turns += await _seconds(condense.PruneMessages, piece)
            no_ops += await _seconds(no_op, [Empty()] * len(piece))
        return turns, no_ops


async def _seconds(method: Callable[[Any], Awaitable[Any]], requests: Sequence[Any]) -> float:
    """How long all calls take, so many at a time."""
    rest = iter(requests)

    async def work() -> None:
        for request in rest:
            await method(request)

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(AT_A_TIME)))
    return time.perf_counter() - start
