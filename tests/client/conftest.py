"""A fake server per test, and both clients connected to it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.client.fake_server import FakeBackend, FakeServicer, serving
from tests.client.harness import connect


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def servicer(backend: FakeBackend) -> FakeServicer:
    return FakeServicer(backend)  # type: ignore[abstract]


@pytest.fixture
def target(servicer: FakeServicer) -> Iterator[str]:
    with serving(servicer) as address:
        yield address


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, target: str) -> Iterator[Any]:
    yield from connect(request.param, target)


@pytest.fixture
def session(client: Any) -> Any:
    return client.session("s1")
