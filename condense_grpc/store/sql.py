"""What stores over SQL have in common: every method of the port is a function of `statements` in one transaction.

A subclass says how a transaction is run (`_read`, `_write`) and how the database is opened and closed. Many
bytes of bodies are packed on threads of their own, and all are unpacked there, so that neither the event loop nor the
database waits for it.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection

from condense_grpc.engine.ports import Changes, SessionFilter, SessionRow, StoredDiagnostic, StoredSession
from condense_grpc.errors import StoreUnavailable
from condense_grpc.store import statements, writes
from condense_grpc.store.bodies import pack, unpack

T = TypeVar("T")

PACKING_THREADS = 2
# So much is packed where it is written: to have it done elsewhere would take longer.
_FEW_BYTES = 256 * 1024


class SqlStore(ABC):
    """The port's methods but `open` and `close`. Belongs to one event loop."""

    def __init__(self) -> None:
        self._packing: ThreadPoolExecutor | None = None
        self._calls = 0
        self._idle = asyncio.Event()

    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one state of the database."""

    @abstractmethod
    async def _write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction that is durable when this returns. When it raises or is cancelled, it is over."""

    def _accept_calls(self) -> None:
        self._packing = ThreadPoolExecutor(PACKING_THREADS, thread_name_prefix="condense-packing")

    async def _finish_calls(self) -> None:
        """Take no more calls, and wait for those that are running."""
        packing, self._packing = self._packing, None
        while self._calls:
            self._idle.clear()
            await self._idle.wait()
        if packing is not None:
            packing.shutdown(wait=False)

    @asynccontextmanager
    async def _call(self) -> AsyncIterator[Callable[..., Awaitable[Any]]]:
        """Hold off `_finish_calls`, and give what runs a function on a packing thread."""
        packing = self._packing
        if packing is None:
            raise StoreUnavailable
        self._calls += 1
        try:
            yield partial(asyncio.get_running_loop().run_in_executor, packing)
        finally:
            self._calls -= 1
            self._idle.set()

    async def create(self, row: SessionRow, content: Changes | None = None) -> SessionRow:
        """See Store."""
        async with self._call() as aside:
            packed: Sequence[bytes] = ()
            if content is not None and content.messages:
                packed = await aside(pack, [message.body for message in content.messages])
            return await self._write(lambda connection: statements.create(connection, row, content, packed))

    async def read_row(self, session_id: str) -> SessionRow | None:
        """See Store."""
        async with self._call():
            return await self._read(lambda connection: statements.read_row(connection, session_id))

    async def load(self, session_id: str) -> StoredSession | None:
        """See Store."""
        async with self._call():
            return await self._read(lambda connection: statements.load(connection, session_id))

    async def read_bodies(self, session_id: str, nodes: Sequence[int]) -> dict[int, bytes]:
        """See Store."""
        wanted = tuple(nodes)
        async with self._call() as aside:
            packed = await self._read(lambda connection: statements.read_bodies(connection, session_id, wanted))
            bodies: dict[int, bytes] = await aside(unpack, packed)
            return bodies

    async def write(self, changes: Changes) -> SessionRow:
        """See Store."""
        async with self._call() as aside:
            packed = await _packing(aside, [changes])
            return await self._write(lambda connection: writes.write(connection, *packed()))

    async def write_many(self, changes: Sequence[Changes]) -> Sequence[SessionRow | Exception]:
        """See Store."""
        async with self._call() as aside:
            packed = await _packing(aside, changes)
            try:
                return await self._write(lambda connection: writes.write_together(connection, packed()))
            except writes.NotTogether:
                return await self._write(lambda connection: writes.write_each(connection, packed()))

    async def fork(self, source_id: str, row: SessionRow, nodes: Sequence[int], commits: Sequence[int]) -> SessionRow:
        """See Store."""
        copied = tuple(nodes), tuple(commits)
        async with self._call():
            return await self._write(lambda connection: statements.fork(connection, source_id, row, *copied))

    async def delete(self, session_id: str) -> bool:
        """See Store."""
        async with self._call():
            return await self._write(lambda connection: statements.remove(connection, session_id))

    async def list_rows(self, where: SessionFilter, after_id: str, limit: int) -> list[SessionRow]:
        """See Store."""
        async with self._call():
            return await self._read(lambda connection: statements.list_rows(connection, where, after_id, limit))

    async def read_diagnostics(self, session_id: str, after: int, limit: int) -> list[StoredDiagnostic]:
        """See Store."""
        async with self._call():
            return await self._read(
                lambda connection: statements.read_diagnostics(connection, session_id, after, limit)
            )


async def _packing(
    aside: Callable[..., Awaitable[Any]], changes: Sequence[Changes]
) -> Callable[[], list[writes.Write]]:
    """What gives changes with the stored forms of their bodies. Few bytes are packed no sooner than it is called."""
    new = [message.body for one in changes for message in one.messages]
    bodies = [*new, *(body for one in changes for body in one.bodies.values())]
    if sum(map(len, bodies)) <= _FEW_BYTES:
        return lambda: _packed(changes, pack(bodies))
    forms = await aside(pack, bodies)
    return lambda: _packed(changes, forms)


def _packed(changes: Sequence[Changes], stored: Sequence[bytes]) -> list[writes.Write]:
    forms = iter(stored)
    added = [list(islice(forms, len(one.messages))) for one in changes]
    replaced = [dict(zip(one.bodies, islice(forms, len(one.bodies)), strict=True)) for one in changes]
    return [*map(writes.Write, changes, added, replaced)]
