"""Sessions that move out as Pi session files, and in again elsewhere."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from condense_grpc.domain.entries import CarriedEntry
from condense_grpc.domain.messages import ImagePart, Message, OpaquePart, Role, TextPart
from condense_grpc.domain.pi_json import message_to_pi
from condense_grpc.engine.carried import CarriedFile, CarriedLine, pack_file, unpack_file
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.requests import PruneRequest, ViewKind
from condense_grpc.testing.fakes import Failure, FakeSummarizer, Reply
from tests.domain.histories import answer, calls, messy_histories, result, user
from tests.engine.harness import LONG, Agent, World
from tests.engine.pi_files import PiWriter, assert_linked, entries_of, export_data, import_data, record, ref


async def test_a_session_is_written_as_its_host_would_have(world: World) -> None:
    """A header, then every message and decision in order, each naming the one before."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await agent.append(user(None, "more"))
    data = await export_data(world.engine, "s")
    header = json.loads(data.splitlines()[0])
    assert (header["type"], header["version"], header["id"]) == ("session", 3, "s")
    assert_linked(data)
    kinds = [entry.get("customType", entry["type"]) for entry in entries_of(data)]
    assert kinds[:4] == ["message"] * 4
    assert kinds[4:6] == ["context-prune-summary", "context-prune-index"]
    assert kinds[-2:] == ["context-prune-flush-metrics", "message"]
    assert await export_data(world.engine, "s") == data


async def test_chunks_are_bounded(world: World) -> None:
    """A file of any size comes in pieces of a mebibyte."""
    agent = await world.agent(spill_threshold=10_000_000)
    for number in range(5):
        await agent.work(f"c{number}", text="x" * 700_000)
    chunks = [chunk async for chunk in world.engine.export_session("s")]
    assert [len(chunk) == 2**20 for chunk in chunks] == [True] * (len(chunks) - 1) + [False]
    assert len(chunks) == 4
    assert (await import_data(world.engine, b"".join(chunks), "t")).info.length == 20


async def test_what_came_in_goes_out_byte_for_byte(world: World) -> None:
    """Numbers, escapes, spaces, unknown entries and lines of other extensions; what is new comes behind."""
    pi = PiWriter()
    pi.add("model_change", provider="p", modelId="m")
    pi.raw('{ "type":"message", "id":"x1", "parentId":"e1", "message": {"role":"user","content":"\\u00e9 \\/", ')
    pi.lines[-1] += '"timestamp":1.7e12, "k":1.0, "k":1e-7, "n":12345678901234567890} , "timestamp":"2023"}\r'
    pi.last = "x1"
    pi.call("a")
    time = pi.result("a", LONG)
    pi.add("invented", anything={"deep": [1, {"a": None}]})
    pi.custom("other-extension", {"data": 1})
    pi.custom("context-prune-index", {"toolCalls": [record("a", time, LONG, extra=1)]})
    pi.custom("context-prune-chain", {"blockId": 7})
    pi.add("label", targetId="x1", label="here")
    await import_data(world.engine, pi.data)
    assert await export_data(world.engine, "pi-1") == pi.data
    agent = Agent(world, "pi-1")
    agent.length = 3
    agent.history = [user(None)] * 3
    await agent.work("b")
    await agent.flush()
    data = await export_data(world.engine, "pi-1")
    assert data.startswith(pi.data)
    assert len(data.splitlines()) > len(pi.lines) + 5
    assert [entry["parentId"] for entry in entries_of(data)][-1] == entries_of(data)[-2]["id"]
    await world.restart()
    assert await export_data(world.engine, "pi-1") == data


async def test_lines_go_with_the_messages_they_belong_to(world: World) -> None:
    """A rewind leaves out what stood behind it; coming back brings it back, linked to what is there then."""
    pi = PiWriter()
    pi.user("one")
    pi.add("label", targetId="e1", label="first")
    pi.answer()
    pi.add("session_info", name="called")
    await import_data(world.engine, pi.data)
    agent = Agent(world, "pi-1")
    history = await agent.view()
    agent.length, agent.history = 2, history
    await agent.rewind(1)
    assert await export_data(world.engine, "pi-1") == "".join(f"{line}\n" for line in pi.lines[:3]).encode()
    await agent.append(user(None, "other"))
    assert_linked(await export_data(world.engine, "pi-1"))
    await agent.append(replace(history[1], source_json=""), base=1)
    assert await export_data(world.engine, "pi-1") == pi.data


