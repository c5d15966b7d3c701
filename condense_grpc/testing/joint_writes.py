"""The part of the store's acceptance suite about writes of many sessions at once. See `store_conformance`."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from condense_grpc.engine.ports import Changes, SessionFilter, SessionRow, Store
from condense_grpc.errors import RevisionConflict, SessionNotFound
from condense_grpc.testing.store_samples import EVERY_BYTE, commit, diagnostic, message, new_id, nodes_of, row_of

_MIB = 1024 * 1024


class JointWrites:
    """What `write_many` must do. `StoreConformance` has all of it."""

    async def test_each_of_many_is_written(self, store: Store) -> None:
        """With everything that a write can have, and answered in the order in which they were given."""
        rows = await _made(store, 70)
        ahead = [replace(row, head_node=2, length=2, facts_json='{"a": "é"}') for row in rows]
        messages, texts = [message(1), message(2, EVERY_BYTE)], [commit(1), commit(2)]
        written = await store.write_many([Changes(row, messages, texts, [diagnostic(1)]) for row in ahead])
        assert written == [replace(row, version=2) for row in ahead]
        for row in ahead:
            loaded = await store.load(row.session_id)
            assert loaded is not None and loaded.row == replace(row, version=2) and loaded.commits == texts
            assert [one.node for one in loaded.messages] == [1, 2]
            assert await store.read_bodies(row.session_id, [1, 2]) == {1: b"body", 2: EVERY_BYTE}
            assert await store.read_diagnostics(row.session_id, 0, 9) == [diagnostic(1)]

    async def test_no_writes_are_none(self, store: Store) -> None:
        """Nothing is asked for, nothing is answered."""
        assert await store.write_many([]) == []

    async def test_many_may_differ_in_what_they_change(self, store: Store) -> None:
        """Labels, skeletons and bodies of some, nothing but the row of others."""
        plain, labelled, restyled = await _written(store, [*await _made(store, 3)])
        name = new_id()
        changes = (
            Changes(replace(plain, length=7)),
            Changes(replace(labelled, labels={name: "b"}), [message(2)]),
            Changes(restyled, skeletons={1: b"other"}, bodies={1: b"other body"}),
        )
        rows = _rows(await store.write_many(changes))
        assert [await store.read_row(row.session_id) for row in rows] == rows
        assert await store.list_rows(SessionFilter({name: "b"}), "", 9) == [rows[1]]
        loaded = await store.load(restyled.session_id)
        assert loaded is not None and loaded.messages == [message(1)._replace(skeleton=b"other", body=b"")]
        assert await store.read_bodies(restyled.session_id, [1]) == {1: b"other body"}

    @pytest.mark.parametrize("at", [0, 1, 2])
    async def test_what_stops_one_stops_no_other(self, store: Store, at: int) -> None:
        """Its error is what `write` raises, nothing of it remains, and the others are there."""
        *good, stale, gone, again, twice, unknown = await _written(store, await _made(store, 7))
        await store.delete(gone.session_id)
        await store.delete(again.session_id)
        await store.create(replace(again, create_time_ms=again.create_time_ms + 1))
        changes = [Changes(replace(row, length=2), [message(2)]) for row in good]
        changes[at:at] = [
            Changes(replace(stale, version=stale.version - 1), [message(2)]),
            Changes(gone, [message(2)]),
            Changes(again, [message(2)]),
            Changes(replace(twice, length=9), [message(2), message(1)], [commit(1)]),
            Changes(replace(unknown, length=9), [message(2)], bodies={5: b"of nothing"}),
        ]
        outcomes = await store.write_many(changes)
        kinds = [type(outcome) for outcome in outcomes]
        errors = [RevisionConflict, SessionNotFound, RevisionConflict, ValueError, ValueError]
        assert kinds == [SessionRow] * at + errors + [SessionRow] * (2 - at)
        assert [await nodes_of(store, row.session_id) for row in good] == [[1, 2]] * 2
        for row in (stale, twice, unknown):
            assert await store.read_row(row.session_id) == row
            assert await nodes_of(store, row.session_id) == [1]
            assert await store.read_bodies(row.session_id, [1, 2, 5]) == {1: b"body"}

    async def test_one_session_twice_is_a_conflict(self, store: Store) -> None:
        """The first one is written: they are made in their order."""
        (row,) = await _made(store, 1)
        first, second = await store.write_many([Changes(row, [message(node)]) for node in (1, 2)])
        assert first == replace(row, version=2) and isinstance(second, RevisionConflict)
        assert await nodes_of(store, row.session_id) == [1]

    async def test_one_of_many_that_write_the_same_wins(self, store: Store) -> None:
        """Sessions are written by whoever comes first, whole, whatever else comes with them."""
        rows = await _made(store, 6)
        pairs = [(rows[n], rows[(n + 1) % 6]) for n in range(6)]
        writes = (store.write_many([Changes(row, [message(n)]) for row in pair]) for n, pair in enumerate(pairs, 1))
        found = await asyncio.gather(*writes)
        for number, row in enumerate(rows):
            outcomes = {number + 1: found[number][0], (number - 1) % 6 + 1: found[number - 1][1]}
            won = [node for node, outcome in outcomes.items() if isinstance(outcome, SessionRow)]
            assert [type(one) for node, one in outcomes.items() if node not in won] == [RevisionConflict]
            assert await nodes_of(store, row.session_id) == won

    async def test_many_and_large_ones_at_once(self, store: Store) -> None:
        """More than a statement should hold."""
        many, large = await _made(store, 2)
        bodies = {node: EVERY_BYTE * (node * _MIB // 1024) for node in (1, 2, 3)}
        await store.write_many(
            [
                Changes(many, [message(node) for node in range(1, 1001)]),
                Changes(large, [message(node, body) for node, body in bodies.items()]),
            ]
        )
        assert await nodes_of(store, many.session_id) == [*range(1, 1001)]
        assert await store.read_bodies(large.session_id, [1, 2, 3]) == bodies

    async def test_many_that_are_cancelled_are_whole_or_not_made(self, store: Store) -> None:
        """Each of them, and it stays so."""
        rows = await _made(store, 3)
        for turn in range(20):
            changes = [Changes(replace(row, length=row.length + 1), [message(row.length + 1)]) for row in rows]
            task = asyncio.create_task(store.write_many(changes))
            for _ in range(turn % 8):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            for at, one in enumerate(changes):
                loaded = await store.load(one.row.session_id)
                assert loaded is not None and loaded.row in (rows[at], replace(one.row, version=one.row.version + 1))
                assert [found.node for found in loaded.messages] == list(range(1, loaded.row.length + 1))
                rows[at] = loaded.row


async def _made(store: Store, count: int) -> list[SessionRow]:
    return [await store.create(row_of(new_id(), labels={"n": str(number)})) for number in range(count)]


async def _written(store: Store, rows: Sequence[SessionRow]) -> list[SessionRow]:
    """Each with one message."""
    return _rows(await store.write_many([Changes(replace(row, length=1), [message(1)]) for row in rows]))


def _rows(outcomes: Sequence[SessionRow | Exception]) -> list[SessionRow]:
    rows = [outcome for outcome in outcomes if isinstance(outcome, SessionRow)]
    assert len(rows) == len(outcomes)
    return rows
