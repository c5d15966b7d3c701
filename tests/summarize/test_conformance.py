"""What every summarizer must do, held by models over the wire, and by the engine's work ahead in front of them."""

from collections.abc import AsyncIterator

import pytest

from condense_grpc.engine.background import Background
from condense_grpc.engine.ports import Summarizer
from condense_grpc.settings import load_server_settings
from condense_grpc.summarize.setup import set_up
from condense_grpc.testing.fake_llm import FakeLlm
from condense_grpc.testing.fake_llm.behaviours import flapping, normal
from condense_grpc.testing.fakes import FakeClock
from condense_grpc.testing.summarizer_conformance import SummarizerConformance
from tests.summarize.wire import PROVIDERS


@pytest.mark.parametrize("provider", PROVIDERS)
class TestModels(SummarizerConformance):
    """A model that answers well."""

    @pytest.fixture
    async def summarizer(self, provider: str) -> AsyncIterator[Summarizer]:
        async with FakeLlm(normal()) as llm:
            given = {"summarizer": PROVIDERS[provider], "summarizer_base_url": llm.base_url(provider)}
            summaries = set_up(load_server_settings(given), {}, FakeClock())
            yield summaries.summarizer
            await summaries.close()


class TestModelsThatComeAndGo(SummarizerConformance):
    """A model that is down half of the time, with a stand-in, behind the work ahead."""

    @pytest.fixture
    async def summarizer(self) -> AsyncIterator[Summarizer]:
        async with FakeLlm(flapping(2)) as llm, FakeLlm(flapping(3)) as spare:
            given = {
                "summarizer": PROVIDERS["openai-chat"],
                "summarizer_base_url": llm.base_url(),
                "summarizer_retries": 0,
                "fallback": "ollama:spare",
                "fallback_base_url": spare.base_url(),
            }
            summaries = set_up(load_server_settings(given), {}, FakeClock())
            yield Background(summaries.summarizer, 4)
            await summaries.close()
