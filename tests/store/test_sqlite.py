import asyncio
import logging
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, update

from condense_grpc.engine.ports import Changes, Store, StoredSession
from condense_grpc.errors import StoreUnavailable
from condense_grpc.store.errors import StoreDamaged, StoreLocked, StoreMoved, StorePathUnusable
from condense_grpc.store.schema import sessions
from condense_grpc.store.sqlite import SqliteStore
from condense_grpc.testing.store_conformance import StoreConformance
from condense_grpc.testing.store_samples import EVERY_BYTE, message, nodes_of, row_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions é %20?#.sqlite"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path)
    await store.open()
    yield store
    await store.close()


def content_of(path: Path) -> bytes:
    return path.read_bytes()


def damage(path: Path, at: int, content: bytes) -> None:
    path.touch()
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def taken_away(path: Path, *, is_replaced: bool = False) -> Path:
    elsewhere = path.rename(path.with_name("elsewhere"))
    if is_replaced:
        path.touch()
    return elsewhere


def remove_beside(path: Path) -> list[str]:
    """Remove the log and its index; the ends of their names."""
    found = sorted(file for file in path.parent.iterdir() if file.name.endswith(("-wal", "-shm")))
    for file in found:
        file.unlink()
    return [file.name.removeprefix(path.name) for file in found]


def put_back(elsewhere: Path, path: Path) -> None:
    elsewhere.rename(path)


def names_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


class TestSqliteStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _keep_path(self, path: Path) -> None:
        self.path = path

    async def reopen(self, store: Store) -> Store:
        await store.close()
        again = SqliteStore(self.path)
        await again.open()
        return again


async def test_call_on_a_store_that_is_not_open(path: Path) -> None:
    """Before `open` and after `close` nothing is done; opening again is possible."""
    store = SqliteStore(path)
    with pytest.raises(StoreUnavailable):
        await store.read_row("s")
    await store.close()
    await store.open()
    await store.open()
    await store.create(row_of("s"))
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.create(row_of("t"))
    await store.open()
    assert [row.session_id for row in [await store.read_row("s")] if row] == ["s"]
    await store.close()


async def test_files_are_private_and_few(store: SqliteStore, path: Path) -> None:
    """Only the user may read the database, its log and its lock; the log is gone after `close`."""
    await store.create(row_of("s"))
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    await store.close()
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name, path.name + ".lock"]


async def test_commits_are_durable(store: SqliteStore) -> None:
    """The connection that writes waits for the disk and checks what refers to what."""
    settings = {}
    for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete"):
        settings[name] = await store._write(partial(pragma, name))
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}


def pragma(name: str, connection: Connection) -> object:
    return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


async def test_deleted_content_is_not_in_the_file_and_its_space_is_used_again(store: SqliteStore, path: Path) -> None:
    """After a deletion the text is gone, and a session of the same size does not make the file larger."""
    marker = b"a marker that is nowhere else"
    sizes = []
    for n in range(3):
        row = await store.create(row_of(f"s{n}"))
        await store.write(Changes(row, [message(1, marker), *(message(i, EVERY_BYTE) for i in range(2, 2000))]))
        await store.delete(row.session_id)
        await store.close()
        content = content_of(path)
        sizes.append(len(content))
        assert marker not in content
        await store.open()
    assert sizes[0] == sizes[1] == sizes[2]


async def test_event_loop_runs_during_long_work(store: SqliteStore) -> None:
    """While the database works, however long, other tasks get their turns."""
    loop = asyncio.get_running_loop()

    async def turn() -> int:
        return 1

    def work(connection: Connection) -> int:
        return sum(asyncio.run_coroutine_threadsafe(turn(), loop).result(timeout=30) for _ in range(20))

    assert await store._write(work) == 20
    assert await store._read(work) == 20


async def test_reads_do_not_wait_for_a_write(store: SqliteStore) -> None:
    """A read that begins during a transaction shows the state before it."""
    row = await store.create(row_of("s"))
    during: list[object] = []

    def hold(connection: Connection) -> None:
        connection.execute(delete(sessions))
        future = asyncio.run_coroutine_threadsafe(store.read_row("s"), loop)
        during.append(future.result(timeout=30))

    loop = asyncio.get_running_loop()
    await store._write(hold)
    assert during == [row]
    assert await store.read_row("s") is None


async def test_cancelled_call_ends_with_its_transaction(store: SqliteStore) -> None:
    """Cancelled while the disk works, even twice: the task ends when the change is complete, and others go on."""
    row = await store.create(row_of("s"))
    running, go_on = threading.Event(), threading.Event()

    def hold(connection: Connection) -> None:
        running.set()
        go_on.wait(timeout=30)
        connection.execute(update(sessions).values(length=7))

    held = asyncio.create_task(store._write(hold))
    await asyncio.to_thread(running.wait, 30)
    waiting = [asyncio.create_task(store.write(Changes(replace(row, length=n), [message(n)]))) for n in (1, 2)]
    for _ in range(3):
        held.cancel()
        waiting[0].cancel()
        await asyncio.sleep(0)
        assert not held.done()
    await asyncio.wait([waiting[0]])
    go_on.set()
    await asyncio.wait([held])
    assert held.cancelled()
    assert waiting[0].cancelled()
    assert (await waiting[1]).version == 2
    assert await nodes_of(store, "s") == [2]


