"""What every store must do, as tests: the acceptance suite of the engine's Store port.

    class TestMyStore(StoreConformance):
        @pytest.fixture
        async def store(self):
            store = MyStore()
            await store.open()
            yield store
            await store.close()

        async def reopen(self, store):          # only if sessions outlive the store
            await store.close()
            again = MyStore()
            await again.open()
            return again

The tests (some are in `joint_writes`) need pytest, pytest-asyncio and hypothesis. They make sessions of their own and
delete none but these, so that a store may hold others.
"""

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.engine.ports import Changes, SessionFilter, SessionRow, Store
from condense_grpc.errors import RevisionConflict, SessionAlreadyExists, SessionNotFound
from condense_grpc.testing.joint_writes import JointWrites
from condense_grpc.testing.store_samples import (
    BODIES,
    CONFUSABLE_IDS,
    EVERY_BYTE,
    commit,
    diagnostic,
    message,
    new_id,
    nodes_of,
    row_of,
    without_body,
)

FEW = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


class StoreConformance(JointWrites):
    """Subclass it, provide the fixture `store` (open), and `reopen` if sessions outlive the store."""

    pytestmark = pytest.mark.asyncio

    async def reopen(self, store: Store) -> Store:
        """Close the store and open another one on the same data."""
        pytest.skip("the sessions of this store end with it")

    # Rows

    async def test_create_gives_version_one_and_keeps_every_field(self, store: Store) -> None:
        """A new session has version 1; everything else is as it was given."""
        texts = {"config_json": '{"a":  1.0}', "create_request_id": "r-1", "facts_json": '{"é": "\\ud800"}'}
        row = row_of(new_id(), version=7, head_node=3, head_commit=2, length=3, labels={"k": "v", "é": ""}, **texts)
        assert await store.create(row) == replace(row, version=1)
        assert await store.read_row(row.session_id) == replace(row, version=1)

    async def test_create_of_a_session_that_exists_changes_nothing(self, store: Store) -> None:
        """The second creation is refused, and the first stays."""
        row = await store.create(row_of(new_id(), labels={"mine": "yes"}))
        with pytest.raises(SessionAlreadyExists):
            await store.create(row_of(row.session_id, labels={"mine": "no"}))
        assert await store.read_row(row.session_id) == row

    async def test_create_with_content_makes_all_of_it(self, store: Store) -> None:
        """A session can begin with a history; if it exists already, nothing of that history goes into it."""
        row = row_of(new_id(), head_node=2, head_commit=1, length=2)
        content = Changes(row, [message(1), message(2)], [commit(1)], [diagnostic(1)])
        assert await store.create(row, content) == replace(row, version=1)
        with pytest.raises(SessionAlreadyExists):
            await store.create(row, Changes(row, [message(3)]))
        loaded = await store.load(row.session_id)
        assert loaded is not None
        assert (loaded.row, list(loaded.commits)) == (replace(row, version=1), [commit(1)])
        assert await store.read_bodies(row.session_id, [1, 2, 3]) == {1: b"body", 2: b"body"}
        assert await store.read_diagnostics(row.session_id, 0, 10) == [diagnostic(1)]

    async def test_one_of_many_creations_wins(self, store: Store) -> None:
        """Creations at once: one makes the session."""
        row = row_of(new_id())
        results = await asyncio.gather(*(store.create(row) for _ in range(8)), return_exceptions=True)
        assert results.count(replace(row, version=1)) == 1
        assert sum(isinstance(result, SessionAlreadyExists) for result in results) == 7

    async def test_unknown_session_is_none_or_empty(self, store: Store) -> None:
        """Reading what does not exist is not an error."""
        assert await store.read_row(unknown := new_id()) is None
        assert await store.load(unknown) is None
        assert await store.read_bodies(unknown, [1]) == {}
        assert await store.read_diagnostics(unknown, 0, 10) == []
        assert await store.delete(unknown) is False

    async def test_labels_given_are_not_shared_with_the_caller(self, store: Store) -> None:
        """A mapping that changes after the call does not change the session."""
        labels = {"a": "1"}
        row = await store.create(row_of(new_id(), labels=labels))
        labels["a"] = "2"
        found = await store.read_row(row.session_id)
        assert found is not None
        assert found.labels == {"a": "1"}

    async def test_confusable_ids_are_different_sessions(self, store: Store) -> None:
        """Ids that differ in case, Unicode form, spaces or punctuation share nothing."""
        prefix = new_id()
        rows = [await store.create(row_of(prefix + name, facts_json=f'"{n}"')) for n, name in enumerate(CONFUSABLE_IDS)]
        await store.write(Changes(rows[0], [message(1)]))
        await store.delete(rows[1].session_id)
        for row in rows[2:]:
            assert await store.read_row(row.session_id) == row
            assert await nodes_of(store, row.session_id) == []
        assert await nodes_of(store, rows[0].session_id) == [1]

    async def test_ids_of_a_kilobyte_are_told_apart_at_their_end(self, store: Store) -> None:
        """Nothing of a long id is cut off."""
        prefix = new_id("x" * 1_000)
        for end in ("a", "b"):
            await store.create(row_of(prefix + end, facts_json=f'"{end}"'))
        found = await store.read_row(prefix + "b")
        assert found is not None
        assert found.facts_json == '"b"'
        assert await store.read_row(prefix) is None

    # Writing

    async def test_write_keeps_messages_commits_and_diagnostics(self, store: Store) -> None:
        """What was written is loaded, by number, without bodies."""
        row = await store.create(row_of(new_id()))
        messages, commits = [message(n) for n in (2, 1, 3)], [commit(n) for n in (2, 1)]
        ahead = replace(row, update_time_ms=9_000, head_node=3, head_commit=2, length=3, labels={"x": "y"})
        written = await store.write(Changes(ahead, messages, commits, [diagnostic(1)]))
        assert written == replace(ahead, version=2)
        loaded = await store.load(row.session_id)
        assert loaded is not None
        assert loaded.row == written
        assert list(loaded.messages) == without_body([messages[1], messages[0], messages[2]])
        assert list(loaded.commits) == [commits[1], commits[0]]
        assert await store.read_diagnostics(row.session_id, 0, 10) == [diagnostic(1)]

    async def test_numbers_may_have_64_bits(self, store: Store) -> None:
        """Timestamps come from clients: the largest and the smallest come back."""
        row = await store.create(row_of(new_id()))
        messages = [message(n)._replace(timestamp_ms=time) for n, time in ((1, 2**63 - 1), (2, -(2**63)))]
        await store.write(Changes(row, messages))
        loaded = await store.load(row.session_id)
        assert loaded is not None
        assert list(loaded.messages) == without_body(messages)

    async def test_branches_are_loaded_with_their_parents(self, store: Store) -> None:
        """Messages of an abandoned branch stay beside those of the new one."""
        row = await store.create(row_of(new_id()))
        row = await store.write(Changes(replace(row, head_node=2, length=2), [message(1), message(2)]))
        branch = message(3)._replace(parent=1, position=1)
        await store.write(Changes(replace(row, head_node=3, length=2), [branch]))
        loaded = await store.load(row.session_id)
        assert loaded is not None
        assert [(one.node, one.parent, one.position) for one in loaded.messages] == [(1, 0, 0), (2, 1, 1), (3, 1, 1)]

    async def test_skeletons_are_replaced_and_nothing_else(self, store: Store) -> None:
        """A new skeleton stands in place of the old one; for a message that is not there the write is refused."""
        row = await store.create(row_of(new_id()))
        row = await store.write(Changes(row, [message(1), message(2)]))
        row = await store.write(Changes(row, skeletons={2: b"other"}))
        with pytest.raises(ValueError):
            await store.write(Changes(row, [message(3)], skeletons={4: b"other"}))
        loaded = await store.load(row.session_id)
        assert loaded is not None
        assert [*loaded.messages] == without_body([message(1), message(2)._replace(skeleton=b"other")])

    async def test_bodies_are_replaced_and_nothing_else(self, store: Store) -> None:
        """A new body stands in place of the old one; for a message that is not there the write is refused."""
        row = await store.create(row_of(new_id()))
        row = await store.write(Changes(row, [message(1), message(2)]))
        row = await store.write(Changes(row, [message(3)], bodies={2: b"other"}, skeletons={1: b"changed"}))
        with pytest.raises(ValueError):
            await store.write(Changes(row, bodies={9: b"other"}))
        bodies = await store.read_bodies(row.session_id, [1, 2, 3])
        assert bodies == {1: message(1).body, 2: b"other", 3: message(3).body}

    async def test_stale_version_is_refused_and_changes_nothing(self, store: Store) -> None:
        """A writer that saw an older version, or one that is not yet there, leaves no trace."""
        row = await store.create(row_of(new_id()))
        current = await store.write(Changes(row, [message(1)]))
        for version in (0, row.version, current.version + 1):
            stale = replace(current, version=version, labels={"stale": "yes"})
            with pytest.raises(RevisionConflict):
                await store.write(Changes(stale, [message(2)], [commit(1)], [diagnostic(1)]))
        assert await store.read_row(row.session_id) == current
        assert await nodes_of(store, row.session_id) == [1]

    async def test_write_to_a_session_that_is_gone(self, store: Store) -> None:
        """A deleted session is not found, and does not come back."""
        row = await store.create(row_of(new_id()))
        await store.delete(row.session_id)
        with pytest.raises(SessionNotFound):
            await store.write(Changes(row, [message(1)]))
        assert await store.read_row(row.session_id) is None

    async def test_write_to_a_session_that_was_made_again(self, store: Store) -> None:
        """The same id and version, but another session: a conflict."""
        row = await store.create(row_of(new_id()))
        await store.delete(row.session_id)
        await store.create(replace(row, create_time_ms=row.create_time_ms + 1))
        with pytest.raises(RevisionConflict):
            await store.write(Changes(row, [message(1)]))

    @pytest.mark.parametrize("what", ["messages", "commits", "diagnostics"])
    @pytest.mark.parametrize("within", [True, False])
    async def test_duplicate_number_undoes_the_whole_write(self, store: Store, what: str, within: bool) -> None:
        """A node or number that is there already, or comes twice in one write: nothing of the write remains."""
        numbers = {"messages": [2], "commits": [2], "diagnostics": [2]}
        numbers[what] += [2 if within else 1]
        row = await store.create(row_of(new_id()))
        row = await store.write(Changes(row, [message(1)], [commit(1)], [diagnostic(1)]))
        before = await store.load(row.session_id)
        messages, commits = map(message, numbers["messages"]), map(commit, numbers["commits"])
        diagnostics = map(diagnostic, numbers["diagnostics"])
        changed = replace(row, labels={"new": "label"}, length=9)
        with pytest.raises(ValueError, match="exists already"):
            await store.write(Changes(changed, [*messages], [*commits], [*diagnostics]))
        assert await store.load(row.session_id) == before
        assert await store.read_bodies(row.session_id, [1, 2]) == {1: b"body"}
        assert await store.read_diagnostics(row.session_id, 0, 10) == [diagnostic(1)]
        assert await store.list_rows(SessionFilter({"new": "label"}), row.session_id[:-1], 1) == []

    async def test_one_of_many_writers_wins(self, store: Store) -> None:
        """Writers that saw the same version: one succeeds, the others are told."""
        row = await store.create(row_of(new_id()))
        writes = (store.write(Changes(replace(row, length=n), [message(n)])) for n in range(1, 9))
        results = await asyncio.gather(*writes, return_exceptions=True)
        won = [result for result in results if isinstance(result, SessionRow)]
        assert sum(isinstance(result, RevisionConflict) for result in results) == 7
        assert await store.read_row(row.session_id) == won[0]
        assert await nodes_of(store, row.session_id) == [won[0].length]

    async def test_no_increment_is_lost(self, store: Store) -> None:
        """Read, add one, write, repeat after a conflict: the sum is right."""
        session_id = (await store.create(row_of(new_id()))).session_id

        async def add_one() -> None:
            while True:
                row = await store.read_row(session_id)
                assert row is not None
                try:
                    await store.write(Changes(replace(row, length=row.length + 1), [message(row.length + 1)]))
                except RevisionConflict:
                    continue
                return

        await asyncio.gather(*(add_one() for _ in range(12)))
        assert await nodes_of(store, session_id) == list(range(1, 13))

    async def test_readers_see_whole_writes(self, store: Store) -> None:
        """A load during writes shows a row and exactly the messages that belong to it."""
        row = await store.create(row_of(new_id()))

        async def write_all() -> None:
            current = row
            for n in range(1, 20):
                ahead = replace(current, length=2 * n)
                current = await store.write(Changes(ahead, [message(2 * n - 1), message(2 * n)]))

        writing = asyncio.create_task(write_all())
        while not writing.done():
            loaded = await store.load(row.session_id)
            assert loaded is not None
            assert [one.node for one in loaded.messages] == list(range(1, loaded.row.length + 1))
            await asyncio.sleep(0)
        await writing

    async def test_cancelled_write_is_whole_or_not_made(self, store: Store) -> None:
        """Cancelled at any moment: when the task has ended, all of it is there or nothing, and it stays so."""
        row = await store.create(row_of(new_id()))
        for turn in range(40):
            node = row.length + 1
            changes = Changes(replace(row, length=node), [message(node, EVERY_BYTE * 40)], [commit(node)])
            task = asyncio.create_task(store.write(changes))
            for _ in range(turn % 8):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            loaded = await store.load(row.session_id)
            assert loaded is not None
            assert loaded.row in (row, replace(changes.row, version=row.version + 1))
            assert [one.node for one in loaded.messages] == list(range(1, loaded.row.length + 1))
            assert [one.number for one in loaded.commits] == list(range(1, loaded.row.length + 1))
            row = loaded.row
        await store.write(Changes(row, [message(row.length + 1)]))

    async def test_cancelled_write_does_not_disturb_others(self, store: Store) -> None:
        """Writes to other sessions, under way at the same time, give their results."""
        rows = [await store.create(row_of(new_id())) for _ in range(12)]
        tasks = [asyncio.create_task(store.write(Changes(row, [message(1)]))) for row in rows]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert results[1::2] == [replace(row, version=2) for row in rows[1::2]]

    # Bodies

    @FEW
    @given(bodies=st.lists(BODIES, max_size=12))
    async def test_bodies_come_back_byte_for_byte(self, store: Store, bodies: list[bytes]) -> None:
        """Any bytes, empty or large, compressible or not."""
        row = await store.create(row_of(new_id()))
        numbered = dict(enumerate(bodies, start=1))
        await store.write(Changes(row, [message(node, body) for node, body in numbered.items()]))
        assert await store.read_bodies(row.session_id, list(numbered)) == numbered

    async def test_body_of_several_megabytes(self, store: Store) -> None:
        """Large bodies are not special."""
        body = EVERY_BYTE * 20_000
        row = await store.create(row_of(new_id()))
        await store.write(Changes(row, [message(1, body)]))
        assert await store.read_bodies(row.session_id, [1]) == {1: body}

    async def test_empty_body_is_not_a_missing_one(self, store: Store) -> None:
        """A body without bytes is there; unknown nodes are left out; asking twice for one is asking once."""
        row = await store.create(row_of(new_id()))
        await store.write(Changes(row, [message(1, b""), message(2, b"\x00")]))
        assert await store.read_bodies(row.session_id, [9, 2, 1, 1, 0, -1]) == {1: b"", 2: b"\x00"}
        assert await store.read_bodies(row.session_id, []) == {}

    async def test_thousands_of_bodies_at_once(self, store: Store) -> None:
        """More than a statement has parameters."""
        bodies = {node: b"body %d" % node for node in range(1, 40_001)}
        row = await store.create(row_of(new_id()))
        await store.write(Changes(row, [message(node, body) for node, body in bodies.items()]))
        assert await store.read_bodies(row.session_id, range(40_100)) == bodies

    # Deletion

    async def test_delete_removes_everything(self, store: Store) -> None:
        """A session made again under the id starts empty; other sessions stay."""
        first, other = [await store.create(row_of(new_id(), labels={"l": "1"})) for _ in range(2)]
        for row in (first, other):
            await store.write(Changes(row, [message(1)], [commit(1)], [diagnostic(1)]))
        assert await store.delete(first.session_id) is True
        assert await store.delete(first.session_id) is False
        assert await store.load(first.session_id) is None
        assert await store.read_bodies(first.session_id, [1]) == {}
        again = await store.create(row_of(first.session_id))
        loaded = await store.load(first.session_id)
        assert loaded is not None
        assert (loaded.row, list(loaded.messages), list(loaded.commits)) == (again, [], [])
        assert await store.read_bodies(first.session_id, [1]) == {}
        assert await store.read_diagnostics(first.session_id, 0, 10) == []
        assert await store.read_bodies(other.session_id, [1]) == {1: b"body"}

    # Forks

    async def test_fork_copies_what_was_named(self, store: Store) -> None:
        """Messages with bodies and commits come under their numbers; the rest and the diagnostics stay behind."""
        source = await store.create(row_of(new_id(), labels={"from": "source"}))
        messages = [message(n, b"body %d" % n) for n in range(1, 6)]
        await store.write(Changes(source, messages, [commit(n) for n in range(1, 4)], [diagnostic(1)]))
        row = row_of(new_id(), version=5, head_node=4, length=3, labels={"to": "fork"})
        forked = await store.fork(source.session_id, row, [1, 2, 4], [1, 3])
        assert forked == replace(row, version=1)
        loaded = await store.load(row.session_id)
        assert loaded is not None
        assert loaded.row == forked
        assert list(loaded.messages) == without_body([messages[0], messages[1], messages[3]])
        assert list(loaded.commits) == [commit(1), commit(3)]
        assert await store.read_bodies(row.session_id, range(9)) == {1: b"body 1", 2: b"body 2", 4: b"body 4"}
        assert await store.read_diagnostics(row.session_id, 0, 10) == []

    async def test_fork_and_source_are_independent(self, store: Store) -> None:
        """Each goes on with numbers of its own, and outlives the other."""
        source = await store.create(row_of(new_id()))
        source = await store.write(Changes(source, [message(1, b"shared")]))
        fork = await store.fork(source.session_id, row_of(new_id()), [1], [])
        await store.write(Changes(source, [message(2, b"source")]))
        await store.write(Changes(fork, [message(2, b"fork")]))
        assert await store.read_bodies(source.session_id, [1, 2]) == {1: b"shared", 2: b"source"}
        await store.delete(source.session_id)
        assert await store.read_bodies(fork.session_id, [1, 2]) == {1: b"shared", 2: b"fork"}

    async def test_fork_that_fails_makes_nothing(self, store: Store) -> None:
        """No source, a target that exists, a node or commit that the source does not have."""
        source = await store.create(row_of(new_id()))
        source = await store.write(Changes(source, [message(1)], [commit(1)]))
        row = row_of(new_id())
        with pytest.raises(SessionNotFound):
            await store.fork(new_id(), row, [], [])
        with pytest.raises(SessionAlreadyExists):
            await store.fork(source.session_id, row_of(source.session_id), [1], [])
        for nodes, commits in (([1, 2], [1]), ([1], [1, 2])):
            with pytest.raises(ValueError, match="no such node or number"):
                await store.fork(source.session_id, row, nodes, commits)
        assert await store.read_row(row.session_id) is None
        assert await nodes_of(store, source.session_id) == [1]

    # Listings

    async def test_listing_is_in_code_point_order(self, store: Store) -> None:
        """Not by any language, not by UTF-16; each page goes on behind an id, whether or not it exists."""
        prefix = new_id()
        ids = sorted(prefix + name for name in CONFUSABLE_IDS)
        for session_id in reversed(ids):
            await store.create(row_of(session_id, labels={"group": prefix}))
        where = SessionFilter({"group": prefix})
        seen: list[str] = []
        while page := await store.list_rows(where, seen[-1] if seen else "", 7):
            seen += [row.session_id for row in page]
        assert seen == ids
        assert all(before < after for before, after in pairwise(seen))
        assert [row.session_id for row in await store.list_rows(where, ids[3] + "\x01", 1)] == [
            next(session_id for session_id in ids if session_id > ids[3] + "\x01")
        ]
        assert await store.list_rows(where, ids[-1], 7) == []
        assert await store.list_rows(where, "", 0) == []

    async def test_listing_without_labels_starts_behind_an_id(self, store: Store) -> None:
        """The plain listing shows rows as they are read."""
        prefix = new_id()
        rows = [await store.create(row_of(prefix + end, labels={"n": end})) for end in "abc"]
        assert await store.list_rows(SessionFilter(), prefix + "a", 2) == rows[1:]

    async def test_listing_by_labels_and_time(self, store: Store) -> None:
        """All labels must match, exactly; the time is inclusive; changed labels count, old ones do not."""
        group = new_id()
        plain = {"g": group}
        rows = {}
        for end, labels, time in (("a", {"x": "1"}, 10), ("b", {"x": "1", "y": "2"}, 20), ("c", {"x": "12"}, 30)):
            rows[end] = await store.create(row_of(group + end, labels=plain | labels, update_time_ms=time))

        async def found(labels: dict[str, str], since: int = 0) -> str:
            page = await store.list_rows(SessionFilter(plain | labels, since), "", 10)
            return "".join(row.session_id[-1] for row in page)

        assert await found({}) == "abc"
        assert await found({"x": "1"}) == "ab"
        assert await found({"x": "1", "y": "2"}) == "b"
        assert await found({"X": "1"}) + await found({"x": ""}) + await found({"x": "%"}) == ""
        assert await found({}, since=20) == "bc"
        await store.write(Changes(replace(rows["a"], labels=plain | {"z": "é"}, update_time_ms=40)))
        assert await found({"x": "1"}) == "b"
        assert await found({"z": "é"}, since=40) == "a"
        await store.delete(group + "a")
        assert await found({}) == "bc"

    async def test_diagnostics_are_paged(self, store: Store) -> None:
        """In order, those above a number, at most so many."""
        row = await store.create(row_of(new_id()))
        fourth = replace(diagnostic(4), transcript_length=7)
        await store.write(Changes(row, diagnostics=[*(diagnostic(n) for n in (3, 1, 2)), fourth]))
        assert await store.read_diagnostics(row.session_id, 0, 2) == [diagnostic(1), diagnostic(2)]
        assert await store.read_diagnostics(row.session_id, 2, 9) == [diagnostic(3), fourth]
        assert await store.read_diagnostics(row.session_id, 4, 9) == []
        assert await store.read_diagnostics(row.session_id, 0, 0) == []

    # Life

    async def test_everything_outlives_the_store(self, store: Store) -> None:
        """Closed and opened again, all is as it was written."""
        row = await store.create(row_of(new_id(), labels={"l": "é"}))
        gone = await store.create(row_of(new_id()))
        bodies = {1: b"", 2: EVERY_BYTE, 3: EVERY_BYTE * 50}
        messages = [message(node, body) for node, body in bodies.items()]
        row = await store.write(Changes(row, messages, [commit(1)], [diagnostic(1)]))
        await store.delete(gone.session_id)
        before = await store.load(row.session_id)
        again = await self.reopen(store)
        try:
            assert await again.load(row.session_id) == before
            assert await again.read_bodies(row.session_id, [1, 2, 3]) == bodies
            assert await again.read_diagnostics(row.session_id, 0, 9) == [diagnostic(1)]
            assert await again.read_row(gone.session_id) is None
            await again.write(Changes(row, [message(4)]))
        finally:
            await again.close()

    async def test_close_finishes_what_was_accepted(self, store: Store) -> None:
        """A write that had begun is complete after `close`, and its caller has the answer."""
        row = await store.create(row_of(new_id()))
        writing = asyncio.create_task(store.write(Changes(row, [message(1, EVERY_BYTE * 1000)])))
        await asyncio.sleep(0)
        again = await self.reopen(store)
        try:
            assert await again.read_row(row.session_id) == await writing
        finally:
            await again.close()

    async def test_close_is_idempotent(self, store: Store) -> None:
        """Closing twice, also at once, is closing."""
        await asyncio.gather(store.close(), store.close())
        await store.close()
