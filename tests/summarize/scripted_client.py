"""A client of models that plays scripts: one for each request, in the order in which requests arrive.

A script is a list of steps: a number waits so many seconds (of virtual time), an exception is raised, everything
else is an event.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import TypeAlias

from condense_grpc.domain.messages import TextPart
from condense_grpc.engine.ports import Usage
from condense_grpc.summarize.attempt import ModelEvent, ModelProgress, ModelReply, ModelRequest

Step: TypeAlias = float | Exception | ModelEvent
HANG = 1e9


def reply(text: str, stop_reason: str = "stop") -> ModelReply:
    return ModelReply((TextPart(text),), stop_reason, Usage(1, 2, 0.5))


def progress(received_chars: int) -> ModelProgress:
    return ModelProgress(received_chars)


class ScriptedClient:
    def __init__(self, *scripts: Sequence[Step]) -> None:
        self._scripts = list(scripts)
        self.requests: list[ModelRequest] = []
        self.closed = 0

    @property
    def models(self) -> list[str]:
        return [request.model.model_id for request in self.requests]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        try:
            for step in self._scripts.pop(0):
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, float):
                    await asyncio.sleep(step)
                else:
                    yield step
        finally:
            self.closed += 1
