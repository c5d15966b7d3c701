"""Sessions in the memory of this process: for tests, and for trying the service out. Nothing outlives `close`.

Every method does its work without giving up the event loop, so each is atomic.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from condense_grpc.engine.ports import (
    Changes,
    SessionFilter,
    SessionRow,
    StoredCommit,
    StoredDiagnostic,
    StoredMessage,
    StoredSession,
)
from condense_grpc.errors import RevisionConflict, SessionAlreadyExists, SessionNotFound, StoreUnavailable

T = TypeVar("T")


@dataclass(slots=True)
class _Session:
    row: SessionRow
    messages: dict[int, StoredMessage] = field(default_factory=dict)
    bodies: dict[int, bytes] = field(default_factory=dict)
    commits: dict[int, StoredCommit] = field(default_factory=dict)
    diagnostics: dict[int, StoredDiagnostic] = field(default_factory=dict)

    def add(self, changes: Changes) -> None:
        nodes = [message.node for message in changes.messages]
        commits = [commit.number for commit in changes.commits]
        diagnostics = [entry.number for entry in changes.diagnostics]
        for numbers, present in ((nodes, self.messages), (commits, self.commits), (diagnostics, self.diagnostics)):
            if len(set(numbers)) < len(numbers) or any(number in present for number in numbers):
                raise ValueError("a node or number of the write exists already")
        if not self.messages.keys() >= changes.skeletons.keys() | changes.bodies.keys():
            raise ValueError("a skeleton or a body of the write belongs to no message")
        for node, skeleton in changes.skeletons.items():
            self.messages[node] = self.messages[node]._replace(skeleton=skeleton)
        self.messages.update((message.node, message._replace(body=b"")) for message in changes.messages)
        self.bodies.update(changes.bodies)
        self.bodies.update((message.node, message.body) for message in changes.messages)
        self.commits.update((commit.number, commit) for commit in changes.commits)
        self.diagnostics.update((entry.number, entry) for entry in changes.diagnostics)


class MemoryStore:
    """A store that starts empty at `open`."""

    kind = "memory"

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] | None = None

    async def open(self) -> None:
        """See Store."""
        if self._sessions is None:
            self._sessions = {}

    async def close(self) -> None:
        """See Store."""
        self._sessions = None

    def _all(self) -> dict[str, _Session]:
        if self._sessions is None:
            raise StoreUnavailable
        return self._sessions

    async def create(self, row: SessionRow, content: Changes | None = None) -> SessionRow:
        """See Store."""
        session = _Session(_kept(row, version=1))
        if content is not None:
            session.add(content)
        self._insert(session)
        return replace(row, version=1)

    def _insert(self, session: _Session) -> None:
        if session.row.session_id in self._all():
            raise SessionAlreadyExists(session.row.session_id)
        self._all()[session.row.session_id] = session

    async def read_row(self, session_id: str) -> SessionRow | None:
        """See Store."""
        session = self._all().get(session_id)
        return None if session is None else session.row

    async def load(self, session_id: str) -> StoredSession | None:
        """See Store."""
        session = self._all().get(session_id)
        if session is None:
            return None
        return StoredSession(
            session.row,
            [session.messages[node] for node in sorted(session.messages)],
            [session.commits[number] for number in sorted(session.commits)],
        )

    async def read_bodies(self, session_id: str, nodes: Sequence[int]) -> dict[int, bytes]:
        """See Store."""
        session = self._all().get(session_id)
        return {} if session is None else {node: session.bodies[node] for node in nodes if node in session.bodies}

    async def write(self, changes: Changes) -> SessionRow:
        """See Store."""
        row = changes.row
        session = self._all().get(row.session_id)
        if session is None:
            raise SessionNotFound(row.session_id)
        if (session.row.version, session.row.create_time_ms) != (row.version, row.create_time_ms):
            raise RevisionConflict(row.session_id)
        session.add(changes)
        session.row = _kept(row, version=row.version + 1)
        return session.row

    async def write_many(self, changes: Sequence[Changes]) -> Sequence[SessionRow | Exception]:
        """See Store."""
        return [await self._outcome(one) for one in changes]

    async def _outcome(self, changes: Changes) -> SessionRow | Exception:
        try:
            return await self.write(changes)
        except (RevisionConflict, SessionNotFound, ValueError) as error:
            return error

    async def fork(self, source_id: str, row: SessionRow, nodes: Sequence[int], commits: Sequence[int]) -> SessionRow:
        """See Store."""
        source = self._all().get(source_id)
        if source is None:
            raise SessionNotFound(source_id)
        if not source.messages.keys() >= set(nodes) or not source.commits.keys() >= set(commits):
            raise ValueError("the source of the fork has no such node or number")
        session = _Session(
            _kept(row, version=1),
            {node: source.messages[node] for node in nodes},
            {node: source.bodies[node] for node in nodes},
            {number: source.commits[number] for number in commits},
        )
        self._insert(session)
        return session.row

    async def delete(self, session_id: str) -> bool:
        """See Store."""
        return self._all().pop(session_id, None) is not None

    async def list_rows(self, where: SessionFilter, after_id: str, limit: int) -> list[SessionRow]:
        """See Store."""
        ids = sorted(self._all())
        behind = (self._all()[session_id].row for session_id in ids[bisect_right(ids, after_id) :])
        return _page((row for row in behind if _shown(row, where)), limit)

    async def read_diagnostics(self, session_id: str, after: int, limit: int) -> list[StoredDiagnostic]:
        """See Store."""
        session = self._all().get(session_id)
        entries = {} if session is None else session.diagnostics
        return _page((entries[number] for number in sorted(entries) if number > after), limit)


def _kept(row: SessionRow, *, version: int) -> SessionRow:
    """A row that the caller cannot change any more."""
    return replace(row, version=version, labels=dict(row.labels))


def _shown(row: SessionRow, where: SessionFilter) -> bool:
    return row.update_time_ms >= where.updated_since_ms and where.labels.items() <= row.labels.items()


def _page(rows: Iterable[T], limit: int) -> list[T]:
    return list(islice(rows, max(limit, 0)))
