"""The client of models over pydantic-ai: one streamed request to any provider, with a sign of life for every byte.

The library sends nothing twice (its retries are off), downloads nothing, and is only used below this module. What it
calls a success is looked at again: an answer without a reason to stop and without usage was cut off on its way.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any

from genai_prices import calc_price
from pydantic_ai import exceptions as failures
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelRequest as LibraryRequest,
)
from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.settings import ModelSettings

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import TextPart as Text
from condense_grpc.engine.ports import Usage
from condense_grpc.summarize.attempt import (
    CredentialsRejected,
    ModelEvent,
    ModelProgress,
    ModelReply,
    ModelRequest,
    ProviderFailed,
    StreamCut,
)
from condense_grpc.summarize.model_choice import Model
from condense_grpc.summarize.providers.connection import Tap, current_tap
from condense_grpc.summarize.providers.prices import Price

_USAGE_COMES_LAST = frozenset({"openai-chat", "ollama", "openrouter"})
_STOP_REASONS = {"length": "length", "content_filter": "refusal", "tool_call": "tool-call", "error": "error"}


@frozen
class ClientOptions:
    """What all requests have in common. `prices` of the operator by provider and model id."""

    output_tokens: int
    prices: Mapping[tuple[str, str], Price] = field(default_factory=dict)


class ProviderClient:
    """A ModelClient for every provider. `open_model` makes the library's model; None: there are no credentials.

    Models are made at their first request and kept.
    """

    def __init__(self, open_model: Callable[[Model], LibraryModel | None], options: ClientOptions) -> None:
        self._open_model = open_model
        self._options = options
        self._models: dict[tuple[str, str], LibraryModel | None] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See ModelClient."""
        call = _Call(self._options, request, self._model(request.model))
        task = asyncio.create_task(call.run())
        try:
            while (event := await call.arrivals.get()) is not None:
                yield event
            await task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task

    def _model(self, model: Model) -> LibraryModel:
        key = (model.provider, model.model_id)
        if key not in self._models:
            self._models[key] = self._open_model(model)
        found = self._models[key]
        if found is None:
            raise CredentialsRejected
        return found


class _Call:
    """One request. Runs in a task of its own, so that its bytes and its events can be told from each other.

    `arrivals` never holds more than one sign of life: progress that nobody has read yet stands for what follows.
    """

    def __init__(self, options: ClientOptions, request: ModelRequest, model: LibraryModel) -> None:
        self.arrivals: asyncio.Queue[ModelEvent | None] = asyncio.Queue()
        self._options = options
        self._request = request
        self._model = model
        self._received_chars = 0

    async def run(self) -> None:
        """Send the request and pass on what comes; the last thing that arrives is None."""
        tap = Tap(self._alive, self._request.idle_timeout_ms)
        current_tap.set(tap)
        try:
            self.arrivals.put_nowait(await self._exchange())
        except failures.ModelTimeoutError:
            raise TimeoutError from None
        except failures.ContentFilterError:
            self.arrivals.put_nowait(ModelReply((), "refusal"))
        except (failures.ModelAPIError, failures.UnexpectedModelBehavior) as error:
            raise failure_of(error) from None
        finally:
            self.arrivals.put_nowait(None)
            await tap.close()

    def _alive(self) -> None:
        if self.arrivals.empty():
            self.arrivals.put_nowait(ModelProgress(self._received_chars))

    async def _exchange(self) -> ModelReply:
        messages = [LibraryRequest.user_text_prompt(self._request.prompt)]
        settings = _settings(self._options, self._request)
        async with model_request_stream(self._model, messages, model_settings=settings, instrument=False) as stream:
            async for event in stream:
                self._received_chars += _text_chars(event)
                self._alive()
                # Events that came in one piece do not wait for anything: let the reader see them in between.
                await asyncio.sleep(0)
            return self._reply(stream.get())

    def _reply(self, response: ModelResponse) -> ModelReply:
        measured = not response.usage.unmeasured_requests and bool(response.usage.input_tokens)
        details = response.provider_details or {}
        is_told = details.get("finish_reason") is not None or response.finish_reason == "content_filter"
        # Some local servers give usage and no reason; usage comes last in these formats, so the answer is complete.
        if not is_told and not (measured and self._request.model.provider in _USAGE_COMES_LAST):
            raise StreamCut
        stop_reason = _STOP_REASONS.get(response.finish_reason or "", "stop")
        if any(isinstance(part, ToolCallPart) for part in response.parts):
            stop_reason = "tool-call"
        texts = tuple(Text(part.content) for part in response.parts if isinstance(part, TextPart))
        return ModelReply(texts, stop_reason, self._usage(response, measured=measured))

    def _usage(self, response: ModelResponse, *, measured: bool) -> Usage:
        """What it took; the cost is None when it cannot be known."""
        taken = response.usage
        if not measured:
            return Usage()
        price = self._options.prices.get((self._request.model.provider, self._request.model.model_id))
        cost = price.cost(taken.input_tokens, taken.output_tokens) if price else listed_cost(response)
        return Usage(taken.input_tokens, taken.output_tokens, cost)


def _settings(options: ClientOptions, request: ModelRequest) -> ModelSettings:
    settings = ModelSettings(max_tokens=options.output_tokens, max_retries=0)
    if request.effort is not None:
        level: Any = request.effort.level
        settings["thinking"] = False if level is None else level
    return settings


def _text_chars(event: Any) -> int:
    """How much text an event brings; thinking brings none."""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return len(event.part.content)
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return len(event.delta.content_delta)
    return 0


def listed_cost(response: ModelResponse) -> float | None:
    """What the provider says, or its price in the list; None when neither is known.

    The list is asked for the address that has answered: a server of one's own is not priced like the provider whose
    wire format it speaks.
    """
    if response.usage.cost is not None:
        return float(response.usage.cost)
    try:
        price = calc_price(
            response.usage,
            response.model_name or "",
            provider_api_url=response.provider_url,
            genai_request_timestamp=response.timestamp,
        )
        return float(price.total_price)
    except (LookupError, ValueError):
        return None


def failure_of(error: Exception) -> Exception:
    """The library's error as one of ours; its message, which may quote content, stays behind."""
    if isinstance(error, failures.ModelHTTPError):
        code = error.provider_error_code or error.provider_error_type or ""
        return ProviderFailed(error.status_code, code, error.retry_after)
    if isinstance(error, failures.ModelConnectionError):
        return ConnectionError(error.phase or "")
    code = getattr(error, "provider_error_type", None) or type(error).__name__
    return ProviderFailed(0, code, getattr(error, "retry_after", None))
