"""The Summarizer port over models: targets, retry, notices, cancellation."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.domain.config import SessionConfig
from condense_grpc.engine.ports import (
    FuseRequest,
    Summarizer,
    SummaryAttempt,
    SummaryFailure,
    SummaryNotice,
    SummaryProgress,
    SummaryReply,
    SummaryRequest,
    Usage,
)
from condense_grpc.summarize.attempt import CredentialsRejected
from condense_grpc.summarize.fallback import PROBE_COOLDOWN_MS
from condense_grpc.summarize.model_choice import Model, Notice, NoticeCode
from condense_grpc.summarize.model_summarizer import ModelAccess, ModelSetup, ModelSummarizer
from tests.summarize.scripted_client import HANG, ScriptedClient, Step, progress, reply
from tests.summarize.virtual_time import run_virtually

SMALL = Model("prov", "small", "Small")
MAIN = Model("p", "main")
SETUP = ModelSetup(SessionConfig(summarizer_model="prov/small"), MAIN)
BATCH = Batch(1, 1000, "", (Call("a", "bash", "{}", "result"),))
USAGE = Usage(1, 2, 0.5)
ENTER = Notice(NoticeCode.FALLBACK_ENTER, ("Small", "p/main"))


class Bench:
    """A summarizer over a scripted client, with the notices it gave and a clock that stands."""

    def __init__(self, *scripts: Sequence[Step], setup: ModelSetup = SETUP) -> None:
        self.client = ScriptedClient(*scripts)
        self.notices: list[tuple[str, Notice]] = []
        self.now = 1_760_000_000_000
        models = {("prov", "small"): SMALL}
        access = ModelAccess(self.client, lambda *key: models.get(key), lambda session_id: setup)
        self.summarizer = ModelSummarizer("prov:small", access, self, lambda *notice: self.notices.append(notice))

    def now_ms(self) -> int:
        return self.now

    def flush(self, batches: int = 1, session_id: str = "s") -> list[Any]:
        """The last event of each of some batches, which are issued together and read one after the other."""

        async def main() -> list[Any]:
            request = SummaryRequest(session_id, BATCH, 4000)
            streams = [self.summarizer.summarize(request) for _ in range(batches)]
            return [[event async for event in stream][-1] for stream in streams]

        return run_virtually(main)


def test_it_is_a_summarizer() -> None:
    """The port's members, by type and by value."""
    summarizer: Summarizer = Bench().summarizer
    assert (summarizer.name, summarizer.can_fuse) == ("prov:small", True)


def test_targets_are_chosen_when_batches_are_issued() -> None:
    """Batches issued together all go to the chosen model, though the first one fails before the next is sent."""
    bench = Bench([ConnectionError()], [reply("a")], [ConnectionError()], [reply("b")])
    assert bench.flush(batches=2) == [SummaryReply("a", USAGE), SummaryReply("b", USAGE)]
    assert bench.client.models == ["small", "main", "small", "main"]
    assert bench.notices == [("s", ENTER)]


def test_one_probe_per_flush() -> None:
    """In an outage one batch of a flush tries the chosen model, once per cooldown."""
    bench = Bench([ConnectionError()], *[[reply("x")]] * 6)
    bench.flush()
    bench.now += PROBE_COOLDOWN_MS
    bench.flush(batches=3)
    assert bench.client.models[2:] == ["small", "main", "main"]
    assert not bench.summarizer.in_fallback("s")
    bench.flush()
    assert bench.client.models[-1] == "small"
    assert bench.notices[1:] == [("s", Notice(NoticeCode.FALLBACK_RECOVER, ("Small",)))]


def test_outages_belong_to_sessions() -> None:
    """What one session has met does not steer another one."""
    bench = Bench([ConnectionError()], [reply("a")], [reply("b")])
    bench.flush(session_id="s")
    bench.flush(session_id="other")
    assert bench.client.models == ["small", "main", "small"]
    assert (bench.summarizer.in_fallback("s"), bench.summarizer.in_fallback("other")) == (True, False)


def test_a_session_that_is_loaded_starts_without_an_outage() -> None:
    """Forgetting twice is harmless."""
    bench = Bench([ConnectionError()], [reply("a")], [reply("b")])
    bench.flush()
    bench.summarizer.forget("s")
    bench.summarizer.forget("s")
    bench.flush()
    assert bench.client.models == ["small", "main", "small"]


