"""Long histories that come again: what is recognised without being read makes no difference."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.api.condense.v1 import message_pb2 as pb
from condense_grpc.api.condense.v1 import transcript_pb2, view_pb2
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.recognition import Recollection
from condense_grpc.server.workers import LARGE_BYTES
from condense_grpc.store.memory import MemoryStore
from condense_grpc.testing.fakes import FakeClock, FakeSummarizer
from tests.server.running import failure, running

TEXT = "word " * (LARGE_BYTES // 5 // 20)


class Forgetful(Engine):
    """An engine that never tells how messages were sent."""

    def recollect(self, session_id: str) -> None:
        return None


class Behind(Engine):
    """An engine that tells, once, how it was at another time."""

    told: Recollection | None = None

    def recollect(self, session_id: str) -> Recollection | None:
        told, self.told = self.told, None
        return told


def work(number: int, *, timed: bool = True) -> list[pb.Message]:
    """A call and its large result."""
    call, result = pb.Message(), pb.Message()
    call.assistant.parts.add().tool_call.MergeFrom(pb.ToolCallPart(id=f"c{number}", name="read", arguments_json="{}"))
    result.tool_result.MergeFrom(pb.ToolResultMessage(tool_call_id=f"c{number}", tool_name="read"))
    result.tool_result.parts.add().text.text = f"{number} {TEXT}"
    if timed:
        call.timestamp_ms, result.timestamp_ms = 1000 + 2 * number, 1001 + 2 * number
    return [call, result]


def whole(messages: list[pb.Message]) -> view_pb2.PruneMessagesRequest:
    delta = transcript_pb2.TranscriptDelta(create_if_missing=True, messages=transcript_pb2.MessageList())
    delta.messages.messages.extend(messages)
    return view_pb2.PruneMessagesRequest(session_id="s", delta=delta, view=view_pb2.VIEW_FULL)


def engine_of(kind: type[Engine]) -> Any:
    return kind(MemoryStore(), FakeSummarizer(), FakeClock())


async def both_answers(histories: list[list[pb.Message]]) -> None:
    """Send these histories, each as a whole, to a server that recognises messages and to one that does not."""
    engines = [engine_of(Engine), engine_of(Forgetful)]
    async with AsyncExitStack() as stack:
        servers = []
        for engine in engines:
            await engine.start()
            stack.push_async_callback(engine.close, 0)
            servers.append(await stack.enter_async_context(running(engine)))
        for messages in histories:
            answers = [await server.condense.PruneMessages(whole(messages)) for server in servers]
            assert answers[0] == answers[1]
            assert [bool(one.timestamp_ms) for one in answers[0].messages] == [True] * len(answers[0].messages)


Step = Callable[[list[pb.Message], int], list[pb.Message]]


def grown(messages: list[pb.Message], number: int) -> list[pb.Message]:
    return [*messages, *work(number, timed=bool(number % 3))]


def shortened(messages: list[pb.Message], number: int) -> list[pb.Message]:
    return messages[: 2 * (number % (len(messages) // 2 + 1))]


def changed(messages: list[pb.Message], number: int) -> list[pb.Message]:
    if not messages:
        return messages
    at = number % len(messages)
    other = pb.Message()
    other.CopyFrom(messages[at])
    other.extra_json = f'{{"n":{number}}}'
    return [*messages[:at], other, *messages[at + 1 :]]


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from([grown, grown, shortened, changed]), st.integers(0, 60)), max_size=5))
def test_recognised_messages_make_no_difference(steps: list[tuple[Step, int]]) -> None:
    """Histories that grow, shrink and change in the middle get the same answers as on a server that reads it all."""
    history = [message for number in range(24) for message in work(number, timed=bool(number % 2))]
    histories = [history]
    for step, number in steps:
        histories.append(step(histories[-1], 100 + number))
    asyncio.run(both_answers(histories))


async def test_what_was_recognised_and_is_gone_is_read() -> None:
    """Between the look at a session and the append another client may have rewound it."""
    engine = engine_of(Behind)
    await engine.start()
    async with running(engine) as server:
        history = [message for number in range(24) for message in work(number)]
        first = await server.condense.PruneMessages(whole(history))
        stale = Engine.recollect(engine, "s")
        other = await server.condense.PruneMessages(whole(changed(history, 3)))
        assert other.transcript_etag != first.transcript_etag
        engine.told = stale
        again = await server.condense.PruneMessages(whole(history))
        assert (again.transcript_etag, again.messages) == (first.transcript_etag, first.messages)
    await engine.close(0)


async def test_a_fault_behind_recognised_messages_is_named_by_its_place() -> None:
    """The index counts from the first message of the delta, not from the first that was read."""
    async with running() as server:
        history = [message for number in range(24) for message in work(number)]
        await server.condense.PruneMessages(whole(history))
        found = await failure(server.condense.PruneMessages(whole([*history, pb.Message()])))
        assert found.metadata["messageIndex"] == "48"
        assert found.violations[0][0] == "delta.messages.messages[48].kind"
