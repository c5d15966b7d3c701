"""Retries on the same model: what is tried again, how long is waited, and when it is left to the fallback."""

import asyncio
from typing import Any

from condense_grpc.engine.ports import SummaryProgress, SummaryReply, Usage
from condense_grpc.summarize.attempt import AttemptFailure, FailureReason, ModelRequest, ProviderFailed, StreamCut
from condense_grpc.summarize.model_choice import Model
from condense_grpc.summarize.retrying import RetryPolicy, attempts
from tests.summarize.scripted_client import HANG, ScriptedClient, progress, reply
from tests.summarize.virtual_time import run_virtually

TWICE = RetryPolicy(retries=2, draw=lambda: 1.0)
DONE = SummaryReply("summary", Usage(1, 2, 0.5))


def run(client: ScriptedClient, policy: RetryPolicy = TWICE, max_ms: int = 0) -> tuple[list[Any], float]:
    async def main() -> tuple[list[Any], float]:
        request = ModelRequest(Model("p", "m"), "prompt", idle_timeout_ms=5_000)
        items = [item async for item in attempts(client, request, max_ms, policy)]
        return items, asyncio.get_running_loop().time()

    return run_virtually(main)


def test_transient_failures_are_tried_again_with_growing_waits() -> None:
    """0.5 and 1 second with the largest jitter; progress begins anew."""
    client = ScriptedClient([progress(3), ConnectionError()], [ProviderFailed(503)], [progress(2), reply("summary")])
    assert run(client) == ([SummaryProgress(3), SummaryProgress(2), DONE], 1.5)


def test_jitter_takes_away_up_to_half() -> None:
    """So many clients do not come back together."""
    policy = RetryPolicy(retries=1, draw=lambda: 0.0)
    assert run(ScriptedClient([StreamCut()], [reply("summary")]), policy) == ([DONE], 0.25)


def test_retry_after_is_respected_and_jittered_upwards() -> None:
    """Nobody comes back earlier than asked."""
    client = ScriptedClient([ProviderFailed(429, "", 7.0)], [reply("summary")])
    assert run(client) == ([DONE], 7.25)


def test_a_wait_that_is_not_worth_it_is_left_to_the_fallback() -> None:
    """A provider that wants to be left alone for minutes, or for longer than the attempt may take."""
    client = ScriptedClient([ProviderFailed(429, "", 60.0)])
    assert run(client) == ([AttemptFailure(FailureReason.RATE_LIMITED, "429", 60.0)], 0.0)
    client = ScriptedClient([ProviderFailed(429, "", 9.0)])
    assert run(client, max_ms=9_000)[1] == 0.0


def test_what_will_not_pass_is_not_tried_again() -> None:
    """Neither rejected requests nor unusable replies, nor what has waited out a timer already."""
    for script in ([ProviderFailed(400)], [ProviderFailed(401)], [reply("cut", "length")], [HANG]):
        client = ScriptedClient(script)
        assert isinstance(run(client)[0][-1], AttemptFailure)
        assert len(client.requests) == 1


def test_all_tries_together_have_the_time_of_one_attempt() -> None:
    """The second try gets what the first one and the wait have left."""
    client = ScriptedClient([4.0, ConnectionError()], [HANG])
    items, seconds = run(client, max_ms=6_000)
    assert (items, seconds) == ([AttemptFailure(FailureReason.TIMEOUT)], 6.0)


def test_retries_end() -> None:
    """The last failure is the one that counts."""
    client = ScriptedClient(*[[ConnectionError()]] * 2, [ProviderFailed(500)])
    assert run(client)[0] == [AttemptFailure(FailureReason.SERVER_ERROR, "500")]
