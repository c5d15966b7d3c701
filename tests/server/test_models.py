"""Models behind a real server: what is offered, what is refused, and what a client sees of their work."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest

from condense_grpc.api.condense.v1 import (
    capabilities_pb2,
    capabilities_service_pb2_grpc,
    condense_service_pb2_grpc,
    config_pb2,
    diagnostics_pb2,
    flush_event_pb2,
    flush_pb2,
    message_pb2,
    session_pb2,
    session_service_pb2_grpc,
    transcript_pb2,
)
from condense_grpc.server.app import CondenseServer
from condense_grpc.server.composition import compose
from condense_grpc.settings import load_server_settings
from condense_grpc.testing.fake_llm import Behaviour, FakeLlm
from condense_grpc.testing.fake_llm.behaviours import normal, truncated
from tests.server.running import failure_of

NAME = "openai-chat:small"


@asynccontextmanager
async def served(behaviour: Behaviour, **given: Any) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a server as its settings compose it, whose model is the fake."""
    async with FakeLlm(behaviour) as llm:
        own = {"listen": "127.0.0.1:0", "store": "memory:", "summarizer": NAME, "summarizer_base_url": llm.base_url()}
        settings = load_server_settings(own | given)
        composition = compose(settings)
        await composition.engine.start()
        server = CondenseServer(composition, settings)
        try:
            async with grpc.aio.insecure_channel(await server.start()) as channel:
                yield channel
        finally:
            await server.stop(0)
            await composition.engine.close(0)
            await composition.close()


def session_config(**members: Any) -> config_pb2.SessionConfig:
    return config_pb2.SessionConfig(prune_on=config_pb2.PRUNE_ON_ON_DEMAND, min_batch_chars=0, **members)


def a_turn() -> list[message_pb2.Message]:
    call = message_pb2.Part(tool_call=message_pb2.ToolCallPart(id="c1", name="bash", arguments_json="{}"))
    out = message_pb2.Part(text=message_pb2.TextPart(text="a line of output\n" * 60))
    return [
        message_pb2.Message(assistant=message_pb2.AssistantMessage(parts=[call])),
        message_pb2.Message(
            tool_result=message_pb2.ToolResultMessage(tool_call_id="c1", tool_name="bash", parts=[out])
        ),
    ]


async def flushed(channel: grpc.aio.Channel, **members: Any) -> list[flush_event_pb2.FlushEvent]:
    delta = transcript_pb2.TranscriptDelta(messages={"messages": a_turn()}, create_if_missing=True)
    request = flush_event_pb2.FlushBatchesRequest(session_id="s", delta=delta, config=session_config(**members))
    stub = condense_service_pb2_grpc.CondenseServiceStub(channel)
    return [answer.event async for answer in stub.FlushBatches(request)]


async def diagnostics(channel: grpc.aio.Channel) -> diagnostics_pb2.GetDiagnosticsResponse:
    stub = condense_service_pb2_grpc.CondenseServiceStub(channel)
    answer: diagnostics_pb2.GetDiagnosticsResponse = await stub.GetDiagnostics(
        diagnostics_pb2.GetDiagnosticsRequest(session_id="s")
    )
    return answer


async def test_models_are_listed_and_others_refused() -> None:
    """With what there is; a slash is as good as a colon."""
    async with served(normal(), summarizer_models=["ollama:*"]) as channel:
        capabilities = capabilities_service_pb2_grpc.CapabilitiesServiceStub(channel)
        answer = await capabilities.GetCapabilities(capabilities_pb2.GetCapabilitiesRequest())
        offered = [(one.name, one.is_default, one.is_remote) for one in answer.summarizers]
        assert offered == [("extractive", False, False), (NAME, True, True), ("ollama:*", False, True)]
        sessions = session_service_pb2_grpc.SessionServiceStub(channel)
        for name in (NAME, "openai-chat/small", "ollama:qwen3:8b", "ollama/qwen3", "extractive", "default"):
            await sessions.CreateSession(session_pb2.CreateSessionRequest(config=session_config(summarizer_model=name)))
        for name in ("openai-chat:large", "ollama:", "ollama:*", "anthropic:x", "small", "nothing/at/all"):
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await sessions.CreateSession(
                    session_pb2.CreateSessionRequest(config=session_config(summarizer_model=name))
                )
            failure = failure_of(raised.value)
            assert failure.reason == "SUMMARIZER_UNKNOWN"
            assert failure.metadata["available"] == f"default,extractive,{NAME},ollama:*"


async def test_a_client_sees_who_wrote_what_it_took_and_what_was_found() -> None:
    """In the stream and in the diagnostics; a cost that is not known is absent."""
    async with served(normal()) as channel:
        events = await flushed(channel)
        (started,) = (event.batch_started for event in events if event.HasField("batch_started"))
        (finished,) = (event.batch_finished for event in events if event.HasField("batch_finished"))
        assert started.summarizer == NAME
        assert finished.outcome == flush_pb2.BATCH_OUTCOME_SUMMARIZED
        assert finished.usage.input_tokens > 0
        assert not finished.usage.HasField("cost_usd")
        assert finished.HasField("check")
        assert not finished.HasField("wasted_usage")
        report = await diagnostics(channel)
        assert (report.summarizer.primary, report.summarizer.fallback) == (NAME, "")
        assert (report.stats.call_count, report.stats.unpriced_calls) == (1, 1)
        assert not report.stats.total.HasField("cost_usd")
        assert not report.summarizer.HasField("background")


async def test_a_client_sees_why_a_batch_failed_and_what_it_cost() -> None:
    """What came to nothing is part of the total."""
    async with served(truncated(), summarizer_prices=[f"{NAME}=1/1"], summarize_in_background=True) as channel:
        (finished,) = (one.batch_finished for one in await flushed(channel) if one.HasField("batch_finished"))
        assert finished.failure_reason == "length"
        assert finished.wasted_usage.cost_usd > 0
        report = await diagnostics(channel)
        assert report.stats.wasted.cost_usd == report.stats.total.cost_usd >= finished.wasted_usage.cost_usd
        kinds = [entry.kind for entry in report.entries]
        assert kinds == [diagnostics_pb2.DIAGNOSTIC_KIND_SUMMARY_FAILED]
        assert report.summarizer.HasField("background")
