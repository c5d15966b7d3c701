"""The SQL of a store, one function per method of the port, on a connection whose transaction the caller holds.

A function that reads expects to see one state of the database throughout (a snapshot), one that writes is undone as
a whole when it raises. Nothing here knows which database it is, so that SQLite's thread and PostgreSQL's `run_sync`
call the same functions. Bodies come and go in their stored form.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any

from sqlalchemy import (
    BindParameter,
    Column,
    Connection,
    Row,
    and_,
    bindparam,
    delete,
    exists,
    insert,
    literal,
    select,
    update,
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
from condense_grpc.errors import RevisionConflict, SessionAlreadyExists, SessionNotFound
from condense_grpc.store import schema

# Databases bound the number of parameters of a statement (32 766); and a longer list is not faster.
CHUNK = 1000

_ROW = tuple(column for column in schema.sessions.c if column.name not in ("key", "labels_json"))
_MESSAGE = tuple(column for column in schema.messages.c if column.name != "session_key")
_COMMIT = tuple(column for column in schema.commits.c if column.name != "session_key")
_DIAGNOSTIC = tuple(column for column in schema.diagnostics.c if column.name != "session_key")

# What runs for every call is put together once: building a statement takes longer than running it.
_KEY: BindParameter[int] = bindparam("of_key")
_ROW_QUERY = select(schema.sessions.c.key, schema.sessions.c.labels_json, *_ROW)
_FIND = _ROW_QUERY.where(schema.sessions.c.session_id == bindparam("of_id"))
_FIND_KEY = select(schema.sessions.c.key).where(schema.sessions.c.session_id == bindparam("of_id"))
_MESSAGES = select(*_MESSAGE).where(schema.messages.c.session_key == _KEY).order_by(schema.messages.c.node)
_COMMITS = select(*_COMMIT).where(schema.commits.c.session_key == _KEY).order_by(schema.commits.c.number)
_BODIES = select(schema.bodies.c.node, schema.bodies.c.packed).where(
    schema.bodies.c.session_key == _KEY, schema.bodies.c.node.in_(bindparam("nodes", expanding=True))
)
_INSERTS = {table: insert(table) for table in (schema.messages, schema.bodies, schema.commits, schema.diagnostics)}
# The comparison is part of the update: where several processes write, only that one is decisive.
_UPDATE = update(schema.sessions).where(
    schema.sessions.c.key == _KEY,
    schema.sessions.c.version == bindparam("seen_version"),
    schema.sessions.c.create_time_ms == bindparam("seen_create_time_ms"),
)


def create(
    connection: Connection, row: SessionRow, content: Changes | None = None, packed: Sequence[bytes] = ()
) -> SessionRow:
    """Make the session; `packed` are the bodies of the messages of its content, in order."""
    key = _insert_session(connection, row)
    if content is not None:
        _insert_history(connection, key, content, packed)
    return replace(row, version=1)


def _insert_session(connection: Connection, row: SessionRow) -> int:
    values = {**_values(row), "session_id": row.session_id, "create_time_ms": row.create_time_ms, "version": 1}
    try:
        key: int = connection.execute(insert(schema.sessions).returning(schema.sessions.c.key), values).scalar_one()
    except IntegrityError:
        raise SessionAlreadyExists(row.session_id) from None
    _insert_labels(connection, key, row.labels)
    return key


def _insert_labels(connection: Connection, key: int, labels: Mapping[str, str]) -> None:
    if labels:
        rows = [{"session_key": key, "name": name, "value": value} for name, value in labels.items()]
        connection.execute(insert(schema.labels), rows)


def _values(row: SessionRow) -> dict[str, Any]:
    return {
        "update_time_ms": row.update_time_ms,
        "head_node": row.head_node,
        "head_commit": row.head_commit,
        "length": row.length,
        "labels_json": json.dumps(dict(row.labels)),
        "config_json": row.config_json,
        "create_request_id": row.create_request_id,
        "facts_json": row.facts_json,
    }


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
        [*starmap(StoredMessage, connection.execute(_MESSAGES, of_session))],
        [StoredCommit(*row) for row in connection.execute(_COMMITS, of_session)],
    )


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


def write(
    connection: Connection, changes: Changes, packed: Sequence[bytes], replaced: Mapping[int, bytes] | None = None
) -> SessionRow:
    """Compare and set; `packed` are the bodies of the messages in order, `replaced` new ones of others by node."""
    row = changes.row
    found = _find(connection, row.session_id)
    if found is None:
        raise SessionNotFound(row.session_id)
    values = _values(row)
    seen = {"of_key": found.key, "seen_version": row.version, "seen_create_time_ms": row.create_time_ms}
    if connection.execute(_UPDATE, {**values, "version": row.version + 1, **seen}).rowcount != 1:
        raise RevisionConflict(row.session_id)
    if values["labels_json"] != found.labels_json:
        connection.execute(delete(schema.labels).where(schema.labels.c.session_key == found.key))
        _insert_labels(connection, found.key, row.labels)
    try:
        _insert_history(connection, found.key, changes, packed)
    except IntegrityError:
        raise ValueError("a node or number of the write exists already") from None
    _replace(connection, found.key, schema.messages.c.skeleton, changes.skeletons)
    _replace(connection, found.key, schema.bodies.c.packed, replaced or {})
    return replace(row, version=row.version + 1)


def _replace(connection: Connection, key: int, column: Column[bytes], values: Mapping[int, bytes]) -> None:
    """Put values into one column of messages or bodies, by node."""
    table = column.table
    for node, value in values.items():
        statement = update(table).where(table.c.session_key == key, table.c.node == node)
        if connection.execute(statement, {column.name: value}).rowcount != 1:
            raise ValueError("a skeleton or a body of the write belongs to no message")


def _insert_history(connection: Connection, key: int, changes: Changes, packed: Sequence[bytes]) -> None:
    if changes.messages:
        nodes = [{"session_key": key, **_fields(_MESSAGE, message)} for message in changes.messages]
        connection.execute(_INSERTS[schema.messages], nodes)
        forms = zip(changes.messages, packed, strict=True)
        bodies = [{"session_key": key, "node": message.node, "packed": form} for message, form in forms]
        connection.execute(_INSERTS[schema.bodies], bodies)
    if changes.commits:
        commits = [{"session_key": key, **_fields(_COMMIT, commit)} for commit in changes.commits]
        connection.execute(_INSERTS[schema.commits], commits)
    if changes.diagnostics:
        diagnostics = [{"session_key": key, **_fields(_DIAGNOSTIC, entry)} for entry in changes.diagnostics]
        connection.execute(_INSERTS[schema.diagnostics], diagnostics)


def _fields(columns: Sequence[Any], value: object) -> dict[str, Any]:
    return {column.name: getattr(value, column.name) for column in columns}


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
        select(*_DIAGNOSTIC)
        .where(diagnostics.session_key == key, diagnostics.number > after)
        .order_by(diagnostics.number)
        .limit(max(limit, 0))
    )
    return [StoredDiagnostic(*row) for row in connection.execute(query)]