def test_an_unusable_reply_is_retried_and_its_failure_reported_once() -> None:
    """The failure that counts is the one of the last attempt."""
    bench = Bench([reply("")], [reply("cut", "length")])
    assert bench.flush() == [SummaryFailure("length", wasted=Usage(2, 4, 1.0))]
    assert bench.notices == [("s", Notice(NoticeCode.LLM_FAILED))]


def test_a_timeout_is_a_warning() -> None:
    """With the timers of the session's settings; each attempt has its own."""
    config = replace(SETUP.config, summarizer_idle_timeout_ms=1_000)
    bench = Bench([HANG], [0.9, progress(1), 0.9, reply("late")], setup=replace(SETUP, config=config))
    assert bench.flush() == [SummaryReply("late", USAGE)]
    bench = Bench([HANG], [HANG], setup=replace(SETUP, config=config))
    assert bench.flush() == [SummaryFailure("timeout")]
    assert bench.notices == [("s", Notice(NoticeCode.LLM_TIMEOUT))]


def test_credentials_are_not_retried() -> None:
    """They will not be better in a moment."""
    bench = Bench([CredentialsRejected()])
    assert bench.flush() == [SummaryFailure("credentials")]
    assert not bench.summarizer.in_fallback("s")


def test_fallback_can_be_turned_off() -> None:
    """Then batches never reach another model."""
    bench = Bench([ConnectionError()], setup=replace(SETUP, use_fallback=False))
    assert bench.flush() == [SummaryFailure("connection")]
    assert bench.client.models == ["small"]


def test_without_any_model_nothing_is_sent() -> None:
    """A failure like others: the batch stays pending."""
    bench = Bench(setup=ModelSetup(SessionConfig(), None))
    assert bench.flush() == [SummaryFailure("no-model")]
    assert bench.client.requests == []


def test_what_is_sent() -> None:
    """The payload, bounded per result, the thinking option, and the idle limit for the connection."""
    config = replace(SETUP.config, summarizer_thinking="off", summarizer_idle_timeout_ms=7)
    bench = Bench([reply("a")], setup=replace(SETUP, config=config))
    long = Batch(1, 1000, "", (Call("a", "bash", "{}", "x" * 5000),))

    async def main() -> None:
        assert [event async for event in bench.summarizer.summarize(SummaryRequest("s", long, 1000))]

    run_virtually(main)
    (request,) = bench.client.requests
    assert request.effort is not None
    assert (request.effort.level, request.idle_timeout_ms) == (None, 7)
    assert "characters omitted" in request.prompt.partition("<tool-call-batch>\n")[2]
    assert len(request.prompt.partition("<tool-call-batch>\n")[2]) < 1200


def test_progress_of_both_attempts_is_shown() -> None:
    """Fusing takes the same way; a retry starts to count anew."""
    bench = Bench([progress(9), ConnectionError()], [progress(4), reply("fused")])

    async def main() -> list[Any]:
        return [event async for event in bench.summarizer.fuse(FuseRequest("s", "texts"))]

    assert run_virtually(main) == [
        SummaryAttempt("Small"),
        SummaryProgress(9),
        SummaryAttempt("p/main"),
        SummaryProgress(4),
        SummaryNotice("warning", ENTER.text),
        SummaryReply("fused", USAGE),
    ]
    assert "<sub-task-summaries>\ntexts\n" in bench.client.requests[0].prompt


def test_cancellation_reaches_the_client_and_leaves_no_trace() -> None:
    """No retry, no notice, no outage."""
    bench = Bench([progress(1), HANG])

    async def consume() -> None:
        async for _ in bench.summarizer.summarize(SummaryRequest("s", BATCH, 4000)):
            pass

    async def main() -> None:
        task = asyncio.create_task(consume())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtually(main)
    assert (bench.client.models, bench.client.closed, bench.notices) == (["small"], 1, [])
    assert not bench.summarizer.in_fallback("s")


def test_a_reader_that_leaves_closes_the_request() -> None:
    """Closing the events is enough; nothing waits for the model."""
    bench = Bench([progress(1), HANG])

    async def main() -> None:
        events = bench.summarizer.summarize(SummaryRequest("s", BATCH, 4000))
        assert await anext(events) == SummaryAttempt("Small")
        assert await anext(events) == SummaryProgress(1)
        await events.aclose()

    run_virtually(main)
    assert bench.client.closed == 1
