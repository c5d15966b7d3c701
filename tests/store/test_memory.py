from collections.abc import AsyncIterator

import pytest

from condense_grpc.engine.ports import Store
from condense_grpc.errors import StoreUnavailable
from condense_grpc.store.memory import MemoryStore
from condense_grpc.testing.store_conformance import StoreConformance


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = MemoryStore()
    await store.open()
    yield store
    await store.close()


class TestMemoryStore(StoreConformance):
    pass


async def test_closed_store_is_unavailable(store: Store) -> None:
    """Before `open` and after `close` no call does anything."""
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.read_row("s")
