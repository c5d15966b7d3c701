"""One thread that owns one SQLite connection and runs transactions on it, in the order in which they came.

What waits while a commit waits for the disk can share the next one: many sessions that write at once need few
commits. Each is told of its end when all of them are durable. When one fails, each is run once more by itself. But
when another program has locked the database for too long, whatever waits fails together: none would fare better.

SQLAlchemy's pool and pysqlite's own idea of a transaction stay out of it: the connection is in autocommit mode, and
each transaction begins with the statement that the owner chose. After a failure of the driver the connection is
closed and the next call opens a new one, so that no failed transaction lives on.
"""

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Dialect, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError

from condense_grpc.errors import StoreUnavailable
from condense_grpc.store.errors import StoreDamaged, StoreLocked
from condense_grpc.store.patience import Patience, code_of, is_locked

T = TypeVar("T")

logger = logging.getLogger(__name__)

# SQLite's codes: SQLITE_CORRUPT and SQLITE_NOTADB.
DAMAGED = (11, 26)


class ConnectionThread:
    """Starts its thread with the first call. `run` is for tasks of one event loop; the rest for any thread."""

    def __init__(
        self,
        path: Path,
        *,
        begin: str,
        pragmas: dict[str, str | int],
        busy_timeout_ms: int,
        most_shared: int = 1,
        check: Callable[[bool], object] = bool,
        checks_all: bool = False,
    ) -> None:
        """`most_shared`: so many transactions share a commit at most; the first waits for the last.

        `check` raises why nothing may be done, before the database is connected or, with `checks_all`, before every
        transaction; it is told whether a connection is there.
        """
        self._most_shared = most_shared
        self._check, self._checks_all = check, checks_all
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="condense-sqlite")
        self._patience = Patience(busy_timeout_ms)
        self._engine = _engine(path, begin=begin, pragmas=pragmas, busy_timeout_ms=self._patience.slice_ms)
        self._connection: Connection | None = None
        self._waiting: deque[_Job] = deque()

    @property
    def dialect(self) -> Dialect:
        """The SQL that its connection speaks."""
        return self._engine.dialect

    async def run(self, work: Callable[[Connection], T]) -> T:
        """The result of `work`, run in one transaction. When this ends, cancelled or not, the transaction has ended.

        `work` must do nothing but read and write on the connection: it may be undone and run again.
        """
        result: Future[T] = Future()
        self._waiting.append((work, result))
        self._executor.submit(self._work_off)
        return await settle(result)

    def run_here(self, work: Callable[[Connection], T]) -> T:
        """The same for a caller that may block."""
        return self._executor.submit(self._transaction, work).result()

    def wait_no_more(self) -> None:
        """Give up soon what waits for the lock of another program, now and from now on."""
        self._patience.end()

    def stop(self) -> None:
        """Finish the calls that wait, close the connection and end the thread. Blocks."""
        self._executor.submit(self._disconnect).result()
        self._executor.shutdown()

    def _work_off(self) -> None:
        """Run what waits, up to as many as may share a commit."""
        jobs = self._taken(self._most_shared)
        if len(jobs) > 1 and self._run_together(jobs):
            return
        while jobs:
            work, result = jobs[0]
            try:
                found = self._transaction(work)
            except StoreLocked:
                self._refuse(jobs)
                return
            except BaseException as error:
                result.set_exception(error)
            else:
                result.set_result(found)
            jobs.popleft()

    def _taken(self, most: int | None = None) -> "deque[_Job]":
        """The next jobs that nobody has taken back."""
        jobs: deque[_Job] = deque()
        while self._waiting and (most is None or len(jobs) < most):
            job = self._waiting.popleft()
            if job[1].set_running_or_notify_cancel():
                jobs.append(job)
        return jobs

    def _refuse(self, jobs: "Iterable[_Job]") -> None:
        """Let these jobs and all that wait fail, since the database is locked."""
        refused = [*jobs, *self._taken()]
        # What comes as soon as the first of them is told is tried again: the lock may have gone.
        for _, result in refused:
            result.set_exception(StoreLocked())

    def _run_together(self, jobs: "Collection[_Job]") -> bool:
        """Run all in one transaction; False if one of them fails: nothing was changed then."""
        found: list[Any] = []

        def all_of_them(connection: Connection) -> None:
            found.clear()
            for work, _ in jobs:
                found.append(work(connection))

        try:
            self._transaction(all_of_them)
        except StoreLocked:
            self._refuse(jobs)
            return True
        except BaseException as error:
            if len(found) < len(jobs):
                return False
            # It was the commit that failed: that it is run again could not tell what had become of it.
            for _, result in jobs:
                result.set_exception(error)
            return True
        for (_, result), one in zip(jobs, found, strict=True):
            result.set_result(one)
        return True

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        self._patience.begin()
        while True:
            if self._checks_all or self._connection is None:
                self._check(self._connection is not None)
            try:
                if self._connection is None:
                    self._connection = self._engine.connect()
                with self._connection.begin():
                    found = work(self._connection)
            except (DBAPIError, sqlite3.Error) as error:
                self._disconnect()
                if not self._patience.lasts(error):
                    raise _translated(error) from None
            except BaseException:
                self._patience.renew()
                raise
            else:
                self._patience.renew()
                return found

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except (DBAPIError, sqlite3.Error) as error:
                _translated(error)


_Job = tuple[Callable[[Connection], Any], "Future[Any]"]


def _engine(path: Path, *, begin: str, pragmas: dict[str, str | int], busy_timeout_ms: int) -> Engine:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, timeout=busy_timeout_ms / 1000)
        try:
            for name, value in pragmas.items():
                connection.execute(f"PRAGMA {name} = {value}").close()
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    # Parameters are content: an error must not show them.
    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _translated(error: sqlite3.Error | DBAPIError) -> StoreUnavailable:
    driver = error.orig if isinstance(error, DBAPIError) else error
    logger.warning("store: %s %s", type(driver).__name__, getattr(driver, "sqlite_errorname", ""))
    if is_locked(error):
        return StoreLocked()
    return StoreDamaged() if code_of(error) in DAMAGED else StoreUnavailable()


async def settle(job: "Future[T]") -> T:
    """The result of a job. A cancelled caller takes the job back, or else waits for its end: it is never in between."""
    waiter = asyncio.wrap_future(job)
    try:
        await asyncio.wait([waiter])
    except asyncio.CancelledError:
        while not job.cancel() and not waiter.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([waiter])
        if waiter.done() and not waiter.cancelled():
            waiter.exception()
        raise
    return waiter.result()


async def in_thread(job: Callable[[], T]) -> T:
    """The result of something rare that blocks, under the rule of `settle`."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="condense-store")
    try:
        return await settle(executor.submit(job))
    finally:
        executor.shutdown(wait=False)
