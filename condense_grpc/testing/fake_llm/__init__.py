"""A model provider that is none: an HTTP server that speaks real wire formats and behaves as it is told.

It answers like OpenAI (chat completions and Responses), Anthropic and Gemini, streamed, with summaries that it makes
of the request without any model; or it is slow, silent, broken or wrong in one of the ways in which providers are.
For tests of clients of models, and for runs of a whole server without a key.

    async with FakeLlm(behaviours.normal()) as llm:
        ...  # base URL: llm.base_url("openai-chat")

`python -m condense_grpc.testing.fake_llm --behaviour normal` runs one until it is stopped. Standard library only.
"""

from condense_grpc.testing.fake_llm.behaviours import BEHAVIOURS, Behaviour
from condense_grpc.testing.fake_llm.exchange import Exchange, Received
from condense_grpc.testing.fake_llm.server import FakeLlm

__all__ = ["BEHAVIOURS", "Behaviour", "Exchange", "FakeLlm", "Received"]