async def forked_early(world: World) -> Agent:
    """A fork of an imported session that begins before most of its lines."""
    pi = PiWriter()
    pi.user("one")
    pi.answer("first")
    pi.user("abandoned")
    pi.add("invented", anything="abandoned")
    pi.answer("abandoned")
    pi.add("label", targetId="e3", label="abandoned")
    await import_data(world.engine, pi.data)
    await world.engine.fork_session("pi-1", "f", base_length=2)
    fork = Agent(world, "f")
    fork.length, fork.history = 2, (await fork.view())[:2]
    return fork


@pytest.mark.parametrize("times", [1, 2])
async def test_a_fork_tells_its_own_messages_in_place_of_those_that_it_has_left(world: World, times: int) -> None:
    """Lines of the file that stood behind the fork never come out of it, nor out of a fork of the fork."""
    fork = await forked_early(world)
    if times == 2:
        await world.engine.fork_session("f", "g")
        fork = Agent(world, "g")
        fork.length, fork.history = 2, await fork.view()
    await world.restart()
    await fork.append(user(None, "two"), answer(None, "second"), user(None, "three"))
    data = await export_data(world.engine, fork.name)
    assert_linked(data)
    assert b"abandoned" not in data
    said = [entry["message"]["content"] for entry in entries_of(data)]
    assert [text if isinstance(text, str) else text[0]["text"] for text in said] == [
        "one",
        "first",
        "two",
        "second",
        "three",
    ]


async def test_forks_of_earlier_versions_can_be_exported(world: World) -> None:
    """Their messages stand in the lines whose nodes they have."""
    fork = await forked_early(world)
    stored = world.store.inner._all()["f"]  # type: ignore[attr-defined]
    facts = json.loads(stored.row.facts_json)
    del facts["nextNode"]
    stored.row = replace(stored.row, facts_json=json.dumps(facts))
    await world.restart()
    await fork.append(user(None, "two"), answer(None, "second"))
    messages = [entry["message"] for entry in entries_of(await export_data(world.engine, "f")) if "message" in entry]
    assert [one["content"][0]["text"] for one in messages[2:]] == ["two", "second"]
    assert all(one["timestamp"] for one in messages)


async def test_refs_of_before_a_compaction_go_along_when_its_lines_do_not(world: World) -> None:
    """A fork that ends among the messages that the compaction has kept."""
    pi = PiWriter()
    pi.user("one")
    pi.call("a")
    time = pi.result("a", LONG)
    pi.custom("context-prune-index", {"toolCalls": [record("a", time, LONG)]})
    pi.summary("about a", [ref("t4", "a", time)])
    pi.answer("first")
    pi.user("two")
    pi.add("compaction", summary="before", firstKeptEntryId="e6", tokensBefore=1)
    await import_data(world.engine, pi.data)
    assert (await world.engine.get_session("pi-1")).length == 3
    await world.engine.fork_session("pi-1", "f", base_length=1)
    assert await Agent(world, "f").read("t4") == LONG
    data = await export_data(world.engine, "f")
    assert_linked(data)
    assert (await import_data(world.engine, data, "again")).info.length == 1
    assert await Agent(world, "again").read("t4") == LONG


async def test_a_line_names_what_has_come_before_it(world: World) -> None:
    """Only the parent of a line changes when a decision has come to stand before it."""
    pi = PiWriter()
    pi.user()
    pi.call("a")
    pi.result("a", LONG)
    pi.answer()
    pi.user("later")
    await import_data(world.engine, pi.data)
    agent = Agent(world, "pi-1")
    history = await agent.view()
    agent.length, agent.history = 5, history
    await agent.rewind(4)
    await agent.flush()
    await agent.append(replace(history[4], source_json=""), base=4)
    data = await export_data(world.engine, "pi-1")
    assert_linked(data)
    last = data.splitlines()[-1].decode()
    assert last == pi.lines[-1].replace('"parentId":"e4"', f'"parentId":"{entries_of(data)[-2]["id"]}"')


