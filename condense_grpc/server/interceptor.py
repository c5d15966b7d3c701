"""The one place where errors become statuses.

It stands around every call of this contract, unary or streaming. What the engine and the edge raise as CondenseError
is told as it is; everything else is a defect: the caller learns an incident's number and nothing more, and the log has
the same number with the classes and the places of the exceptions, but not their texts, which may hold content.
Cancellation passes through untouched.
"""

import logging
import secrets
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import grpc
import grpc.aio
from grpc_status import rpc_status

from condense_grpc.errors import CondenseError, NotImplementedYet
from condense_grpc.server.admission import Admission
from condense_grpc.server.status import internal_status, status_of

logger = logging.getLogger(__name__)

OURS = "/condense.v1."

Behaviour: TypeAlias = Callable[[Any, "grpc.aio.ServicerContext[Any, Any]"], Awaitable[Any]]
"""A method as `wire` makes them: a coroutine for every kind of call; those that stream answers write them."""


class ErrorInterceptor(grpc.aio.ServerInterceptor):
    """Translates errors and counts calls. `further`: by reason, metadata that the server adds to errors."""

    def __init__(self, admission: Admission, further: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self._admission = admission
        self._further = further or {}
        self._known: dict[str, Any] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Put the translation around the method."""
        method = handler_call_details.method
        known = self._known.get(method)
        if known is not None:
            return known
        handler = await continuation(handler_call_details)
        if not method.startswith(OURS):
            return handler
        if handler is None:
            return grpc.unary_unary_rpc_method_handler(self._answering(method, _unknown_method(method)))
        known = self._known[method] = self._translating(method, handler)
        return known

    def _translating(self, method: str, handler: Any) -> Any:
        if handler.request_streaming:
            return grpc.stream_unary_rpc_method_handler(self._answering(method, handler.stream_unary))
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(self._answering(method, handler.unary_stream))
        return grpc.unary_unary_rpc_method_handler(self._answering(method, handler.unary_unary))

    def _answering(self, method: str, behaviour: Behaviour) -> Any:
        async def answer(request: Any, context: "grpc.aio.ServicerContext[Any, Any]") -> Any:
            try:
                self._admission.enter()
                try:
                    return await behaviour(request, context)
                finally:
                    self._admission.leave()
            except CondenseError as error:
                status = status_of(error, self._further.get(error.reason))
            except grpc.aio.AbortError:
                raise
            except Exception as defect:
                status = internal_status(_logged(defect, method))
            return await context.abort_with_status(rpc_status.to_status(status))

        return answer


def _unknown_method(method: str) -> Behaviour:
    """What a newer client calls and this release does not have."""

    async def refuse(request: Any, context: "grpc.aio.ServicerContext[Any, Any]") -> Any:
        raise NotImplementedYet(method.removeprefix(OURS))

    return refuse


def _logged(defect: Exception, method: str) -> str:
    """Write a defect to the log and give it a number."""
    incident_id = secrets.token_hex(8)
    logger.error("incident %s in %s\n%s", incident_id, method, "\n".join(_places(defect)))
    return incident_id


def _places(defect: BaseException) -> list[str]:
    """Classes and places of an exception and of those behind it, innermost cause last."""
    lines: list[str] = []
    pending: list[BaseException] = [defect]
    seen: set[int] = set()
    while pending:
        one = pending.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        lines.append(f"{type(one).__module__}.{type(one).__qualname__}")
        lines += [line.rstrip() for line in traceback.format_tb(one.__traceback__)]
        pending += list(one.exceptions) if isinstance(one, BaseExceptionGroup) else []
        pending += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
    return lines
