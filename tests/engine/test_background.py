"""Summaries that are made ahead: who follows one and goes away leaves nothing behind."""

import asyncio

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.engine.background import _Prepared
from condense_grpc.engine.ports import SummaryRequest
from tests.engine.harness import passes


async def test_a_follower_that_is_cancelled_leaves_no_task_behind() -> None:
    """Neither does it stop the work that it followed."""
    prepared = _Prepared(SummaryRequest("s", Batch(0, 0, "", (Call("a", "bash", "{}", "text"),)), 100), b"key")
    prepared.task = asyncio.create_task(asyncio.Event().wait())
    before = asyncio.all_tasks()
    follower = asyncio.ensure_future(anext(prepared.follow()))
    await passes()
    follower.cancel()
    await asyncio.wait([follower])
    await passes()
    assert asyncio.all_tasks() == before
    prepared.task.cancel()
