"""Sessions in one SQLite file, owned by one process.

Writes go one after another through one thread, those that come during a commit with the next one; reads have a thread
and a connection of their own, which in WAL mode sees the last commit and holds up nobody: while a long session is
loaded, commits go on. A commit returns when the disk has it (synchronous = FULL).
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from condense_grpc.errors import StoreUnavailable
from condense_grpc.store.connection_thread import ConnectionThread, in_thread
from condense_grpc.store.migrate import migrate
from condense_grpc.store.ownership import LogInPlace, Ownership
from condense_grpc.store.sql import SqlStore
from condense_grpc.store.writes import prepare

T = TypeVar("T")

# Taking the lock at once: a transaction that begins by reading cannot always become one that writes.
WRITING = "BEGIN IMMEDIATE"

# Only a foreign program (a backup, a shell) can hold a lock on the file.
BUSY_TIMEOUT_MS = 5000

# Writes of so many sessions become durable together at most.
MOST_SHARED = 32

READER: dict[str, str | int] = {"query_only": 1}
WRITER: dict[str, str | int] = {
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "foreign_keys": 1,
    # Deleted is overwritten, not only unlinked.
    "secure_delete": 1,
    # What a large write has made of the log is given back.
    "journal_size_limit": 64 * 1024 * 1024,
}
# Steps that rebuild a table must not delete what refers to it.
MIGRATION = {**WRITER, "foreign_keys": 0}


class SqliteStore(SqlStore):
    """A database file. It is made at `open` if there is none, readable by its user only.

    `open` raises the errors of `store.errors`. A call that is cancelled has either not been made or is complete when
    its task ends. May be opened again after `close`.
    """

    kind = "sqlite"

    def __init__(self, path: str | Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        super().__init__()
        self._path = Path(path)
        self._busy_timeout_ms = busy_timeout_ms
        self._file: _File | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """See Store. Raises StoreRefused when somebody has to do something first."""
        async with self._opening:
            if self._file is not None:
                return
            try:
                await in_thread(self._open_file)
            except BaseException:
                await in_thread(self._close_file)
                raise
            self._accept_calls()

    def wait_no_more(self) -> None:
        """See WaitsForOthers."""
        if self._file is not None:
            self._file.wait_no_more()

    async def close(self) -> None:
        """See Store."""
        async with self._opening:
            self.wait_no_more()
            await self._finish_calls()
            await in_thread(self._close_file)

    def _open_file(self) -> None:
        self._file = _File(self._path, self._busy_timeout_ms)

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await self._get_file().reader.run(work)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        return await self._get_file().writer.run(work)

    def _get_file(self) -> "_File":
        if self._file is None:
            raise StoreUnavailable
        return self._file


class _File:
    """A database that is owned, up to date and connected. Making and closing it blocks."""

    def __init__(self, path: Path, busy_timeout_ms: int) -> None:
        self._ownership = Ownership(path)
        path = self._ownership.path
        try:
            migration = ConnectionThread(path, begin=WRITING, pragmas=MIGRATION, busy_timeout_ms=busy_timeout_ms)
            try:
                migration.run_here(migrate)
            finally:
                migration.stop()
        except BaseException:
            self._ownership.release()
            raise
        # What is written to a file that has lost its place is lost; what was read from it is still true.
        self.writer = ConnectionThread(
            path,
            begin=WRITING,
            pragmas=WRITER,
            busy_timeout_ms=busy_timeout_ms,
            most_shared=MOST_SHARED,
            check=LogInPlace(self._ownership).check,
            checks_all=True,
        )
        prepare(self.writer.dialect)
        self.reader = ConnectionThread(
            path,
            begin="BEGIN",
            pragmas=READER,
            busy_timeout_ms=busy_timeout_ms,
            check=lambda _: self._ownership.check(),
        )

    def wait_no_more(self) -> None:
        self.reader.wait_no_more()
        self.writer.wait_no_more()

    def close(self) -> None:
        # The writer goes last: the last one out moves the log into the file.
        self.reader.stop()
        self.writer.stop()
        self._ownership.release()
