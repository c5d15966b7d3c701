"""What every summarizer must do, as tests: the acceptance suite of the engine's Summarizer port.

    class TestMySummarizer(SummarizerConformance):
        @pytest.fixture
        def summarizer(self):
            return MySummarizer()

The tests need pytest and pytest-asyncio. They ask for summaries of small and of odd batches; a model behind the
summarizer should be a scripted one.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.domain.messages import ImagePart, TextPart
from condense_grpc.domain.text import is_blank
from condense_grpc.engine.ports import (
    FuseRequest,
    Summarizer,
    SummaryAttempt,
    SummaryEvent,
    SummaryFailure,
    SummaryProgress,
    SummaryReply,
    SummaryRequest,
)

_LONG = "\n".join(f"line {number}: building module {number}" for number in range(2_000))


def plain_batch() -> Batch:
    """Two calls as agents make them."""
    return Batch(
        turn_index=0,
        timestamp_ms=1_000,
        assistant_text="Let me look.",
        calls=(
            Call("call_1", "bash", '{"command": "make"}', _LONG, result_timestamp_ms=1_001),
            Call("call_2", "read", '{"path": "src/main.py"}', "def main():\n    pass\n", result_timestamp_ms=1_002),
        ),
    )


ODD_CALLS = {
    "empty": Call("a", "bash", "{}", ""),
    "blank": Call("a", "bash", "{}", " \n\t\n"),
    "without name": Call("", "", "", "text"),
    "arguments that are no JSON": Call("a", "bash", '{"command": "ls', "text"),
    "arguments that are no object": Call("a", "bash", "[1, null]", "text"),
    "one long line": Call("a", "bash", "{}", "x" * 300_000),
    "controls": Call("a", "bash", "{}", "\0\x1b[31mred\x1b[0m\x85\u2028\r\n\ufeff"),
    "lone surrogates": Call("a", "bash", '"\ud800"', "\ud800 \udfff"),
    "tags of ours": Call("a", "bash", "{}", "</tool-call-batch> [[1:bash]] {b1} `t1` <compressed-chain id="),
    "a failed call": Call("a", "bash", "{}", "error: no such file", is_error=True),
    "an image": Call("a", "look", "{}", "", parts=(TextPart(""), ImagePart("image/png", b"\0"))),
}


async def collect(events: AsyncIterator[SummaryEvent]) -> list[SummaryEvent]:
    """All events of a request."""
    return [event async for event in events]


def assert_well_formed(events: list[SummaryEvent]) -> SummaryReply | SummaryFailure:
    """The end of a request: the only event that is one, and a usable one."""
    *before, end = events
    assert not any(isinstance(event, SummaryReply | SummaryFailure) for event in before), "only the last event ends it"
    received = 0
    for event in before:
        if isinstance(event, SummaryAttempt):
            assert event.summarizer, "an attempt names who makes it"
            received = 0
        elif isinstance(event, SummaryProgress):
            assert event.received_chars >= received, "characters received never become fewer within an attempt"
            received = event.received_chars
    assert isinstance(end, SummaryReply | SummaryFailure)
    if isinstance(end, SummaryReply):
        assert not is_blank(end.text), "a blank text is a failure"
    else:
        assert end.reason, "a failure has a reason"
    return end


class SummarizerConformance:
    """Subclass it and provide the fixture `summarizer`."""

    pytestmark = pytest.mark.asyncio

    async def test_name_is_constant_and_not_empty(self, summarizer: Summarizer) -> None:
        """People are shown who wrote a summary."""
        assert summarizer.name
        assert summarizer.name == summarizer.name

    async def test_a_plain_batch_ends_by_one_reply_or_failure(self, summarizer: Summarizer) -> None:
        """Progress first, then one end."""
        assert_well_formed(await collect(summarizer.summarize(SummaryRequest("s", plain_batch(), 4_000))))

    @pytest.mark.parametrize("kind", ODD_CALLS)
    async def test_odd_results_never_raise(self, summarizer: Summarizer, kind: str) -> None:
        """Whatever a tool wrote, the answer is a reply or a failure."""
        batch = Batch(0, 1_000, "", (ODD_CALLS[kind],))
        assert_well_formed(await collect(summarizer.summarize(SummaryRequest("s", batch, 100))))

    async def test_requests_at_once_do_not_disturb_each_other(self, summarizer: Summarizer) -> None:
        """Many sessions share one summarizer."""
        streams = [summarizer.summarize(SummaryRequest(f"s{number}", plain_batch(), 4_000)) for number in range(8)]
        for events in await asyncio.gather(*map(collect, streams)):
            assert_well_formed(events)

    async def test_cancellation_is_passed_on(self, summarizer: Summarizer) -> None:
        """A request that is stopped ends at once, by the cancellation and not by a failure."""
        task = asyncio.ensure_future(collect(summarizer.summarize(SummaryRequest("s", plain_batch(), 4_000))))
        await asyncio.sleep(0)
        if task.done():
            pytest.skip("this summarizer never waits")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert_well_formed(await collect(summarizer.summarize(SummaryRequest("s", plain_batch(), 4_000))))

    async def test_fusing_ends_well_formed_and_fails_where_it_is_not_offered(self, summarizer: Summarizer) -> None:
        """`can_fuse` says what `fuse` is good for; asking all the same is no error."""
        request = FuseRequest("s", "- `t1` built\n\n- `t2` tested")
        end = assert_well_formed(await collect(summarizer.fuse(request)))
        assert summarizer.can_fuse or isinstance(end, SummaryFailure)
