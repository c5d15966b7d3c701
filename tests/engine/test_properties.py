"""What must hold whatever is done: random histories, settings and operations."""

import asyncio
from typing import Any

from hypothesis import given

from condense_grpc.engine.engine import EngineOptions
from condense_grpc.testing.fakes import FakeSummarizer
from tests.engine import generated as op
from tests.engine.driver import Driver
from tests.engine.harness import NEVER, World


async def run(config: dict[str, Any], program: list[Any]) -> None:
    options = EngineOptions(write_delay_seconds=NEVER, sessions_kept=3, concurrency=2)
    driver = Driver(World(summarizer=FakeSummarizer(can_fuse=True), options=options))
    await driver.start(config)
    try:
        for operation in program:
            await driver.do(operation)
    finally:
        await driver.world.engine.close(0)


@given(op.configs, op.programs)
def test_a_session_keeps_its_promises(config: dict[str, Any], program: list[Any]) -> None:
    """Nothing is lost, nothing is torn, nothing changes unannounced, and a restart changes nothing."""
    asyncio.run(run(config, program))
