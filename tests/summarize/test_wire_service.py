"""Models as a whole service: fallback, cancellation, cost, secrets, budgets, what stands on the wire."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from condense_grpc.engine.background import MOST_WASTED
from condense_grpc.engine.requests import FlushRequest
from condense_grpc.summarize.fallback import PROBE_COOLDOWN_MS
from condense_grpc.testing.fake_llm import BEHAVIOURS, Behaviour, Exchange, FakeLlm
from condense_grpc.testing.fake_llm.behaviours import cut, dying, failing, normal, saying, summary_of, truncated
from tests.summarize.wire import PROVIDERS, Service, output_of, service, soon, talking_to

KINDS = pytest.mark.parametrize("provider", PROVIDERS)
STAND_IN = "ollama:stand-in"


@asynccontextmanager
async def with_spare(
    behaviour: Behaviour, spare_behaviour: Behaviour, provider: str = "openai-chat", **settings: Any
) -> AsyncIterator[tuple[Service, FakeLlm, FakeLlm]]:
    """A service with a fallback, and the fakes behind both of its models."""
    async with FakeLlm(behaviour) as main, FakeLlm(spare_behaviour) as spare:
        given = {"fallback": STAND_IN, "fallback_base_url": spare.base_url()} | settings
        async with service(main, provider, **given) as agent:
            yield agent, main, spare


# Fallback


@KINDS
async def test_an_outage_is_bridged_announced_once_and_ends_by_one_probe(provider: str) -> None:
    """The stand-in takes over in the same flush; the chosen model is asked again after the cooldown, once."""
    own = PROVIDERS[provider]
    async with with_spare(failing(503), normal(), provider) as (agent, main, _):
        await agent.work(2)
        first = await agent.flush()
        assert first.outcomes == ["summarized"] * 2
        assert first.notices == [
            ("warning", f"{own} does not answer as it should; {STAND_IN} writes the summaries until it does")
        ]
        assert sorted(first.writers) == sorted([own, STAND_IN] * 2)
        health = (await agent.diagnostics()).summarizer
        assert (health.name, health.fallback, health.in_fallback) == (own, STAND_IN, True)
        assert health.last_probe_ms == agent.clock.now_ms()

        await agent.work()
        second = await agent.flush()
        assert (second.notices, second.writers) == ([], [STAND_IN])
        assert len(main.received) == 2

        main.behaviour = normal()
        agent.clock.advance(PROBE_COOLDOWN_MS)
        await agent.work(3)
        third = await agent.flush()
        assert third.outcomes == ["summarized"] * 3
        assert third.notices == [("info", f"{own} is back and writes the summaries again")]
        assert len(main.received) == 3
        assert not (await agent.diagnostics()).summarizer.in_fallback


async def test_when_both_are_down_nothing_is_lost_and_the_third_flush_does_without() -> None:
    """Batches stay pending twice; then the built-in extractive summary stands for them."""
    async with with_spare(cut(), failing(500)) as (agent, _, _):
        await agent.work()
        for _ in range(2):
            flushed = await agent.flush()
            assert (flushed.outcomes, flushed.reasons) == (["failed"], ["server-error"])
            assert await agent.view() == await agent.raw()
        assert (await agent.diagnostics()).summarizer.announcement_owed
        flushed = await agent.flush()
        assert flushed.outcomes == ["extractive"]
        assert "`t1` bash" in await agent.view()


async def test_a_model_that_dies_in_the_middle_of_a_flush_costs_only_its_later_batches() -> None:
    """What was summarized stays; the rest is summarized when it is back."""
    async with talking_to(dying(2), summarize_concurrency=1) as (agent, llm):
        await agent.work(4)
        flushed = await agent.flush()
        assert sorted(flushed.outcomes) == ["failed"] * 2 + ["summarized"] * 2
        assert flushed.outcome == "summarized"
        llm.behaviour = normal()
        assert (await agent.flush()).outcomes == ["summarized"] * 2
        assert await agent.states() == ["summarized"] * 4


async def test_a_session_can_choose_its_own_model_and_falls_back_on_the_servers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its choice first, then the server's fallback, here the server's own model."""
    config = {"summarizer_model": "anthropic:other"}
    settings: dict[str, Any] = {"env": {"ANTHROPIC_API_KEY": "k-env"}, "summarizer_models": ["anthropic:other"]}
    async with FakeLlm(failing(500)) as other:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", other.base_url("anthropic"))
        async with talking_to(normal(), config=config, **settings) as (agent, _):
            await agent.work()
            flushed = await agent.flush()
            assert flushed.outcomes == ["summarized"]
            assert flushed.writers == ["anthropic:other", "openai-chat:gpt-test"]
            assert "k-env" in str(other.received[0].headers)


