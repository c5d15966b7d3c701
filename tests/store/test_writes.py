"""How writes become statements: few, whatever they are of."""

import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.dialects.postgresql import asyncpg

from condense_grpc.engine.ports import Changes
from condense_grpc.store import writes
from condense_grpc.store.sqlite import SqliteStore
from condense_grpc.testing.store_samples import commit, message, row_of


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.sqlite")
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def statements(store: SqliteStore) -> Iterator[list[str]]:
    """What the writer executes."""
    executed: list[str] = []
    event.listen(store._get_file().writer._engine, "before_cursor_execute", lambda *given: executed.append(given[2]))
    yield executed


async def test_many_sessions_take_as_many_statements_as_one(store: SqliteStore, statements: list[str]) -> None:
    """For each of them a few would be a step for each of them."""
    rows = [await store.create(row_of(f"s{number}")) for number in range(60)]
    counts = []
    for some in (rows[:1], rows[1:]):
        statements.clear()
        await store.write_many([Changes(row, [message(1), message(2)], [commit(1)]) for row in some])
        counts.append(len(statements))
    assert counts == [5, 5], "begin, the rows, messages, bodies, commits"


async def test_a_statement_is_bounded(store: SqliteStore, statements: list[str]) -> None:
    """In rows, and in what its parameters take."""
    row = await store.create(row_of("s"))
    statements.clear()
    row = await store.write(Changes(row, [message(number) for number in range(1, 301)]))
    assert len([one for one in statements if "INTO bodies" in one]) == 3
    statements.clear()
    large = [random.Random(number).randbytes(700_000) for number in range(3)]
    await store.write(Changes(row, [message(301 + number, body) for number, body in enumerate(large)]))
    assert len([one for one in statements if "INTO bodies" in one]) == 3


async def test_statements_are_made_before_the_first_write(store: SqliteStore) -> None:
    """Later sizes are made of them without compiling anything, and read as if they had been compiled."""
    dialect = store._get_file().writer.dialect
    for statement in writes._ALL:
        assert (dialect.name, 1) in statement._texts
        assert statement._text(dialect, 8) == str(statement._build(statement._table(8)).compile(dialect=dialect))


def test_a_statement_is_made_for_databases_that_number_their_parameters() -> None:
    """Each row has numbers of its own there."""
    dialect = asyncpg.dialect()
    text = writes._ADD_BODIES._text(dialect, 2)
    assert all(f"${number}::" in text for number in range(1, 7)) and "$7" not in text
    assert dialect.paramstyle != "qmark"
