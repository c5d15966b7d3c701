from collections.abc import AsyncIterator

import pytest

from tests.engine.harness import World


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    await world.engine.close(0)