# Cancellation


@KINDS
async def test_a_flush_that_is_left_hangs_up_on_the_provider(provider: str) -> None:
    """Nothing is paid that nobody reads; the batch is pending again."""
    begun = asyncio.Event()

    async def behave(exchange: Exchange) -> None:
        await exchange.text("- ")
        begun.set()
        await exchange.gone()

    async with talking_to(behave, provider) as (agent, llm):
        await agent.work()
        events = agent.engine.flush(FlushRequest("s"))

        async def follow() -> None:
            async for _ in events:
                pass

        task = asyncio.create_task(follow())
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await soon(lambda: llm.abandoned == 1)
        assert await agent.states() == ["pending"]
        llm.behaviour = normal()
        assert (await agent.flush()).outcomes == ["summarized"]


async def test_messages_that_arrive_during_a_slow_flush_wait_for_the_next_one() -> None:
    """The session is not locked while the model writes."""
    gate, reached = asyncio.Event(), asyncio.Event()

    async def behave(exchange: Exchange) -> None:
        await exchange.begin()
        reached.set()
        await gate.wait()
        await normal()(exchange)

    config = {"summarizer_idle_timeout_ms": 0}
    async with talking_to(behave, config=config) as (agent, _):
        await agent.work()
        flush = asyncio.create_task(agent.flush())
        await reached.wait()
        await agent.work()
        assert "file_39" in await agent.view()
        gate.set()
        assert (await flush).outcomes == ["summarized"]
        assert await agent.states() == ["summarized", "pending"]


# Usage and cost


@KINDS
async def test_cost_is_known_where_a_price_is(provider: str) -> None:
    """Per call, per session; what came to nothing is part of it and told apart."""
    prices = [f"{PROVIDERS[provider]}=1/10"]
    async with talking_to(normal(), provider, summarizer_prices=prices) as (agent, llm):
        await agent.work()
        usage = (await agent.flush()).batches[0].usage
        assert usage is not None
        assert usage.cost == pytest.approx((usage.input_tokens + 10 * usage.output_tokens) / 1e6)
        llm.behaviour = truncated()
        await agent.work()
        wasted = (await agent.flush()).batches[0].wasted
        assert wasted is not None
        assert wasted.cost
        stats = (await agent.diagnostics()).stats
        assert (stats.call_count, stats.unpriced_calls) == (1, 0)
        assert stats.wasted_cost == pytest.approx(wasted.cost)
        assert stats.total_cost == pytest.approx(usage.cost + wasted.cost)


async def test_an_answer_without_usage_is_no_free_answer() -> None:
    """Some servers tell none: tokens are 0, and the cost is unknown even if the price is known."""

    async def behave(exchange: Exchange) -> None:
        await exchange.text(summary_of(exchange.received.prompt))
        await exchange.finish(tokens=None)

    async with talking_to(behave, summarizer_prices=[f"{PROVIDERS['openai-chat']}=1/10"]) as (agent, _):
        await agent.work()
        usage = (await agent.flush()).batches[0].usage
        assert usage is not None
        assert (usage.input_tokens, usage.cost) == (0, None)
        assert (await agent.diagnostics()).stats.unpriced_calls == 1


# What is sent


@KINDS
async def test_secrets_do_not_leave_the_server(provider: str) -> None:
    """The model gets a mark, the count is told, the original is as it was."""
    secret = "AK" + "IAIOSFODNN7EXAMPLE"
    async with talking_to(normal(), provider) as (agent, llm):
        await agent.work(text=f"key={secret}\n" + output_of(1))
        flushed = await agent.flush()
        assert secret not in str(llm.received[0].body)
        assert "[redacted:aws-key]" in llm.received[0].prompt
        assert flushed.batches[0].check is not None
        assert flushed.batches[0].check.redactions == 1
        assert secret in (await agent.engine.query("s", ["t1"], [])).text
    async with talking_to(normal(), provider, redact=False) as (agent, llm):
        await agent.work(text=f"key={secret}\n" + output_of(1))
        await agent.flush()
        assert secret in llm.received[0].prompt