async def test_files_without_a_tree_stay_so(world: World) -> None:
    """New lines of an old file name no parent where there is none to name."""
    pi = PiWriter(version=1)
    pi.user("one")
    entry = json.loads(pi.lines[1])
    del entry["id"], entry["parentId"]
    pi.lines[1] = json.dumps(entry)
    await import_data(world.engine, pi.data)
    agent = Agent(world, "pi-1")
    agent.length, agent.history = 1, [user(None)]
    await agent.append(answer(None), user(None, "two"))
    data = await export_data(world.engine, "pi-1")
    assert data.startswith(pi.data)
    assert "parentId" not in entries_of(data)[1]
    assert (await import_data(world.engine, data, "again")).info.length == 3


async def test_diagnostics_go_along_once(world: World) -> None:
    """What was noticed elsewhere is told again, and not doubled by moving."""
    agent = await world.agent("a")
    await agent.append(user(None), result(None, "stray"))
    await agent.prune()
    data = await export_data(world.engine, "a")
    for name in ("b", "c"):
        await import_data(world.engine, data, name)
        (noticed,) = await world.engine.diagnostic_entries(name, 0, 9)
        assert (noticed.kind, noticed.transcript_length) == ("orphan-sweep", 2)
        again = await export_data(world.engine, name)
        assert again.splitlines()[1:] == data.splitlines()[1:]
        data = again


async def test_parts_and_lone_surrogates(world: World) -> None:
    """Images, opaque parts and texts that no UTF-8 can hold arrive."""
    agent = await world.agent("a")
    parts = (TextPart("x\ud800"), ImagePart("image/png", b"\x00\xff"), OpaquePart("odd", '{"type":"odd","k":1.5}'))
    message = Message(Role.TOOL_RESULT, parts, tool_call_id="i", tool_name="bash")
    await agent.append(user(None), calls(None, "i"), message, answer(None))
    await agent.flush()
    await import_data(world.engine, await export_data(world.engine, "a"), "b")
    answers = [await world.engine.query(name, ["t1"], []) for name in ("a", "b")]
    assert answers[0].text == answers[1].text
    assert answers[0].parts == answers[1].parts


async def test_equal_times_keep_no_chain_from_its_place(world: World) -> None:
    """A chain that only digests can name is found in the copy too."""
    agent = await world.agent("a", chain_compression={"rolling_window": 0})
    for name in ("x", "y"):
        await agent.append(user(5), calls(5, name), result(5, name, f"{name}: {LONG}"), answer(5))
    await agent.flush()
    await import_data(world.engine, await export_data(world.engine, "a"), "b")
    texts = [await Agent(world, name).texts() for name in ("a", "b")]
    assert texts[0] == texts[1]
    assert sum(text.startswith("<compressed-chain") for text in texts[1]) == 2


LINES = st.builds(
    CarriedLine,
    st.text(max_size=3),
    st.text(max_size=3),
    st.text(),
    st.text(),
    *[st.integers(0, 9)] * 5,
    st.booleans(),
)


@given(st.lists(LINES), st.lists(st.integers(1, 9)))
def test_lines_are_packed_and_unpacked(lines: list[CarriedLine], silent: list[int]) -> None:
    """Nothing is lost on the way, bytes that are no UTF-8 included."""
    lines = [replace(line, head=line.head + "\udcff") for line in lines]
    file = CarriedFile("{}", "s", lines, silent)
    assert isinstance(pack_file(file), CarriedEntry)
    assert unpack_file(pack_file(file)) == file


# Whole sessions

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), messy_histories),
        st.tuples(st.just("flush"), st.sampled_from(["ok", "fail", "long"])),
        st.tuples(st.just("compact"), st.none()),
        st.tuples(st.just("rewind"), st.floats(0, 1)),
        st.tuples(st.just("pin"), st.tuples(st.integers(0, 9), st.sampled_from([None, 1, 10**9]))),
        st.tuples(st.just("unpin"), st.none()),
        st.tuples(st.just("move"), st.none()),
    ),
    min_size=2,
    max_size=8,
)


