"""One request to a model: how it ends, its two timers, and cancellation."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from condense_grpc.domain.messages import OpaquePart, TextPart, ThinkingPart
from condense_grpc.engine.ports import SummaryProgress, SummaryReply, Usage
from condense_grpc.summarize.attempt import (
    AttemptFailure,
    CredentialsRejected,
    FailureReason,
    ModelEvent,
    ModelReply,
    ModelRequest,
    ProviderFailed,
    StreamCut,
    attempt,
    ending_of,
    judge,
)
from condense_grpc.summarize.fallback import Ending
from condense_grpc.summarize.model_choice import Model
from tests.summarize.scripted_client import HANG, ScriptedClient, Step, progress, reply
from tests.summarize.virtual_time import run_virtually

MODEL = Model("prov", "small")
USAGE = Usage(1, 2, 0.5)
TIMED_OUT = AttemptFailure(FailureReason.TIMEOUT)


def run(client: Any, idle_ms: int = 0, max_ms: int = 0, max_reply_chars: int = 0) -> tuple[list[Any], float]:
    """All items of one attempt, and the virtual seconds that it took."""

    async def main() -> tuple[list[Any], float]:
        request = ModelRequest(MODEL, "prompt", idle_timeout_ms=idle_ms, max_reply_chars=max_reply_chars)
        items = [item async for item in attempt(client, request, max_ms)]
        return items, asyncio.get_running_loop().time()

    return run_virtually(main)


def test_progress_precedes_the_reply_and_never_repeats_itself() -> None:
    """A sign of life without new text is no progress."""
    items, _ = run(ScriptedClient([progress(0), progress(3), progress(3), progress(7), reply("summary")]))
    assert items == [SummaryProgress(3), SummaryProgress(7), SummaryReply("summary", Usage(1, 2, 0.5))]


def test_events_behind_the_reply_are_not_read() -> None:
    """The reply ends the attempt, and the stream is closed."""
    client = ScriptedClient([reply("summary"), ConnectionError()])
    items, _ = run(client)
    assert isinstance(items[-1], SummaryReply)
    assert client.closed == 1


@pytest.mark.parametrize(
    ("script", "failure", "ending"),
    [
        ([CredentialsRejected()], AttemptFailure(FailureReason.CREDENTIALS), Ending.AUTH),
        ([ConnectionResetError("secret")], AttemptFailure(FailureReason.CONNECTION, "ConnectionResetError"), None),
        ([progress(5), ValueError()], AttemptFailure(FailureReason.CONNECTION, "ValueError"), None),
        ([TimeoutError()], TIMED_OUT, None),
        ([progress(5)], AttemptFailure(FailureReason.NO_REPLY), None),
        (
            [ModelReply((), "error", None, "overloaded")],
            AttemptFailure(FailureReason.PROVIDER_ERROR, "overloaded"),
            None,
        ),
        ([reply("half a text", "error")], AttemptFailure(FailureReason.PROVIDER_ERROR, usage=USAGE), None),
        ([reply("half a text", "aborted")], AttemptFailure(FailureReason.ABORTED, usage=USAGE), None),
        ([reply("half a text", "length")], AttemptFailure(FailureReason.LENGTH, usage=USAGE), None),
        ([reply("a text", "tool-call")], AttemptFailure(FailureReason.TOOL_SYNTAX, usage=USAGE), None),
        ([reply("no", "refusal")], AttemptFailure(FailureReason.REFUSAL, usage=USAGE), None),
        ([reply(" \u00a0\n")], AttemptFailure(FailureReason.EMPTY, usage=USAGE), None),
        ([progress(5), StreamCut()], AttemptFailure(FailureReason.CUT), None),
        ([ProviderFailed(401)], AttemptFailure(FailureReason.UNAUTHORIZED, "401"), None),
        ([ProviderFailed(429, "slow_down", 7)], AttemptFailure(FailureReason.RATE_LIMITED, "slow_down", 7), None),
        ([ProviderFailed(503)], AttemptFailure(FailureReason.SERVER_ERROR, "503"), None),
        ([ProviderFailed(400, "bad")], AttemptFailure(FailureReason.REJECTED, "bad"), None),
        ([ProviderFailed(0, "overloaded")], AttemptFailure(FailureReason.PROVIDER_ERROR, "overloaded"), None),
    ],
)
def test_failures(script: Sequence[Step], failure: AttemptFailure, ending: Ending | None) -> None:
    """Only missing credentials are a lasting failure; no text of an error gets through."""
    items, _ = run(ScriptedClient(script))
    assert items[-1] == failure
    assert ending_of(failure) is (ending or Ending.TRANSIENT)


def test_an_answer_beyond_its_limit_is_abandoned() -> None:
    """A model that does not come to an end is not paid for to the end."""
    client = ScriptedClient([progress(50), progress(101), HANG])
    items, _ = run(client, max_reply_chars=100)
    assert items == [SummaryProgress(50), SummaryProgress(101), AttemptFailure(FailureReason.RUNAWAY)]
    assert client.closed == 1


def test_text_is_what_the_text_parts_say() -> None:
    """Thinking and unknown parts contribute nothing; nothing is trimmed."""
    parts = (ThinkingPart("hm"), TextPart(" a"), OpaquePart("tool_use", "{}"), TextPart("b\n"))
    assert judge(ModelReply(parts)) == SummaryReply(" a\nb\n")
    assert judge(ModelReply((ThinkingPart("hm"), OpaquePart("tool_use", "{}")))) == AttemptFailure(FailureReason.EMPTY)


def test_a_client_that_fails_before_it_streams_is_a_failure() -> None:
    """Errors of the call itself are judged like those of the stream."""

    class Refusing:
        def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            raise CredentialsRejected

    assert run(Refusing())[0] == [AttemptFailure(FailureReason.CREDENTIALS)]


def test_idle_timer_runs_before_the_first_event() -> None:
    """A model that never says anything times out."""
    client = ScriptedClient([HANG])
    assert run(client, idle_ms=20_000) == ([TIMED_OUT], 20.0)
    assert client.closed == 1


def test_every_event_arms_the_idle_timer_again() -> None:
    """Events without new text count too: thinking may take long."""
    slow: list[Step] = [15.0, progress(0), 15.0, progress(0), 15.0, progress(4), 15.0, reply("summary")]
    items, seconds = run(ScriptedClient(slow), idle_ms=20_000)
    assert isinstance(items[-1], SummaryReply)
    assert seconds == 60.0


def test_silence_after_an_event_times_out() -> None:
    """The idle timer counts from the last event."""
    assert run(ScriptedClient([15.0, progress(4), HANG]), idle_ms=20_000) == ([SummaryProgress(4), TIMED_OUT], 35.0)


def test_total_timer_ends_a_stream_that_never_is_idle() -> None:
    """A model that babbles for ever times out, too."""
    babble: list[Step] = [step for _ in range(50) for step in (1.0, progress(1))]
    assert run(ScriptedClient(babble), idle_ms=5_000, max_ms=30_500) == ([SummaryProgress(1), TIMED_OUT], 30.5)


def test_zero_turns_timers_off() -> None:
    """Without timers a reply may take a day."""
    items, seconds = run(ScriptedClient([86_400.0, reply("summary")]))
    assert isinstance(items[-1], SummaryReply)
    assert seconds == 86_400.0


def test_time_of_the_consumer_is_not_idle_time() -> None:
    """A slow reader of the progress does not make the model look dead."""

    async def main() -> list[Any]:
        client = ScriptedClient([progress(1), 1.0, reply("summary")])
        items = []
        async for item in attempt(client, ModelRequest(MODEL, "", idle_timeout_ms=2_000), 0):
            items.append(item)
            await asyncio.sleep(60)
        return items

    assert isinstance(run_virtually(main)[-1], SummaryReply)


class Stubborn:
    """Turns a cancellation into something else, as clients that wrap everything do."""

    def __init__(self, *, wraps: bool) -> None:
        self._wraps = wraps

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        try:
            await asyncio.sleep(HANG)
        except asyncio.CancelledError:
            if self._wraps:
                raise ConnectionError("request failed") from None
        yield reply("too late")


@pytest.mark.parametrize("client", [ScriptedClient([HANG]), Stubborn(wraps=True), Stubborn(wraps=False)])
def test_cancellation_is_passed_on_and_never_judged(client: Any) -> None:
    """Also when the client swallows it or makes an error of it."""

    async def main() -> list[Any]:
        items: list[Any] = []

        async def consume() -> None:
            async for item in attempt(client, ModelRequest(MODEL, "", idle_timeout_ms=20_000), 0):
                items.append(item)

        task = asyncio.create_task(consume())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return items

    assert run_virtually(main) == []


@pytest.mark.parametrize("wraps", [True, False])
def test_a_timeout_that_the_client_swallows_is_a_timeout(wraps: bool) -> None:
    """What comes after the time is up does not count."""
    assert run(Stubborn(wraps=wraps), idle_ms=1_000) == ([TIMED_OUT], 1.0)


def test_a_consumer_that_leaves_closes_the_stream() -> None:
    """Abandoning the items abandons the request."""
    client = ScriptedClient([progress(1), HANG, reply("summary")])

    async def main() -> None:
        items = attempt(client, ModelRequest(MODEL, ""), 0)
        assert await anext(items) == SummaryProgress(1)
        await items.aclose()

    run_virtually(main)
    assert client.closed == 1


def test_a_connection_that_cannot_be_closed_does_not_cost_the_reply() -> None:
    """A reply is paid for: trouble behind it changes nothing."""

    class Clinging:
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            try:
                yield reply("summary")
            finally:
                await asyncio.sleep(HANG)

    assert run(Clinging()) == ([SummaryReply("summary", Usage(1, 2, 0.5))], 5.0)