def failing_hook(text: str) -> str:
    raise RuntimeError(text)


async def test_a_hook_that_fails_sends_nothing() -> None:
    """Better no summary than a leak."""
    async with talking_to(normal(), redact_function=f"{__name__}:failing_hook") as (agent, llm):
        await agent.work()
        assert (await agent.flush()).reasons == ["redaction-failed"]
        assert llm.received == []


@KINDS
async def test_the_request_is_prose_in_one_message_with_the_settings_of_session_and_server(provider: str) -> None:
    """No tool blocks, no history; the output budget; reasoning only if it was asked for."""
    async with talking_to(normal(), provider, summarizer_output_tokens=777) as (agent, llm):
        await agent.work()
        await agent.flush()
        body = llm.received[0].body
        messages = body.get("messages") or body.get("input") or body["contents"]
        assert [message["role"] for message in messages] == ["user"]
        assert "tools" not in body
        assert "777" in str(body)
        assert not {"reasoning", "reasoning_effort", "thinking"} & set(body)


@pytest.mark.parametrize(
    ("name", "level", "member", "value"),
    [
        ("openai-chat:gpt-5-mini", "low", "reasoning_effort", "low"),
        ("openai:gpt-5-mini", "high", "reasoning", {"effort": "high"}),
    ],
)
async def test_the_thinking_level_reaches_the_wire(name: str, level: str, member: str, value: Any) -> None:
    """For models that reason; others are not bothered with it."""
    provider = name.partition(":")[0]
    async with FakeLlm(normal()) as llm:
        settings = {"summarizer": name}
        async with service(llm, provider, {"summarizer_thinking": level}, **settings) as agent:
            await agent.work()
            await agent.flush()
            sent = llm.received[0].body[member]
            assert sent == value or value.items() <= sent.items()


@pytest.mark.parametrize("provider", ["openai-chat", "anthropic"])
async def test_the_key_comes_from_a_file(provider: str, tmp_path: Path) -> None:
    """And goes into the header of that provider."""
    (tmp_path / "key").write_text("k-123\n")
    async with talking_to(normal(), provider, summarizer_api_key_file=str(tmp_path / "key")) as (agent, llm):
        await agent.work()
        await agent.flush()
        headers = llm.received[0].headers
        assert "k-123" in (headers.get("authorization", "") + headers.get("x-api-key", ""))


async def test_a_batch_is_made_to_fit() -> None:
    """Whatever the results are like, the request stays within the budget."""
    async with talking_to(normal(), summarizer_batch_chars=5_000) as (agent, llm):
        await agent.work(text=output_of(1) * 20)
        assert (await agent.flush()).outcomes == ["summarized"]
        payload = llm.received[0].prompt.partition("<tool-call-batch>\n")[2]
        assert len(payload) < 5_100
        assert "characters omitted" in payload


# Chains


async def test_the_summaries_of_a_chain_are_fused_by_the_model() -> None:
    """Their refs stay; what the model makes up of refs does not."""

    async def behave(exchange: Exchange) -> None:
        is_fusing = "<sub-task-summaries>" in exchange.received.prompt
        await (saying("- `t1` `t2` checked, see `t99`") if is_fusing else normal())(exchange)

    config = {"chain_compression": {"rolling_window": 0}}
    async with talking_to(behave, config=config) as (agent, _):
        await agent.work(2)
        await agent.end_chain()
        flushed = await agent.flush()
        assert flushed.outcome == "summarized"
        view = await agent.view()
        assert "- `t1` `t2` checked, see" in view
        assert "t99" not in view
        assert (await agent.diagnostics()).stats.ranges_summarized == 1


async def test_a_chain_whose_fusing_fails_keeps_its_summaries() -> None:
    """And the stream says so."""

    async def behave(exchange: Exchange) -> None:
        is_fusing = "<sub-task-summaries>" in exchange.received.prompt
        await (saying("") if is_fusing else normal())(exchange)

    config = {"chain_compression": {"rolling_window": 0}}
    async with talking_to(behave, config=config) as (agent, _):
        await agent.work(2)
        await agent.end_chain()
        flushed = await agent.flush()
        assert ("warning", "the summaries of a chain stay as they are: empty") in flushed.notices
        assert "src/module_1/file_0.py: checked, 0 warnings" in await agent.view()


