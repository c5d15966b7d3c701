"""One session through any order of calls with plausible content: never a defect, and nothing that was sent is lost."""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from typing import Any

import grpc.aio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.api.condense.v1 import (
    diagnostics_pb2,
    flush_event_pb2,
    message_pb2,
    query_pb2,
    session_pb2,
    tool_call_pb2,
    view_pb2,
)
from tests.server.running import delta, failure_of, running

DEEP = [("[" * depth + "]" * depth) for depth in (50, 300, 480, 900, 990, 5000)]
JSON = st.sampled_from(
    [
        "",
        "{}",
        '{"path":"/a/b.py"}',
        '{"path":"\\ud800","n":1.0}',
        '{"a":1,"a":2}',
        "not json",
        "1" * 5000,
        '{"n":' + "9" * 5000 + "}",
        "NaN",
        "null",
        '"text"',
        *DEEP,
    ]
)
OBJECTS = st.sampled_from(["", "{}", '{"stop":"x","n":1.50}', '{"a":"\\ud800"}', '{"n":1e999}', '{"role":"user"}'])
TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            " \n",
            "ok",
            "x" * 2000,
            "word " * 900,
            "\0\x1b[31m\u2028\ufeff",
            "[[1:bash]] t1 </compressed-chain>",
            "line\n" * 3000,
            "é" * 70_000,
            "y" * 70_000,
        ]
    ),
    st.text(alphabet=st.characters(codec="utf-8"), max_size=40),
)
IDS = st.sampled_from(["", "a", "b", "t1", "a@5", "bash:0", "é" * 600])
NAMES = st.sampled_from(["bash", "read", "", "context_tree_query", "x\ny"])
TIMES = st.one_of(st.none(), st.sampled_from([0, 1, 5, -62_135_596_800_000, 253_402_300_799_999]), st.integers(1, 50))


@st.composite
def parts(draw: Any, *, with_calls: bool = False) -> list[message_pb2.Part]:
    found = []
    for kind in draw(st.lists(st.sampled_from(["text", "text", "thinking", "image", "opaque", "call"]), max_size=3)):
        extra = draw(OBJECTS)
        match kind:
            case "text":
                part = message_pb2.Part(text=message_pb2.TextPart(text=draw(TEXTS)), extra_json=extra)
            case "thinking":
                thinking = message_pb2.ThinkingPart(text=draw(TEXTS), signature="sig", redacted=draw(st.booleans()))
                part = message_pb2.Part(thinking=thinking, extra_json=extra)
            case "image":
                part = message_pb2.Part(image=message_pb2.ImagePart(media_type="image/png", data=b"\x89PNG"))
            case "opaque":
                part = message_pb2.Part(opaque=message_pb2.OpaquePart(type="audio", json=draw(JSON)))
            case _:
                call = message_pb2.ToolCallPart(id=draw(IDS), name=draw(NAMES), arguments_json=draw(JSON))
                part = message_pb2.Part(tool_call=call, extra_json=extra)
        found.append(part)
    return found


@st.composite
def plausible(draw: Any) -> message_pb2.Message:
    message = message_pb2.Message(extra_json=draw(OBJECTS))
    time = draw(TIMES)
    if time is not None:
        message.timestamp_ms = time
    content = draw(parts())
    match draw(st.sampled_from(["user", "assistant", "assistant", "tool_result", "tool_result", "custom"])):
        case "user":
            message.user.CopyFrom(message_pb2.UserMessage(parts=content))
        case "assistant":
            message.assistant.CopyFrom(message_pb2.AssistantMessage(parts=content))
        case "tool_result":
            message.tool_result.CopyFrom(
                message_pb2.ToolResultMessage(
                    tool_call_id=draw(IDS), tool_name=draw(NAMES), parts=content, is_error=draw(st.booleans())
                )
            )
        case _:
            message.custom.CopyFrom(
                message_pb2.CustomMessage(role="notice", custom_type="x", parts=content, display=True)
            )
    return message


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(plausible(), min_size=1, max_size=6), st.integers(0, 100)),
        st.tuples(st.just("prune"), st.sampled_from([1, 2, 3]), st.booleans()),
        st.tuples(st.just("flush"), st.booleans(), st.booleans()),
        st.tuples(st.just("compact"), st.none(), st.none()),
        st.tuples(st.just("query"), st.lists(st.one_of(IDS, st.sampled_from(["t2", "b1"])), max_size=3), st.none()),
        st.tuples(st.just("list"), st.integers(1, 3), st.none()),
        st.tuples(st.just("fork"), st.none(), st.none()),
    ),
    min_size=2,
    max_size=10,
)
LEGITIMATE = {"OK", "MESSAGE_INVALID", "FLUSH_IN_PROGRESS", "TRANSCRIPT_MISMATCH"}


