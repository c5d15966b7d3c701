"""Databases of every released schema are kept under `saved/` and must open, upgraded, with what is in them.

`python -m tests.store.test_migrate` writes the one of the newest schema; a saved one is never written again.
"""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine

from condense_grpc.engine.ports import Changes, SessionFilter
from condense_grpc.store.connection_thread import ConnectionThread
from condense_grpc.store.errors import StoreForeign, StoreTooNew
from condense_grpc.store.migrate import migrate
from condense_grpc.store.schema import metadata
from condense_grpc.store.sqlite import MIGRATION, WRITING, SqliteStore
from condense_grpc.testing.store_samples import EVERY_BYTE, commit, diagnostic, message, row_of, without_body

SAVED = Path(__file__).parent / "saved"
NEWEST = "0002"

ROW = row_of("saved é", head_node=3, head_commit=1, length=3, labels={"kind": "saved", "é": ""}, config_json='{"a": 1}')
MESSAGES = [message(1, b""), message(2, EVERY_BYTE), message(3, EVERY_BYTE * 20)]


async def fill(store: SqliteStore) -> None:
    row = await store.create(ROW)
    await store.write(Changes(row, MESSAGES, [commit(1)], [diagnostic(1)]))
    await store.fork(ROW.session_id, row_of("saved fork", length=2, head_node=2), [1, 2], [])


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def test_migrations_lead_to_the_tables_of_the_code(connection: Connection) -> None:
    """A new database has the tables, columns, keys and indexes of `schema`, and a second run changes nothing."""
    migrate(connection)
    migrate(connection)
    assert MigrationContext.configure(connection).get_current_revision() == NEWEST
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    assert compare_metadata(context, metadata) == []
    made = _definitions(connection)
    for table in reversed(metadata.sorted_tables):
        table.drop(connection)
    metadata.create_all(connection)
    assert _definitions(connection) == made


def _definitions(connection: Connection) -> dict[str, str]:
    query = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'alembic%' AND sql IS NOT NULL"
    return {name: " ".join(sql.split()) for name, sql in connection.exec_driver_sql(query)}


@pytest.mark.parametrize("saved", sorted(SAVED.glob("*.sqlite")), ids=lambda path: path.stem)
async def test_saved_database_opens_with_its_content(saved: Path, tmp_path: Path) -> None:
    """A file of an older release is upgraded and says what it said."""
    path = tmp_path / "s.sqlite"
    shutil.copy(saved, path)
    store = SqliteStore(path)
    await store.open()
    loaded = await store.load(ROW.session_id)
    assert loaded is not None
    assert loaded.row == replace(ROW, version=2)
    assert list(loaded.messages) == without_body(MESSAGES)
    assert list(loaded.commits) == [commit(1)]
    assert await store.read_bodies(ROW.session_id, [1, 2, 3]) == {one.node: one.body for one in MESSAGES}
    assert await store.read_diagnostics(ROW.session_id, 0, 9) == [diagnostic(1)]
    assert await store.list_rows(SessionFilter({"kind": "saved"}), "", 9) == [loaded.row]
    assert await store.read_bodies("saved fork", [1, 2, 3]) == {1: b"", 2: EVERY_BYTE}
    await store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(NEWEST,)]
    connection.close()


async def test_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    """A database that a later release has upgraded is not touched; the message says what to do."""
    path = tmp_path / "s.sqlite"
    shutil.copy(SAVED / f"schema_{NEWEST}.sqlite", path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="newer release"):
        await SqliteStore(path).open()
    assert path.read_bytes() == before


async def test_database_of_another_program_is_refused(tmp_path: Path) -> None:
    """Tables that are not ours stay alone."""
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(StoreForeign, match="another program"):
        await SqliteStore(path).open()


def test_failed_migration_leaves_no_tables(tmp_path: Path) -> None:
    """Steps run in the caller's transaction and end with it."""

    def fail_late(connection: Connection) -> None:
        migrate(connection)
        raise LookupError

    thread = ConnectionThread(tmp_path / "s.sqlite", begin=WRITING, pragmas=MIGRATION, busy_timeout_ms=0)
    with pytest.raises(LookupError):
        thread.run_here(fail_late)
    assert thread.run_here(_definitions) == {}
    thread.stop()


async def _save() -> None:
    path = SAVED / f"schema_{NEWEST}.sqlite"
    if path.exists():
        raise SystemExit(f"{path.name} exists: a saved database stays as its release has written it")
    store = SqliteStore(path)
    await store.open()
    await fill(store)
    await store.close()
    path.with_name(path.name + ".lock").unlink()


if __name__ == "__main__":
    asyncio.run(_save())
