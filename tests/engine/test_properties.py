"""What must hold whatever is done: random histories, settings and operations."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.engine import offloading
from condense_grpc.engine.engine import EngineOptions
from condense_grpc.engine.ports import Store
from condense_grpc.store.memory import MemoryStore
from condense_grpc.store.sqlite import SqliteStore
from condense_grpc.testing.fakes import FakeSummarizer
from tests.domain.histories import malformed_lists
from tests.engine import generated as op
from tests.engine.driver import Driver
from tests.engine.harness import NEVER, ToldStore, World


async def run(config: dict[str, Any], program: list[Any], store: Store | None = None) -> None:
    """Carry out a program on an engine that keeps few sessions and writes only what it must."""
    options = EngineOptions(write_delay_seconds=NEVER, sessions_kept=3, concurrency=2)
    told = ToldStore(store or MemoryStore())
    world = World(told, FakeSummarizer(can_fuse=True), options=options)
    driver = Driver(world)
    await driver.start(config)
    try:
        for operation in program:
            await driver.do(operation)
    finally:
        await world.engine.close(0)
        await told.inner.close()


@given(op.configs, op.programs)
def test_a_session_keeps_its_promises(config: dict[str, Any], program: list[Any]) -> None:
    """Nothing is lost, nothing is torn, nothing changes unannounced, and a restart changes nothing."""
    asyncio.run(run(config, program))


@given(op.configs, op.echoing_programs)
def test_so_it_does_for_a_host_that_sends_back_views(config: dict[str, Any], program: list[Any]) -> None:
    """In pieces, changed, mixed with what it has itself, and with other things done in between."""
    asyncio.run(run(config, program))


@settings(max_examples=max(settings().max_examples // 20, 5))
@given(op.configs, op.programs)
def test_so_it_does_on_disk(config: dict[str, Any], program: list[Any]) -> None:
    """The same with a real store."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(config, program, SqliteStore(Path(folder) / "sessions.db")))


@settings(max_examples=max(settings().max_examples // 10, 5))
@given(op.configs, op.programs)
def test_so_it_does_with_steps_in_threads(config: dict[str, Any], program: list[Any]) -> None:
    """The same where every step that can be is worked on aside, as those over many messages are."""
    with patch.object(offloading, "MANY_MESSAGES", -1):
        asyncio.run(run(config, program))


@settings(max_examples=settings().max_examples // 2)
@given(op.configs, st.lists(malformed_lists, min_size=1, max_size=3))
def test_whatever_a_host_calls_a_history_is_served(config: dict[str, Any], lists: list[list[Any]]) -> None:
    """Null entries, contents that are no lists, calls without names: treated as empty, never an error."""
    program: list[Any] = []
    for values in lists:
        program += [op.Append([message_from_pi(value) for value in values]), op.Flush()]
    asyncio.run(run(config, [*program, op.Restart(), op.Compact()]))
