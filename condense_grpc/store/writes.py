"""The SQL of a write: one session, many that share a transaction, or what a new one begins with.

Most writes need few statements, whichever sessions they are of (see `bulk`): one compares and sets all rows, and one
for each table adds what is new. Where that does not come out even, each session is written, or refused, by itself.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from sqlalchemy import (
    BindParameter,
    Column,
    Connection,
    Dialect,
    Insert,
    Subquery,
    Update,
    bindparam,
    delete,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.ports import Changes, SessionRow
from condense_grpc.errors import CondenseError, RevisionConflict, SessionNotFound
from condense_grpc.store import schema
from condense_grpc.store.bulk import Bulk


@frozen
class Write:
    """Changes with their bodies in stored form: `packed` those of the messages in order, `replaced` others by node."""

    changes: Changes
    packed: Sequence[bytes] = ()
    replaced: Mapping[int, bytes] = field(default_factory=dict)


class NotTogether(Exception):
    """Not all of the writes of one transaction can be made. Nothing says which; the transaction must be undone."""


_sessions = schema.sessions.c
_FIND = select(_sessions.key, _sessions.labels_json).where(_sessions.session_id == bindparam("of_id"))
_KEY: BindParameter[int] = bindparam("of_key")
_NEXT_VERSION = _sessions.version + literal_column("1")
# The comparison is part of the update: where several processes write, only that one is decisive.
_UPDATE_ONE = update(schema.sessions).where(
    _sessions.key == _KEY,
    _sessions.version == bindparam("seen_version"),
    _sessions.create_time_ms == bindparam("seen_create_time_ms"),
)
_SEEN = (_sessions.session_id, _sessions.version, _sessions.create_time_ms, _sessions.labels_json)
_NEW = (
    *(_sessions.update_time_ms, _sessions.head_node, _sessions.head_commit, _sessions.length),
    *(_sessions.config_json, _sessions.create_request_id, _sessions.facts_json),
)


def _update_all(given: Subquery) -> Update:
    matching = (column == given.c[column.name] for column in _SEEN)
    values = {column: given.c[column.name] for column in _NEW}
    return update(schema.sessions).where(*matching).values({**values, _sessions.version: _NEXT_VERSION})


def _adding(columns: Sequence[Column[Any]]) -> Bulk:
    """The statement that adds rows of these columns, each behind the id of its session."""

    def build(given: Subquery) -> Insert:
        found = select(_sessions.key, *(given.c[column.name] for column in columns)).join_from(
            given, schema.sessions, _sessions.session_id == given.c.session_id
        )
        return insert(columns[0].table).from_select(["session_key", *columns], found)

    return Bulk((_sessions.session_id, *columns), build)


def _replacing(column: Column[Any]) -> Bulk:
    """The statement that puts other values into a column of messages or bodies; each row names session and node."""
    table = column.table

    def build(given: Subquery) -> Update:
        of_session = (_sessions.session_id == given.c.session_id, table.c.session_key == _sessions.key)
        return update(table).where(*of_session, table.c.node == given.c.node).values({column: given.c[column.name]})

    return Bulk((_sessions.session_id, table.c.node, column), build)


def _history(table: Any) -> tuple[Column[Any], ...]:
    return tuple(column for column in table.c if column.name != "session_key")


MESSAGE, COMMIT, DIAGNOSTIC = _history(schema.messages), _history(schema.commits), _history(schema.diagnostics)
"""The columns of what a history is made of, in the order of the members of its values."""
_UPDATE_ALL = Bulk((*_SEEN, *_NEW), _update_all)
_ADD_MESSAGES, _ADD_BODIES = _adding(MESSAGE), _adding(_history(schema.bodies))
_ADD_COMMITS, _ADD_DIAGNOSTICS = _adding(COMMIT), _adding(DIAGNOSTIC)
_REPLACE_SKELETONS, _REPLACE_BODIES = _replacing(schema.messages.c.skeleton), _replacing(schema.bodies.c.packed)


_ALL = (_UPDATE_ALL, _ADD_MESSAGES, _ADD_BODIES, _ADD_COMMITS, _ADD_DIAGNOSTICS, _REPLACE_SKELETONS, _REPLACE_BODIES)


def prepare(dialect: Dialect) -> None:
    """Make the texts of all statements ahead, so that no write has to wait for them. Blocks for a moment."""
    for statement in _ALL:
        statement.prepare(dialect)


def write(connection: Connection, one: Write) -> SessionRow:
    """Compare and set one session."""
    if _UPDATE_ALL.run(connection, [_values(one.changes.row)]) != 1:
        _update_one(connection, one.changes.row)
    add_history(connection, [one])
    return _written(one)


def write_together(connection: Connection, writes: Sequence[Write]) -> list[SessionRow]:
    """Compare and set all of these sessions. Raises NotTogether unless every one of them can be written."""
    if _UPDATE_ALL.run(connection, (_values(one.changes.row) for one in writes)) != len(writes):
        raise NotTogether
    try:
        add_history(connection, writes)
    except ValueError:
        raise NotTogether from None
    return [_written(one) for one in writes]


def write_each(connection: Connection, writes: Sequence[Write]) -> list[SessionRow | Exception]:
    """Compare and set each of these sessions; for one that cannot be written the error that says why."""
    outcomes: list[SessionRow | Exception] = []
    for one in writes:
        try:
            with connection.begin_nested():
                outcomes.append(write(connection, one))
        except (CondenseError, ValueError) as error:
            outcomes.append(error)
    return outcomes


def _written(one: Write) -> SessionRow:
    return replace(one.changes.row, version=one.changes.row.version + 1)


def _values(row: SessionRow) -> tuple[Any, ...]:
    """The values of a row for the statement that compares and sets."""
    seen = (row.session_id, row.version, row.create_time_ms, labels_json(row.labels))
    new = (row.update_time_ms, row.head_node, row.head_commit, row.length)
    return (*seen, *new, row.config_json, row.create_request_id, row.facts_json)


def labels_json(labels: Mapping[str, str]) -> str:
    """Labels as a row has them."""
    return json.dumps(dict(labels)) if labels else "{}"


def insert_labels(connection: Connection, key: int, labels: Mapping[str, str]) -> None:
    """Make the index over the labels of a session that has none in it."""
    if labels:
        rows = [{"session_key": key, "name": name, "value": value} for name, value in labels.items()]
        connection.execute(insert(schema.labels), rows)


def _update_one(connection: Connection, row: SessionRow) -> None:
    """Compare and set a row whose labels may have changed; what is wrong if it cannot be set."""
    found = connection.execute(_FIND, {"of_id": row.session_id}).one_or_none()
    if found is None:
        raise SessionNotFound(row.session_id)
    new = {column.name: getattr(row, column.name) for column in _NEW}
    new |= {"version": row.version + 1, "labels_json": labels_json(row.labels)}
    seen = {"of_key": found.key, "seen_version": row.version, "seen_create_time_ms": row.create_time_ms}
    if connection.execute(_UPDATE_ONE, {**new, **seen}).rowcount != 1:
        raise RevisionConflict(row.session_id)
    if new["labels_json"] != found.labels_json:
        connection.execute(delete(schema.labels).where(schema.labels.c.session_key == found.key))
        insert_labels(connection, found.key, row.labels)


def add_history(connection: Connection, writes: Sequence[Write]) -> None:
    """Add messages with their bodies, commits and diagnostics; put other skeletons and bodies in place of old ones.

    Raises ValueError for a number that exists already, or for one of a message that does not.
    """
    each = [(one.changes.row.session_id, one) for one in writes]
    try:
        for statement, rows in (
            (_ADD_MESSAGES, ((of, *message[:-1]) for of, one in each for message in one.changes.messages)),
            (_ADD_BODIES, ((of, *body) for of, one in each for body in _bodies(one))),
            (_ADD_COMMITS, ((of, *_fields(COMMIT, commit)) for of, one in each for commit in one.changes.commits)),
            (_ADD_DIAGNOSTICS, ((of, *_fields(DIAGNOSTIC, d)) for of, one in each for d in one.changes.diagnostics)),
        ):
            statement.run(connection, rows)
    except IntegrityError:
        raise ValueError("a node or number of the write exists already") from None
    replaced = _REPLACE_SKELETONS.run(
        connection, ((of, *new) for of, one in each for new in one.changes.skeletons.items())
    ) + _REPLACE_BODIES.run(connection, ((of, *new) for of, one in each for new in one.replaced.items()))
    if replaced != sum(len(one.changes.skeletons) + len(one.replaced) for one in writes):
        raise ValueError("a skeleton or a body of the write belongs to no message")


def _bodies(one: Write) -> Iterator[tuple[int, bytes]]:
    return ((message.node, form) for message, form in zip(one.changes.messages, one.packed, strict=True))


def _fields(columns: Sequence[Column[Any]], value: object) -> list[Any]:
    return [getattr(value, column.name) for column in columns]