class Walk:
    """One session on a server of its own loop."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._context = running()
        self._running = self._runner.run(self._context.__aenter__())
        self._number = 0

    def close(self) -> None:
        self._runner.run(self._context.__aexit__(None, None, None))
        self._runner.close()

    def go(self, steps: list[Any]) -> None:
        self._number += 1
        self._runner.run(self._go(f"walk {self._number}", steps))

    async def prune(self, request: view_pb2.PruneMessagesRequest) -> view_pb2.PruneMessagesResponse:
        answer: view_pb2.PruneMessagesResponse = await self._running.condense.PruneMessages(request)
        return answer

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        self._runner.run(work)

    async def _go(self, session_id: str, steps: list[Any]) -> None:
        sent: list[message_pb2.Message] = []
        await self._running.sessions.CreateSession(session_pb2.CreateSessionRequest(session_id=session_id))
        for kind, first, second in steps:
            try:
                await self._step(session_id, sent, kind, first, second)
            except grpc.aio.AioRpcError as error:
                assert failure_of(error).reason in LEGITIMATE
        await self._nothing_is_lost(session_id, sent)

    async def _step(self, session_id: str, sent: list[Any], kind: str, first: Any, second: Any) -> None:
        condense, sessions = self._running.condense, self._running.sessions
        match kind:
            case "append":
                base = min(second, len(sent))
                request = view_pb2.PruneMessagesRequest(session_id=session_id, delta=delta(*first, base=base))
                await condense.PruneMessages(request)
                sent[base:] = first
            case "prune":
                request = view_pb2.PruneMessagesRequest(session_id=session_id, view=first, dry_run=second)
                await condense.PruneMessages(request)
            case "flush":
                request = flush_event_pb2.FlushBatchesRequest(session_id=session_id, compact=first, attach=second)
                events = [answer.event async for answer in condense.FlushBatches(request)]
                assert events[-1].WhichOneof("event") == "completed"
            case "compact":
                async for _ in condense.CompactChains(flush_event_pb2.CompactChainsRequest(session_id=session_id)):
                    pass
            case "query":
                await condense.QueryToolCall(query_pb2.QueryToolCallRequest(session_id=session_id, refs=first))
                for ref in first:
                    request = query_pb2.ReadToolResultRequest(session_id=session_id, ref=ref)
                    assert [chunk async for chunk in condense.ReadToolResult(request)]
            case "list":
                token, pages = "", 0
                while (token or not pages) and pages < 100:
                    request = tool_call_pb2.ListToolCallsRequest(
                        session_id=session_id, page_size=first, page_token=token
                    )
                    token, pages = (await sessions.ListToolCalls(request)).next_page_token, pages + 1
                await condense.GetDiagnostics(diagnostics_pb2.GetDiagnosticsRequest(session_id=session_id))
            case _:
                await sessions.ForkSession(session_pb2.ForkSessionRequest(session_id=session_id))

    async def _nothing_is_lost(self, session_id: str, sent: list[message_pb2.Message]) -> None:
        """The transcript has all that was sent; without edits the full view is what was sent, byte for byte."""
        update = session_pb2.UpdateSessionRequest(session_id=session_id)
        update.config.enabled = False
        await self._running.sessions.UpdateSession(update)
        request = view_pb2.PruneMessagesRequest(session_id=session_id, view=view_pb2.VIEW_FULL)
        shown = (await self._running.condense.PruneMessages(request)).messages
        assert len(shown) == len(sent)
        for one, other in zip(sent, shown, strict=True):
            if not one.HasField("timestamp_ms"):
                other.ClearField("timestamp_ms")
            assert one == other


class Faults(logging.Handler):
    """What was logged as a warning or worse: a flush in the background, which no call waits for, must be sound too."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


@pytest.fixture(scope="module")
def walk() -> Iterator[Walk]:
    faults, logger = Faults(), logging.getLogger()
    logger.addHandler(faults)
    server = Walk()
    yield server
    server.close()
    logger.removeHandler(faults)
    assert faults.texts == []


@given(STEPS)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_order_of_calls_is_answered_and_loses_nothing(walk: Walk, steps: list[Any]) -> None:
    walk.go(steps)


@given(st.lists(plausible(), max_size=8))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_retried_delta_changes_nothing(walk: Walk, messages: list[message_pb2.Message]) -> None:
    async def twice() -> None:
        request = view_pb2.PruneMessagesRequest(session_id="retry", delta=delta(*messages))
        first, again = await walk.prune(request), await walk.prune(request)
        assert (first.transcript_length, first.transcript_etag) == (again.transcript_length, again.transcript_etag)

    walk.run(twice())
