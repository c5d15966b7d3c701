"""The first request of a provider's client builds and imports for up to a second: that is done before a server starts.

Nothing is sent: the requests made here are answered in the process.
"""

import asyncio
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx2

from condense_grpc.summarize.attempt import ModelRequest
from condense_grpc.summarize.model_choice import Model
from condense_grpc.summarize.providers.client import ClientOptions, ProviderClient
from condense_grpc.summarize.providers.opening import ModelOpener

# One answer in the format whose client builds most: a type for each kind of event, when the first one comes.
_ANSWER = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": []}
_PLACE = {"item_id": "m", "output_index": 0, "content_index": 0}
_TEXT = {"type": "output_text", "text": "a", "annotations": []}
_ITEM = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [_TEXT]}
_THOUGHT = {"item_id": "t", "output_index": 0, "summary_index": 0}
_EVENTS: tuple[dict[str, Any], ...] = (
    {"type": "response.created", "response": _ANSWER | {"status": "in_progress"}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "t", "summary": []}},
    {"type": "response.reasoning_summary_text.delta", "delta": "a", **_THOUGHT},
    {"type": "response.output_item.added", "output_index": 0, "item": _ITEM},
    {"type": "response.content_part.added", "part": _TEXT, **_PLACE},
    {"type": "response.output_text.delta", "delta": "a", "logprobs": [], **_PLACE},
    {"type": "response.output_text.done", "text": "a", "logprobs": [], **_PLACE},
    {"type": "response.output_item.done", "output_index": 0, "item": _ITEM},
    {"type": "response.completed", "response": _ANSWER | {"status": "completed", "output": [_ITEM]}},
)
_STREAM = "".join(f"data: {json.dumps({'sequence_number': 0, **one})}\n\n" for one in _EVENTS)


def warm_up(opener: ModelOpener, models: Iterable[Model]) -> None:
    """Have every provider of these models import and build what it needs. Blocks, also inside of a running loop."""
    first = {model.provider: model for model in models}
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(_ask_all(opener, first.values()))).result()


async def _ask_all(opener: ModelOpener, models: Iterable[Model]) -> None:
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(_answer), timeout=60) as http:
        client = ProviderClient(replace(opener, http=http), ClientOptions(16))
        for model in models:
            with suppress(Exception):
                async for _ in client.stream(ModelRequest(model, "nothing")):
                    pass


def _answer(request: httpx2.Request) -> httpx2.Response:
    """A stream that one format understands and is over at once for the others."""
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text=_STREAM)
