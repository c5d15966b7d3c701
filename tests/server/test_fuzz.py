"""Whatever a client sends, the server answers or refuses; no request is a defect of the server."""

import asyncio
from collections.abc import Iterator
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.server.app import CAPABILITIES, CONDENSE, SESSIONS
from tests.server.running import Running, failure_of, running

METHODS = [(service, method) for service in (CONDENSE, SESSIONS, CAPABILITIES) for method in service.methods]
NAMES = ["s", "s1", "", "a\0b", "x" * 600, "é" * 512]
TEXTS = st.one_of(
    st.sampled_from(
        [
            *NAMES,
            "t1",
            "c1",
            "c1@5",
            "{}",
            '{"a":1}',
            '{"a":NaN}',
            '{"path":"\\ud800"}',
            "[" * 5000,
            '{"a":' * 300 + "1" + "}" * 300,
            "1" * 5000,
            "config.enabled",
            "labels",
            "x" * 70_000,
            "\u2028\x1b[31m",
        ]
    ),
    st.text(alphabet=st.characters(codec="utf-8"), max_size=30),
)
NUMBERS = st.one_of(st.sampled_from([0, 1, 2, 3, -1, 99, 2**31 - 1, -(2**31)]))
LARGE = st.one_of(NUMBERS, st.sampled_from([2**63 - 1, -(2**63), 253_402_300_799_999, 1_700_000_000_000]))
FLOATS = st.one_of(st.sampled_from([0.0, 0.5, 1.0, -1.0, 2.0, float("nan"), float("inf")]))
SCALARS = {
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
    FieldDescriptor.CPPTYPE_INT32: NUMBERS,
    FieldDescriptor.CPPTYPE_INT64: LARGE,
    FieldDescriptor.CPPTYPE_DOUBLE: FLOATS,
    FieldDescriptor.CPPTYPE_ENUM: st.sampled_from([0, 1, 2, 3, 7, 99, -1]),
}


def scalars(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.sampled_from([b"", b"[]", b"\xff" * 10])
    if field.name == "session_id":
        return st.sampled_from(["s", "s", "s", *NAMES])
    return TEXTS if field.cpp_type == FieldDescriptor.CPPTYPE_STRING else SCALARS[field.cpp_type]


@st.composite
def messages(draw: Any, descriptor: Any, depth: int = 0) -> Any:
    """A message of a type, filled at random; deep ones stay small."""
    message = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        likely = field.name in ("session_id", "delta", "create_if_missing", "messages", "kind", "payload")
        if not draw(st.booleans()) and not (likely and draw(st.booleans())):
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            for name, value in draw(st.dictionaries(TEXTS, TEXTS, max_size=2)).items():
                getattr(message, field.name)[name] = value
        elif field.message_type is not None and field.is_repeated:
            size = draw(st.integers(0, 6 if depth < 2 else 2))
            inner = [draw(messages(field.message_type, depth + 1)) for _ in range(size)]
            getattr(message, field.name).extend(inner)
        elif field.message_type is not None:
            getattr(message, field.name).CopyFrom(draw(messages(field.message_type, depth + 1)))
        elif field.is_repeated:
            getattr(message, field.name).extend(draw(st.lists(scalars(field), max_size=3)))
        else:
            setattr(message, field.name, draw(scalars(field)))
    return message


class Fuzzed:
    """A server on a loop of its own, called from a test that is not asynchronous."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._context = running()
        self.server: Running = self._runner.run(self._context.__aenter__())

    def close(self) -> None:
        self._runner.run(self._context.__aexit__(None, None, None))
        self._runner.close()

    def send(self, service: Any, method: Any, requests: list[bytes]) -> str:
        """Call a method; OK, or the reason of the failure."""
        return self._runner.run(self._send(f"/{service.full_name}/{method.name}", method, requests))

    async def _send(self, name: str, method: Any, requests: list[bytes]) -> str:
        channel = self.server.channel
        try:
            if method.client_streaming:
                await channel.stream_unary(name)(iter(requests), timeout=30)
            elif method.server_streaming:
                stays = method.name == "WatchSession"
                async for _ in channel.unary_stream(name)(requests[0], timeout=0.2 if stays else 30):
                    pass
            else:
                await channel.unary_unary(name)(requests[0], timeout=30)
        except grpc.aio.AioRpcError as error:
            if method.name == "WatchSession" and error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                return "OPEN"
            return failure_of(error).reason
        return "OK"


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[Fuzzed]:
    server = Fuzzed()
    yield server
    server.close()


@given(st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_ends_in_a_defect(fuzzed: Fuzzed, data: Any) -> None:
    service, method = data.draw(st.sampled_from(METHODS))
    count = data.draw(st.integers(0, 3)) if method.client_streaming else 1
    requests = [data.draw(messages(method.input_type)).SerializeToString() for _ in range(count)]
    reason = fuzzed.send(service, method, requests)
    assert reason not in ("INTERNAL", "STORE_UNAVAILABLE")


@given(st.binary(max_size=40), st.sampled_from(METHODS))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_bytes_that_are_no_message_are_refused_or_mean_nothing(fuzzed: Fuzzed, garbage: bytes, method: Any) -> None:
    assert fuzzed.send(*method, [garbage]) not in ("INTERNAL", "STORE_UNAVAILABLE")
