"""Transactions on one thread: those that wait share a commit, and none suffers for another."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, text

from condense_grpc.errors import StoreUnavailable
from condense_grpc.store.connection_thread import ConnectionThread
from condense_grpc.store.sqlite import WRITER, WRITING
from tests.engine.harness import passes


class Counted(ConnectionThread):
    """Counts its commits, and can be kept busy."""

    def __init__(self, path: Path, most_shared: int) -> None:
        super().__init__(path, begin=WRITING, pragmas=WRITER, busy_timeout_ms=0, most_shared=most_shared)
        self.commits = 0
        self.is_held, self.go_on = threading.Event(), threading.Event()
        event.listen(self._engine, "commit", self._count)

    def _count(self, connection: Connection) -> None:
        self.commits += 1

    def hold(self, connection: Connection) -> None:
        self.is_held.set()
        self.go_on.wait(10)


@pytest.fixture
def thread(tmp_path: Path) -> Iterator[Counted]:
    thread = Counted(tmp_path / "s.sqlite", most_shared=10)
    thread.run_here(lambda connection: connection.execute(text("CREATE TABLE t (n INTEGER PRIMARY KEY)")))
    yield thread
    thread.go_on.set()
    thread.stop()


def add(number: int, connection: Connection) -> int:
    connection.execute(text("INSERT INTO t VALUES (:n)"), {"n": number})
    return number


def numbers(connection: Connection) -> list[int]:
    return [row.n for row in connection.execute(text("SELECT n FROM t ORDER BY n"))]


async def held(thread: Counted) -> "asyncio.Task[None]":
    """Something that is running, until `go_on`."""
    holding = asyncio.create_task(thread.run(thread.hold))
    await asyncio.to_thread(thread.is_held.wait, 10)
    return holding


async def queued(thread: Counted, *given: int) -> list["asyncio.Task[int]"]:
    """Additions that all wait behind something that is running."""
    holding = await held(thread)
    tasks = [asyncio.create_task(thread.run(lambda connection, n=n: add(n, connection))) for n in given]
    await passes()
    thread.commits = 0
    thread.go_on.set()
    await holding
    return tasks


async def test_what_waits_shares_a_commit(thread: Counted) -> None:
    """As many as may, in their order; each has its own result."""
    tasks = await queued(thread, *range(25))
    assert await asyncio.gather(*tasks) == list(range(25))
    assert thread.commits <= 4
    assert await thread.run(numbers) == list(range(25))


async def test_one_that_fails_takes_nothing_from_the_others(thread: Counted) -> None:
    """Nor does it leave anything behind."""
    tasks = await queued(thread, 1, 2, 2, 3)
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert found[:2] == [1, 2] and found[3] == 3
    assert isinstance(found[2], StoreUnavailable)
    assert await thread.run(numbers) == [1, 2, 3]


async def test_one_that_is_taken_back_is_not_made(thread: Counted) -> None:
    """While the others are."""
    holding = await held(thread)
    tasks = [asyncio.create_task(thread.run(lambda connection, n=n: add(n, connection))) for n in (1, 2, 3)]
    await passes()
    tasks[1].cancel()
    await asyncio.wait([tasks[1]])
    thread.go_on.set()
    await asyncio.gather(holding, tasks[0], tasks[2])
    assert await thread.run(numbers) == [1, 3]
