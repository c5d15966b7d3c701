"""Large requests are read another way than small ones, and answered another way: nobody can tell the difference."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import grpc.aio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.api.condense.v1 import flush_event_pb2, session_pb2, view_pb2
from condense_grpc.engine.engine import Engine
from condense_grpc.server import wire
from condense_grpc.store.memory import MemoryStore
from condense_grpc.testing.fakes import FakeClock, FakeSummarizer
from tests.server.convert.test_message import MESSAGE
from tests.server.convert.test_sent_messages import damaged
from tests.server.running import Running, answer, call, delta, failure_of, result, running, user

PRUNE = "/condense.v1.CondenseService/PruneMessages"
FLUSH = "/condense.v1.CondenseService/FlushBatches"
FLAGS = {"max_delta_messages": 40, "max_delta_bytes": 200_000, "max_transcript_message_bytes": 100_000}

History = list[Any]
Step = Callable[[History, int, Any], History]


def grown(messages: History, number: int, message: Any) -> History:
    time = {"timestamp_ms": 1000 + number} if number % 3 else {}
    work = [user(f"do {number}"), call(f"c{number}"), result(f"c{number}", f"{number} " * 2000, **time)]
    return [*messages, *work, *([answer("done")] if number % 2 else [])]


def odd(messages: History, number: int, message: Any) -> History:
    return [*messages, message]


def huge(messages: History, number: int, message: Any) -> History:
    return [*messages, user("x" * (50_000 + 10_000 * (number % 16)))]


def shortened(messages: History, number: int, message: Any) -> History:
    return messages[: number % (len(messages) + 1)]


def changed(messages: History, number: int, message: Any) -> History:
    at = number % max(len(messages), 1)
    return [*messages[:at], message, *messages[at + 1 :]]


STEPS = st.sampled_from([grown, grown, grown, odd, huge, shortened, changed])
VIEWS = st.sampled_from([view_pb2.VIEW_FULL, view_pb2.VIEW_FULL, view_pb2.VIEW_EDITS, view_pb2.VIEW_NONE])
MOVES = st.tuples(STEPS, st.integers(0, 60), MESSAGE, VIEWS, st.integers(0, 9), st.integers(0), st.integers(0, 255))


def requests(moves: list[Any]) -> list[tuple[str, bytes]]:
    """Histories of one session, each sent as a whole or from where the one before ended, some of them damaged."""
    found: list[tuple[str, bytes]] = []
    history: History = []
    for step, number, message, view, manner, at, byte in moves:
        history, before = step(history, number, message), history
        base = len(before) if manner == 1 and history[: len(before)] == before else 0
        change = delta(*history[base:], base=base)
        request = view_pb2.PruneMessagesRequest(session_id="s", delta=change, view=view, dry_run=manner == 2)
        data = request.SerializeToString()
        if manner == 3:
            found.append((PRUNE, damaged(data, at, byte)))
        elif manner == 4:
            found.append((PRUNE, damaged(data, at, None)))
        elif manner == 5:
            found.append((PRUNE, data + data))
        elif manner == 6:
            flush = flush_event_pb2.FlushBatchesRequest(session_id="s", delta=change)
            found.append((FLUSH, flush.SerializeToString()))
        else:
            found.append((PRUNE, data))
    return found


async def told(server: Running, method: str, data: bytes) -> Any:
    """The answer to a request, or the status of its failure."""
    try:
        if method == PRUNE:
            return view_pb2.PruneMessagesResponse.FromString(await server.channel.unary_unary(PRUNE)(data))
        return [event async for event in server.channel.unary_stream(FLUSH)(data)][-1][:0]
    except grpc.aio.AioRpcError as error:
        return failure_of(error).status


async def compare(sent: list[tuple[str, bytes]], patch: pytest.MonkeyPatch) -> None:
    """Send the same requests to a server for which each is large and to one for which none is."""
    async with AsyncExitStack() as stack:
        servers = []
        for _ in range(2):
            engine = Engine(MemoryStore(), FakeSummarizer(), FakeClock())
            await engine.start()
            stack.push_async_callback(engine.close, 0)
            servers.append(await stack.enter_async_context(running(engine, flags=FLAGS)))
        for method, data in sent:
            answers = []
            for server, limit in zip(servers, (0, 1 << 40), strict=True):
                patch.setattr(wire, "LARGE_BYTES", limit)
                answers.append(await told(server, method, data))
            assert answers[0] == answers[1]
        ends = [await told_of_session(server) for server in servers]
        assert ends[0] == ends[1]


async def told_of_session(server: Running) -> Any:
    try:
        return await server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s"))
    except grpc.aio.AioRpcError as error:
        return failure_of(error).status


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.lists(MOVES, min_size=1, max_size=6))
def test_large_requests_are_answered_like_small_ones(moves: list[Any]) -> None:
    """Whatever is sent, with the same answers, the same refusals, and the same session in the end."""
    with pytest.MonkeyPatch.context() as patch:
        asyncio.run(compare(requests(moves), patch))


async def test_a_text_that_is_not_utf8_is_refused_in_what_is_new() -> None:
    """As ever, although the messages before it are not parsed."""
    history = [user("x" * 200_000)]
    async with running() as server:
        for text in ("fine", "spoilt"):
            data = view_pb2.PruneMessagesRequest(
                session_id="s", delta=delta(*history, user(text)), view=view_pb2.VIEW_FULL
            ).SerializeToString()
            told_ = await told(server, PRUNE, data.replace(b"spoilt", b"spo\xfflt"))
    assert "UTF-8" in told_.message
