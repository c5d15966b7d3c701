"""The shipped fakes keep the contracts that they stand for."""

import pytest

from condense_grpc.engine.ports import SummaryRequest
from condense_grpc.summarize.extractive import ExtractiveSummarizer
from condense_grpc.testing.fakes import Failure, FakeClock, FakeSummarizer, Reply
from condense_grpc.testing.summarizer_conformance import (
    SummarizerConformance,
    assert_well_formed,
    collect,
    plain_batch,
)


class TestFakeSummarizer(SummarizerConformance):
    @pytest.fixture(params=[Reply(progress=(1, 2)), Failure()])
    def summarizer(self, request: pytest.FixtureRequest) -> FakeSummarizer:
        return FakeSummarizer(request.param)


class TestFusingFakeSummarizer(SummarizerConformance):
    @pytest.fixture
    def summarizer(self) -> FakeSummarizer:
        return FakeSummarizer(can_fuse=True)


class TestExtractiveSummarizer(SummarizerConformance):
    @pytest.fixture
    def summarizer(self) -> ExtractiveSummarizer:
        return ExtractiveSummarizer()


async def test_a_script_is_played_in_order_of_the_requests() -> None:
    """Not in the order in which they are read."""
    summarizer = FakeSummarizer()
    summarizer.script(Failure("first"), Reply("second"))
    streams = [summarizer.summarize(SummaryRequest("s", plain_batch(), 100)) for _ in range(3)]
    ends = [assert_well_formed(await collect(stream)) for stream in reversed(streams)]
    assert [getattr(end, "text", None) for end in ends] == ["- [[1:bash]] ok\n- [[2:read]] ok", "second", None]


def test_the_clock_stands_still() -> None:
    """Until it is moved."""
    clock = FakeClock(5)
    assert clock.now_ms() == clock.now_ms() == 5
    clock.advance(3)
    assert clock.now_ms() == 8
