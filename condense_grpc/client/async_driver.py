"""Carries out steps on a `grpc.aio.Channel`, on asyncio. Knows nothing of what they are for."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, TypeVar

import grpc
import grpc.aio

from condense_grpc.api.condense.v1.capabilities_service_pb2_grpc import CapabilitiesServiceStub
from condense_grpc.api.condense.v1.condense_service_pb2_grpc import CondenseServiceStub
from condense_grpc.api.condense.v1.session_service_pb2_grpc import SessionServiceStub
from condense_grpc.client.errors import error_of
from condense_grpc.client.steps import Emit, Open, Receive, Send, Step, Steps, Wait

R = TypeVar("R")


class AsyncDriver:
    """Carries out steps on a channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stubs = (CondenseServiceStub(channel), SessionServiceStub(channel), CapabilitiesServiceStub(channel))

    async def run(self, steps: Steps[R]) -> R:
        """Runs a conversation that emits nothing, and returns its result."""
        try:
            step = next(steps)
            while True:
                try:
                    outcome = await self._carry_out(step)
                except grpc.RpcError as failure:
                    step = steps.throw(error_of(failure))
                else:
                    step = steps.send(outcome)
        except StopIteration as end:
            result: R = end.value
            return result
        finally:
            steps.close()

    async def iterate(self, steps: Steps[None]) -> AsyncGenerator[Any, None]:
        """Runs a conversation and yields what it emits. Closing it cancels the open stream."""
        stream: Any = None
        try:
            step = next(steps)
            while True:
                if isinstance(step, Emit):
                    yield step.value
                    step = next(steps)
                    continue
                try:
                    outcome = await self._carry_out(step)
                except grpc.RpcError as failure:
                    step = steps.throw(error_of(failure))
                    continue
                stream = outcome if isinstance(step, Open) else stream
                step = steps.send(outcome)
        except StopIteration:
            return
        finally:
            if stream is not None:
                stream.cancel()
            steps.close()

    async def _carry_out(self, step: Step) -> Any:
        match step:
            case Send():
                call = self._find_call(step.method)
                return await call(step.request, timeout=step.timeout_seconds, metadata=step.metadata)
            case Open():
                return self._find_call(step.method)(step.request, timeout=step.timeout_seconds, metadata=step.metadata)
            case Receive():
                message = await step.stream.read()
                return None if message is grpc.aio.EOF else message
            case Wait():
                return await asyncio.sleep(step.seconds)
            case Emit():
                raise AssertionError("a conversation that emits has to be iterated")

    def _find_call(self, method: str) -> Any:
        return next(getattr(stub, method) for stub in self._stubs if hasattr(stub, method))