class Mover:
    """A session that is worked on, and that moves house now and then."""

    def __init__(self) -> None:
        self.world = World(summarizer=FakeSummarizer(can_fuse=True))
        self.agent: Agent
        self.moves = 0

    async def run(self, steps: list[tuple[str, Any]]) -> None:
        settings = {"protected_tools": ("keep",), "spill_threshold": 30, "chain_compression": {"rolling_window": 1}}
        self.agent = await self.world.agent("m0", **settings)
        for name, value in steps:
            await getattr(self, name)(value)
        await self.move(None)
        await self.world.engine.close(0)

    async def append(self, messages: list[Message]) -> None:
        await self.agent.append(*messages)
        await self.agent.prune()

    async def flush(self, kind: str) -> None:
        outcomes = {"ok": Reply(), "fail": Failure(), "long": Reply("x" * 5000)}
        self.world.summarizer.script(*[outcomes[kind]] * 3)
        await self.agent.flush()
        self.world.summarizer._script.clear()

    async def compact(self, _: None) -> None:
        await self.agent.compact()

    async def rewind(self, share: float) -> None:
        await self.agent.rewind(int(share * self.agent.length))

    async def pin(self, value: tuple[int, int | None]) -> None:
        number, ttl_ms = value
        listed = await self.agent.engine.list_calls(self.agent.name, 0, 10_000)
        names = [facts.record.key for facts in listed][number : number + 2]
        await self.agent.engine.pin_calls(self.agent.name, names, ttl_ms=ttl_ms)
        self.world.clock.advance(5)

    async def unpin(self, _: None) -> None:
        listed = await self.agent.engine.list_calls(self.agent.name, 0, 10_000)
        names = [facts.record.key for facts in listed][::2]
        await self.agent.engine.pin_calls(self.agent.name, names, unpin=True)

    async def move(self, _: None) -> None:
        """Export, import under another name, and compare everything that can be seen."""
        engine, before = self.world.engine, self.agent
        data = await export_data(engine, before.name)
        assert_linked(data)
        self.moves += 1
        config = {"protected_tools": ("keep",), "spill_threshold": 30, "chain_compression": {"rolling_window": 1}}
        imported = await import_data(engine, data, f"m{self.moves}", **config)
        # A frontier at a call without id is none, by the rule of loading.
        assert imported.counts.ignored_lines == data.count(b'"lastAttemptedToolCallId":""')
        after = Agent(self.world, f"m{self.moves}")
        after.history, after.length, after.etag = before.history, imported.info.length, imported.info.etag
        again = await export_data(engine, after.name)
        assert again.splitlines()[1:] == data.splitlines()[1:]
        seen = await self._seen(before)
        assert seen == await self._seen(after)
        await self._move_in_the_shape_of_pi(data, seen, config)
        self.agent = after

    async def _move_in_the_shape_of_pi(self, data: bytes, seen: list[Any], config: dict[str, Any]) -> None:
        engine, name = self.world.engine, f"n{self.moves}"
        await import_data(engine, data, name, is_native=True, **config)
        again = await export_data(engine, name)
        assert again.splitlines()[1:] == data.splitlines()[1:]
        assert seen == await self._seen(Agent(self.world, name))

    async def _seen(self, agent: Agent) -> list[Any]:
        engine = self.world.engine
        listed = await engine.list_calls(agent.name, 0, 10_000)
        names = [name for facts in listed for name in (facts.ref, facts.record.key, facts.record.tool_call_id)]
        facts = [
            (one.ref, one.state, one.duplicate_of, one.summary_id, one.block_id, one.sha256, one.pin) for one in listed
        ]
        answers = (await engine.query(agent.name, names, [])).text
        report = await engine.diagnostics(agent.name)
        return [
            await _view(engine, agent.name),
            facts,
            answers,
            report.stats,
            report.frontier,
            report.pending_batches,
            report.flushes,
        ]


async def _view(engine: Engine, name: str) -> Any:
    """The whole view as Pi has it."""
    result = await engine.prune(PruneRequest(name, view=ViewKind.FULL))
    if result.native is not None:
        return json.loads(result.native.json)
    return [message_to_pi(message) for message in result.messages or ()]


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_a_session_is_the_same_elsewhere(steps: list[tuple[str, Any]]) -> None:
    """Views, queries, refs, pending work and reports do not change by moving, however often."""
    asyncio.run(Mover().run(steps))


async def test_refs_of_records_that_were_never_written(world: World) -> None:
    """A summary whose records are elsewhere keeps its refs."""
    pi = PiWriter()
    pi.user()
    pi.summary("- `t4` gone", [ref("t4", "gone", 5)])
    await import_data(world.engine, pi.data)
    agent = Agent(world, "pi-1")
    agent.length, agent.history = 1, [user(None)]
    await agent.work("a")
    assert (await agent.flush()).batches[0].refs == ("t5",)
