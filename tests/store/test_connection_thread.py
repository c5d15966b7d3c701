"""Transactions on one thread: those that wait share a commit, and none suffers for another."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection, event, text

from condense_grpc.errors import StoreUnavailable
from condense_grpc.store import patience
from condense_grpc.store.connection_thread import ConnectionThread
from condense_grpc.store.errors import StoreLocked
from condense_grpc.store.sqlite import WRITER, WRITING
from tests.engine.harness import passes

T = TypeVar("T")


class Counted(ConnectionThread):
    """Counts its transactions, before each of which `before` is told its number, and commits. Can be kept busy."""

    def __init__(self, path: Path, most_shared: int, busy_timeout_ms: int = 0) -> None:
        timeout = {"busy_timeout_ms": busy_timeout_ms}
        super().__init__(path, begin=WRITING, pragmas=WRITER, **timeout, most_shared=most_shared)
        self.begun = self.commits = 0
        self.before: Callable[[int], object] = int
        self.is_held, self.go_on = threading.Event(), threading.Event()
        event.listen(self._engine, "commit", self._count)

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        self.begun += 1
        self.before(self.begun)
        return super()._transaction(work)

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


@pytest.fixture
def other(tmp_path: Path, thread: Counted) -> Iterator[sqlite3.Connection]:
    """Another program that can lock the database."""
    other = sqlite3.connect(tmp_path / "s.sqlite", isolation_level=None, check_same_thread=False)
    yield other
    thread.before = int
    other.close()


def locked_at(thread: Counted, other: sqlite3.Connection, number: int) -> None:
    """Have the database locked when this transaction is about to begin."""
    thread.before = lambda now: now == number and other.execute("BEGIN IMMEDIATE")


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
    thread.begun = thread.commits = 0
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


async def test_what_waits_for_a_locked_database_fails_together(thread: Counted, other: sqlite3.Connection) -> None:
    """However much it is: one has waited for all of them. When the lock is gone, everything goes on."""
    locked_at(thread, other, 1)
    tasks = await queued(thread, *range(25))
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(one) for one in found} == {StoreLocked} and len({*map(id, found)}) == 25
    assert thread.begun == 1
    with pytest.raises(StoreLocked):
        await thread.run(numbers)
    other.execute("ROLLBACK")
    assert await thread.run(lambda connection: add(7, connection)) == 7
    assert await thread.run(numbers) == [7]


async def test_one_that_is_taken_back_from_a_locked_database_was_not_made(
    thread: Counted, other: sqlite3.Connection
) -> None:
    """It is no error that nobody waits for it."""
    locked_at(thread, other, 1)
    holding = await held(thread)
    tasks = [asyncio.create_task(thread.run(lambda connection, n=n: add(n, connection))) for n in range(25)]
    await passes()
    for taken_back in (tasks[3], tasks[20]):
        taken_back.cancel()
        await asyncio.wait([taken_back])
    thread.begun = 0
    thread.go_on.set()
    await holding
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert [n for n, one in enumerate(found) if not isinstance(one, StoreLocked)] == [3, 20]
    other.execute("ROLLBACK")
    assert await thread.run(numbers) == []


async def test_a_lock_that_comes_between_keeps_what_was_committed(thread: Counted, other: sqlite3.Connection) -> None:
    """Of those that are run by themselves after one has failed, the rest fails together."""
    locked_at(thread, other, 3)
    tasks = await queued(thread, 1, 1, 2, 3, *range(10, 30))
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert found[0] == 1 and {type(one) for one in found[1:]} == {StoreLocked}
    assert thread.begun == 3
    other.execute("ROLLBACK")
    assert await thread.run(numbers) == [1]


async def test_a_lock_that_goes_while_it_is_waited_for_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What shares a transaction is made once, however often that was tried."""
    monkeypatch.setattr(patience, "_SLICE_MS", 1)
    thread, tries = Counted(tmp_path / "s.sqlite", most_shared=10, busy_timeout_ms=9), 0
    thread.run_here(lambda connection: connection.execute(text("CREATE TABLE t (n INTEGER PRIMARY KEY)")))
    other = sqlite3.connect(tmp_path / "s.sqlite", isolation_level=None, check_same_thread=False)
    locked_at(thread, other, 1)

    def let_go(_: Connection) -> None:
        nonlocal tries
        tries += 1
        if tries == 5:
            other.execute("ROLLBACK")

    event.listen(thread._engine, "engine_connect", let_go)
    tasks = await queued(thread, 1, 2, 3)
    assert await asyncio.gather(*tasks) == [1, 2, 3] and tries == 5
    assert await thread.run(numbers) == [1, 2, 3]
    other.close()
    thread.stop()
