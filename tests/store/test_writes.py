"""How writes become statements: few, whatever they are of."""

import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from condense_grpc.engine.ports import Changes
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