# In the background


async def test_summaries_made_ahead_are_taken_by_the_next_flush() -> None:
    """It waits for nothing, and nothing is asked twice."""
    async with talking_to(normal(), summarize_in_background=True) as (agent, llm):
        await agent.work(2)
        await soon(lambda: agent.engine._tools.background.counts("s").begun == 2)
        await _all_answered(agent, llm, 2)
        llm.behaviour = BEHAVIOURS["silent"]()
        flushed = await agent.flush()
        assert flushed.outcomes == ["summarized"] * 2
        assert flushed.writers == ["openai-chat:gpt-test"] * 2
        background = (await agent.diagnostics()).background
        assert background is not None
        assert (background.begun, background.used, background.discarded) == (2, 2, 0)
        assert len(llm.received) == 2


async def test_a_flush_follows_what_is_still_being_made() -> None:
    """And tells of it as of any other."""
    gate, reached = asyncio.Event(), asyncio.Event()

    async def behave(exchange: Exchange) -> None:
        await exchange.begin()
        reached.set()
        await gate.wait()
        await normal()(exchange)

    config = {"summarizer_idle_timeout_ms": 0}
    async with talking_to(behave, config=config, summarize_in_background=True) as (agent, llm):
        await agent.work()
        await reached.wait()
        flush = asyncio.create_task(agent.flush())
        await soon(lambda: agent.engine._flushing.desk.running("s") is not None)
        gate.set()
        assert (await flush).outcomes == ["summarized"]
        assert len(llm.received) == 1


async def test_what_is_not_the_same_any_more_is_discarded_and_paid_for() -> None:
    """A rewind takes the batch away: its summary is never shown, its cost is."""
    prices = [f"{PROVIDERS['openai-chat']}=1/10"]
    async with talking_to(normal(), summarize_in_background=True, summarizer_prices=prices) as (agent, llm):
        await agent.work()
        await _all_answered(agent, llm, 1)
        await agent.rewind(1)
        await agent.work(text=output_of(77))
        await _all_answered(agent, llm, 2)
        flushed = await agent.flush()
        assert flushed.outcomes == ["summarized"]
        assert "module_77" in flushed.batches[0].text
        report = await agent.diagnostics()
        assert report.background is not None
        assert (report.background.used, report.background.discarded) == (1, 1)
        assert report.stats.wasted_cost > 0


async def test_a_failure_in_the_background_costs_nothing_but_itself() -> None:
    """The flush asks for itself; people hear of an outage then."""
    async with with_spare(failing(500), failing(500), summarize_in_background=True) as (agent, _, spare):
        await agent.work()
        await soon(lambda: len(spare.received) == 1)
        spare.behaviour = normal()
        flushed = await agent.flush()
        assert flushed.outcomes == ["summarized"]
        assert [level for level, _ in flushed.notices] == ["warning"]


async def test_work_for_nothing_is_bounded() -> None:
    """A session whose summaries nobody takes is left alone."""
    async with talking_to(normal(), summarize_in_background=True) as (agent, _):
        for number in range(MOST_WASTED + 4):
            await agent.work(text=output_of(number))
            await asyncio.gather(*agent.engine._flushing._looking.values())
            await agent.rewind(1)
            await asyncio.gather(*agent.engine._flushing._looking.values())
        background = (await agent.diagnostics()).background
        assert background is not None
        assert background.begun == background.discarded == MOST_WASTED
        await agent.work()
        assert (await agent.flush()).outcomes == ["summarized"]


async def test_sessions_without_a_model_are_not_worked_for() -> None:
    """The built-in summarizer is as fast when it is asked."""
    config = {"summarizer_model": "extractive"}
    async with talking_to(normal(), config=config, summarize_in_background=True) as (agent, llm):
        await agent.work()
        assert agent.engine._flushing._looking == {}
        assert (await agent.flush()).writers == ["extractive"]
        assert llm.received == []


async def _all_answered(agent: Any, llm: FakeLlm, count: int) -> None:
    """Wait until so many requests have come, and everything that was begun ahead has ended."""
    await soon(lambda: len(llm.received) == count)
    background = agent.engine._tools.background
    for session in background._sessions.values():
        await asyncio.gather(*(one.task for one in session.prepared.values() if one.task))
