"""The SQL of a store, one function per method of the port, on a connection whose transaction the caller holds.

A function that reads expects to see one state of the database throughout (a snapshot), one that writes is undone as
a whole when it raises. Nothing here knows which database it is, so that SQLite's thread and PostgreSQL's `run_sync`
call the same functions. Bodies come and go in their stored form.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    insert,
    literal,
    select,
)
from sqlalchemy.exc import IntegrityError

from condense_grpc.engine.ports import (
    Changes,
    SessionFilter,
    SessionRow,
    StoredCommit,
    StoredDiagnostic,
    StoredMessage,
    StoredSession,
)
from condense_grpc.errors import SessionAlreadyExists, SessionNotFound
from condense_grpc.store import schema
from condense_grpc.store.writes import COMMIT, DIAGNOSTIC, MESSAGE, Write, add_history, insert_labels, labels_json

# Databases bound the number of parameters of a statement (32 766); and a longer list is not faster.
CHUNK = 1000

_ROW = tuple(column for column in schema.sessions.c if column.name not in ("key", "labels_json"))

# What runs for every call is put together once: building a statement takes longer than running it.
_KEY: BindParameter[int] = bindparam("of_key")
_ROW_QUERY = select(schema.sessions.c.key, schema.sessions.c.labels_json, *_ROW)
_FIND = _ROW_QUERY.where(schema.sessions.c.session_id == bindparam("of_id"))
_FIND_KEY = select(schema.sessions.c.key).where(schema.sessions.c.session_id == bindparam("of_id"))
_MESSAGES = select(*MESSAGE).where(schema.messages.c.session_key == _KEY).order_by(schema.messages.c.node)
_COMMITS = select(*COMMIT).where(schema.commits.c.session_key == _KEY).order_by(schema.commits.c.number)
_BODIES = select(schema.bodies.c.node, schema.bodies.c.packed).where(
    schema.bodies.c.session_key == _KEY, schema.bodies.c.node.in_(bindparam("nodes", expanding=True))
)


def create(
    connection: Connection, row: SessionRow, content: Changes | None = None, packed: Sequence[bytes] = ()
) -> SessionRow:
    """Make the session; `packed` are the bodies of the messages of its content, in order."""
    _insert_session(connection, row)
    if content is not None:
        add_history(connection, [Write(replace(content, row=row), packed)])
    return replace(row, version=1)


def _insert_session(connection: Connection, row: SessionRow) -> int:
    values = {column.name: getattr(row, column.name) for column in _ROW}
    values |= {"version": 1, "labels_json": labels_json(row.labels)}
    try:
        key: int = connection.execute(insert(schema.sessions).returning(schema.sessions.c.key), values).scalar_one()
    except IntegrityError:
        raise SessionAlreadyExists(row.session_id) from None
    insert_labels(connection, key, row.labels)
    return key


def _session_row(found: Row[Any]) -> SessionRow:
    values = {column.name: getattr(found, column.name) for column in _ROW}
    return SessionRow(**values, labels=json.loads(found.labels_json))


def _find(connection: Connection, session_id: str) -> Row[Any] | None:
    return connection.execute(_FIND, {"of_id": session_id}).one_or_none()


def _find_key(connection: Connection, session_id: str) -> int | None:
    key: int | None = connection.execute(_FIND_KEY, {"of_id": session_id}).scalar_one_or_none()
    return key


def read_row(connection: Connection, session_id: str) -> SessionRow | None:
    """Find the row."""
    found = _find(connection, session_id)
    return None if found is None else _session_row(found)


def load(connection: Connection, session_id: str) -> StoredSession | None:
    """Find everything but bodies."""
    found = _find(connection, session_id)
    if found is None:
        return None
    of_session = {"of_key": found.key}
    return StoredSession(
        _session_row(found),
        [*starmap(StoredMessage, _plain_rows(connection, _MESSAGES, of_session))],
        [*starmap(StoredCommit, _plain_rows(connection, _COMMITS, of_session))],
    )


def _plain_rows(connection: Connection, query: Select[Any], parameters: dict[str, Any]) -> Sequence[Any]:
    """All rows as the driver has them: numbers and bytes need nothing done to them, and a session has thousands."""
    result = connection.execute(query, parameters)
    try:
        return result.cursor.fetchall()
    finally:
        result.close()


def read_bodies(connection: Connection, session_id: str, nodes: Sequence[int]) -> dict[int, bytes]:
    """Find stored forms by node."""
    key = _find_key(connection, session_id)
    packed: dict[int, bytes] = {}
    for chunk in _chunks(nodes):
        rows = connection.execute(_BODIES, {"of_key": key, "nodes": chunk})
        packed.update((row.node, row.packed) for row in rows)
    return packed


def _chunks(numbers: Sequence[int]) -> Iterator[list[int]]:
    ordered = sorted(set(numbers))
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]


def fork(
    connection: Connection, source_id: str, row: SessionRow, nodes: Sequence[int], commits: Sequence[int]
) -> SessionRow:
    """Make the session out of rows of another one, without looking into them."""
    source = _find_key(connection, source_id)
    if source is None:
        raise SessionNotFound(source_id)
    target = _insert_session(connection, row)
    copied = [
        _copy(connection, source, target, column, numbers)
        for column, numbers in (
            (schema.messages.c.node, nodes),
            (schema.bodies.c.node, nodes),
            (schema.commits.c.number, commits),
        )
    ]
    if copied != [len(set(nodes)), len(set(nodes)), len(set(commits))]:
        raise ValueError("the source of the fork has no such node or number")
    return replace(row, version=1)


def _copy(connection: Connection, source: int, target: int, column: Any, numbers: Sequence[int]) -> int:
    table = column.table
    others = [other for other in table.c if other.name != "session_key"]
    copied = 0
    for chunk in _chunks(numbers):
        query = select(literal(target), *others).where(table.c.session_key == source, column.in_(chunk))
        copied += connection.execute(insert(table).from_select(["session_key", *others], query)).rowcount
    return copied


def remove(connection: Connection, session_id: str) -> bool:
    """Delete the session; the foreign keys take everything else with it."""
    return connection.execute(delete(schema.sessions).where(schema.sessions.c.session_id == session_id)).rowcount > 0


def list_rows(connection: Connection, where: SessionFilter, after_id: str, limit: int) -> list[SessionRow]:
    """Find a page of rows."""
    sessions, labels = schema.sessions.c, schema.labels.c
    query = _ROW_QUERY.where(sessions.session_id > after_id).order_by(sessions.session_id).limit(max(limit, 0))
    if where.updated_since_ms:
        query = query.where(sessions.update_time_ms >= where.updated_since_ms)
    for name, value in where.labels.items():
        query = query.where(
            exists().where(and_(labels.session_key == sessions.key, labels.name == name, labels.value == value))
        )
    return [_session_row(found) for found in connection.execute(query)]


def read_diagnostics(connection: Connection, session_id: str, after: int, limit: int) -> list[StoredDiagnostic]:
    """Find a page of diagnostics."""
    diagnostics, key = schema.diagnostics.c, _find_key(connection, session_id)
    query = (
        select(*DIAGNOSTIC)
        .where(diagnostics.session_key == key, diagnostics.number > after)
        .order_by(diagnostics.number)
        .limit(max(limit, 0))
    )
    return [StoredDiagnostic(*row) for row in connection.execute(query)]