async def test_foreign_lock_is_unavailable_and_passes(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Another program in the middle of a write: the call fails after the timeout, and works when it is done."""
    store = SqliteStore(path, busy_timeout_ms=10)
    await store.open()
    row = await store.create(row_of("secret-id"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with caplog.at_level(logging.DEBUG, "condense_grpc"), pytest.raises(StoreLocked) as caught:
        await store.write(Changes(row, [message(1)]))
    assert "nothing is lost" in str(caught.value)
    assert caught.value.__cause__ is None
    assert [record.getMessage() for record in caplog.records] == ["store: OperationalError SQLITE_BUSY"]
    assert await store.read_row("secret-id") == row
    other.execute("ROLLBACK")
    other.close()
    await store.write(Changes(row, [message(1)]))
    assert await nodes_of(store, "secret-id") == [1]
    await store.close()


async def test_closing_waits_for_no_foreign_lock(path: Path) -> None:
    """What waits for it fails, however long it would have waited."""
    store = SqliteStore(path, busy_timeout_ms=10**9)
    await store.open()
    row = await store.create(row_of("s"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = [asyncio.create_task(store.write(Changes(row, [message(1)]))) for _ in range(2)]
    await asyncio.sleep(0)
    await store.close()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(one) for one in found] == [StoreLocked] * 2
    other.close()
    await store.open()
    assert await store.load("s") == StoredSession(row, [], [])
    await store.close()


@pytest.mark.parametrize("is_replaced", [False, True])
async def test_file_that_is_taken_away_is_not_written_to(
    store: SqliteStore, path: Path, is_replaced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody would find it again: calls fail until it is back. What is in it can be read, and no new file is made."""
    row = await store.create(row_of("s"))
    await store.write(Changes(row, [message(1)]))
    assert await store.load("s") is not None
    elsewhere = taken_away(path, is_replaced=is_replaced)
    for write in (store.write(Changes(row, [message(2)])), store.delete("s"), store.create(row_of("t"))):
        with pytest.raises(StoreMoved, match="put it back"):
            await write
    assert await store.read_bodies("s", [1]) == {1: b"body"}
    assert names_in(path.parent).count(path.name) == is_replaced and path.name not in caplog.text
    put_back(elsewhere, path)
    await store.write(Changes(replace(row, version=2), [message(2)]))
    assert await nodes_of(store, "s") == [1, 2]


async def test_file_that_is_taken_away_is_not_made_again_by_a_reader(store: SqliteStore, path: Path) -> None:
    """An empty database would say that there are no sessions."""
    taken_away(path)
    with pytest.raises(StoreMoved):
        await store.read_row("s")
    await store.close()
    assert path.name not in names_in(path.parent)


async def test_log_that_is_removed_is_not_written_to(store: SqliteStore, path: Path) -> None:
    """A crash would lose what is in it; an end in good order does not."""
    row = await store.create(row_of("s"))
    await store.write(Changes(row, [message(1)]))
    assert remove_beside(path) == ["-shm", "-wal"]
    for _ in range(2):
        with pytest.raises(StoreMoved):
            await store.write(Changes(replace(row, version=2), [message(2)]))
    await store.close()
    await store.open()
    assert await nodes_of(store, "s") == [1]
    await store.write(Changes(replace(row, version=2), [message(2)]))
    await store.write(Changes(replace(row, version=3), [message(3)]))


async def test_log_of_a_new_connection_may_be_another_one(store: SqliteStore, path: Path) -> None:
    """After a failure of the driver nobody may be connected for a moment, and the log begins anew."""
    row = await store.create(row_of("s"))
    await store.write(Changes(row, [message(1)]))
    for version in (2, 3):
        with pytest.raises(StoreUnavailable):
            await store._write(lambda connection: connection.exec_driver_sql("no SQL"))
        await store.write(Changes(replace(row, version=version), [message(version)]))
    assert await nodes_of(store, "s") == [1, 2, 3]


async def test_file_that_is_not_a_database(path: Path) -> None:
    """Something else under that name is refused and left as it is."""
    content = b"not a database at all\n" * 500
    damage(path, 0, content)
    with pytest.raises(StoreDamaged, match="damaged, or the file is not a database"):
        await SqliteStore(path).open()
    assert content_of(path) == content


async def test_damaged_page_is_reported_when_it_is_read(store: SqliteStore, path: Path) -> None:
    """Garbage in the middle of the file: a clear error for what lies there, never wrong content."""
    row = await store.create(row_of("s"))
    await store.write(Changes(row, [message(n, EVERY_BYTE * 8) for n in range(1, 500)]))
    await store.close()
    behind_the_first_tables = 30 * 4096
    damage(path, behind_the_first_tables, b"\xa5" * (len(content_of(path)) - behind_the_first_tables))
    await store.open()
    with pytest.raises(StoreDamaged):
        await store.read_bodies("s", range(1, 500))
    assert await store.read_row("unknown") is None


async def test_path_that_cannot_be_used(tmp_path: Path) -> None:
    """A folder that does not exist, or a folder in place of the file."""
    for path in (tmp_path / "none" / "s.sqlite", tmp_path):
        with pytest.raises(StorePathUnusable):
            await SqliteStore(path).open()


async def test_cancelled_open_lets_go(path: Path) -> None:
    """Whenever an opening is cancelled, the next one can have the database."""
    for turns in range(6):
        opening = asyncio.create_task(SqliteStore(path).open())
        for _ in range(turns):
            await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait([opening])
        if opening.cancelled():
            store = SqliteStore(path)
            await store.open()
            await store.close()
