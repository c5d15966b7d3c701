"""Sessions that move in from Pi session files."""

import json

import pytest

from condense_grpc.domain.messages import Role
from condense_grpc.domain.pi_json import message_to_pi
from condense_grpc.engine.pi_file import PiFile
from condense_grpc.engine.requests import CallState
from condense_grpc.errors import NativeJsonInvalid, SessionAlreadyExists, SessionNotFound
from tests.engine.harness import LONG, Agent, World
from tests.engine.pi_files import PiWriter, export_data, import_data, record, ref


async def agent_of(world: World, data: bytes, session_id: str = "", **more: object) -> Agent:
    imported = await import_data(world.engine, data, session_id, **more)
    agent = Agent(world, imported.info.session_id)
    agent.history = await agent.view()
    agent.length, agent.etag = imported.info.length, imported.info.etag
    agent.history = agent.history[: agent.length]
    return agent


def pruned_session() -> PiWriter:
    """One turn that was summarized, one that repeats it, one that was skipped, and one that is pending."""
    pi = PiWriter()
    pi.user()
    pi.call("a")
    time = pi.result("a", LONG)
    pi.answer()
    pi.custom("context-prune-index", {"toolCalls": [record("a", time, LONG)]})
    pi.summary("- `t1` did it", [ref("t1", "a", time)])
    pi.user("again")
    pi.call("b")
    again = pi.result("b", LONG)
    alias = {"newToolCallId": "b", "newResultTimestamp": again, "originalToolCallId": "a"}
    alias |= {"originalResultTimestamp": time, "record": record("b", again, LONG, turnIndex=2)}
    pi.custom("context-prune-dedup-alias", alias)
    pi.call("c")
    skipped = pi.result("c", "small")
    skip = {"reason": "trivial", "calls": [{"toolCallId": "c", "resultTimestamp": skipped}]}
    pi.custom("context-prune-skip", skip)
    pi.custom("context-prune-stats", {"totalInputTokens": 7, "totalOutputTokens": 3, "totalCost": 0.5, "callCount": 1})
    pi.custom("context-prune-frontier", {"lastAttemptedToolCallId": "c", "lastAttemptedTurnIndex": 3})
    pi.custom("context-prune-diagnostic", {"kind": "orphan-sweep", "detail": "swept 1"})
    pi.call("d")
    pi.result("d", f"d: {LONG}")
    pi.answer()
    return pi


async def test_messages_come_in_as_they_are(world: World) -> None:
    """The transcript is the active branch, the view of a session without decisions is the transcript."""
    pi = PiWriter("pi-7")
    pi.add("model_change", provider="p", modelId="m")
    pi.user("é😀")
    pi.call("a", arguments={"path": "/x", "n": 1.0})
    pi.result("a", details={"k": [1]})
    pi.message(role="bashExecution", command="ls", output="x")
    pi.answer()
    imported = await import_data(world.engine, pi.data)
    assert (imported.info.session_id, imported.info.length) == ("pi-7", 5)
    assert (imported.counts.messages, imported.counts.entries, imported.counts.ignored_lines) == (5, 0, 1)
    shown = [message_to_pi(message) for message in await Agent(world, "pi-7").view()]
    assert shown == [json.loads(line)["message"] for line in pi.lines[2:]]


async def test_decisions_stand_where_they_were_made(world: World) -> None:
    """Stubs, summaries, duplicates, skips, statistics and refs are what the former host had decided."""
    pi = pruned_session()
    agent = await agent_of(world, pi.data)
    texts = await agent.texts()
    stub = "[Summarized in pruner summary, ref `t1`. Use context_tree_query to retrieve full output.]"
    assert texts[2:5] == [stub, "done", "- `t1` did it"]
    assert [texts[7], texts[9], texts[11]] == [stub, "small", f"d: {LONG}"]
    states = {facts.record.tool_call_id: facts.state for facts in await world.engine.list_calls(agent.name, 0, 9)}
    assert states == {
        "a": CallState.SUMMARIZED,
        "b": CallState.DUPLICATE,
        "c": CallState.SKIPPED,
        "d": CallState.PENDING,
    }
    report = await world.engine.diagnostics(agent.name)
    assert (report.stats.total_input_tokens, report.session_delta.total_cost) == (7, 0)
    assert report.frontier is not None and report.frontier.last_attempted_tool_call_id == "c"
    (noticed,) = await world.engine.diagnostic_entries(agent.name, 0, 9)
    assert (noticed.kind, noticed.detail, noticed.transcript_length) == ("orphan-sweep", "swept 1", 9)
    assert (await world.engine.get_session(agent.name)).rearmed


async def test_a_session_that_moved_in_goes_on(world: World) -> None:
    """The next flush takes what is pending, with the next ref, and nothing twice."""
    agent = await agent_of(world, pruned_session().data)
    flushed = await agent.flush()
    assert [batch.refs for batch in flushed.batches] == [("t2",)]
    await agent.work("e")
    assert [batch.refs for batch in (await agent.flush()).batches] == [("t3",)]
    assert await agent.read("t1") == LONG
    assert await agent.read("t2") == f"d: {LONG}"


async def test_rewinding_takes_decisions_away(world: World) -> None:
    """Before a decision was made it does not hold; refs go on from what is left."""
    agent = await agent_of(world, pruned_session().data)
    await agent.rewind(4)
    assert await agent.refs() == {f"a@{agent.history[2].timestamp_ms}": "t1"}
    await agent.rewind(3)
    assert await agent.refs() == {}
    assert (await agent.flush()).batches[0].refs == ("t1",)


async def test_texts_lie_in_the_messages(world: World) -> None:
    """A record that says what its message says holds nothing itself; one that says more keeps its own words."""
    pi = PiWriter()
    pi.user()
    pi.call("a", "b", "c")
    times = [pi.result(one, LONG) for one in ("a", "b", "c")]
    other = LONG + "more"
    records = [record("a", times[0], LONG), record("b", times[1], other), record("c", times[2], LONG, args={"x": LONG})]
    pi.custom("context-prune-index", {"toolCalls": [*records, record("gone", 5, "gone " + LONG)]})
    agent = await agent_of(world, pi.data)
    stored = {key: (await world.engine.call_facts(agent.name, key))[0].record for key in ("a", "b", "c", "gone")}
    assert all(one.text is None and one.source is not None for one in stored.values())
    assert [await agent.read(one) for one in ("a", "b", "gone")] == [LONG, other, "gone " + LONG]
    assert json.dumps({"x": LONG})[1:-1] in (await world.engine.query(agent.name, ["c"], [])).text


async def test_only_the_active_branch_is_taken(world: World) -> None:
    """The path to the last entry; what was tried beside it stays out, prune entries too."""
    pi = PiWriter()
    pi.user("one")
    fork = pi.answer()
    pi.user("left")
    pi.custom("context-prune-stats", {"totalInputTokens": 9})
    pi.add("branch_summary", parent=fork, fromId=fork, summary="what was left")
    pi.user("two")
    imported = await import_data(world.engine, pi.data)
    assert (imported.info.length, imported.counts.messages, imported.counts.entries) == (4, 4, 0)
    shown = [message_to_pi(message) for message in await Agent(world, "pi-1").view()]
    assert [message.get("content") for message in shown[::3]] == ["one", "two"]
    assert shown[2] == {
        "role": "branchSummary",
        "summary": "what was left",
        "fromId": fork,
        "timestamp": 1_700_000_000_000,
    }


async def test_lines_that_cannot_be_read_are_counted(world: World) -> None:
    """They are left out, whatever they are, and the history stays in one piece."""
    pi = PiWriter()
    pi.user()
    for line in ("", "{", "null", "[1]", '"text"', '{"type":"message"', '{"a":NaN}', "[" * 100_000):
        pi.raw(line)
    pi.answer()
    pi.custom("context-prune-chain", {"blockId": 7})
    pi.custom("context-prune-index", None)
    pi.custom("context-prune-frontier", {"lastAttemptedToolCallId": ""})
    pi.custom("context-prune-stats", {"totalInputTokens": 1e300})
    pi.raw('{"type":"session","id":"other"}')
    imported = await import_data(world.engine, pi.data)
    assert (imported.info.length, imported.counts.entries, imported.counts.ignored_lines) == (2, 0, 12)
    noticed = await world.engine.diagnostic_entries("pi-1", 0, 9)
    assert [one.kind for one in noticed] == ["malformed-entry"] * 4
    assert noticed[0].detail == "line 12: context-prune-chain"


async def test_a_damaged_line_does_not_cut_the_history_off(world: World) -> None:
    """An entry whose parent cannot be read follows the entry above it."""
    pi = PiWriter()
    pi.user("one")
    pi.answer("lost")
    pi.user("two")
    pi.lines[2] = pi.lines[2][:-9]
    assert (await import_data(world.engine, pi.data)).info.length == 2


async def test_bytes_that_are_no_utf8_survive(world: World) -> None:
    """They come out as they came in."""
    pi = PiWriter()
    pi.user("a\udcff\udc80b")
    assert b"a\xff\x80b" in pi.data
    await import_data(world.engine, pi.data)
    assert await export_data(world.engine, "pi-1") == pi.data


async def test_old_files_have_no_tree(world: World) -> None:
    """Their entries follow each other."""
    pi = PiWriter(version=1)
    pi.user("one")
    pi.answer()
    for number in (1, 2):
        entry = json.loads(pi.lines[number])
        del entry["id"], entry["parentId"]
        pi.lines[number] = json.dumps(entry)
    assert (await import_data(world.engine, pi.data)).info.length == 2
    assert await export_data(world.engine, "pi-1") == pi.data


async def test_circles_end(world: World) -> None:
    """Entries that are each other's parents do not keep an import busy."""
    pi = PiWriter()
    pi.user("one")
    pi.lines[1] = pi.lines[1].replace('"parentId":null', '"parentId":"e2"')
    pi.answer()
    assert (await import_data(world.engine, pi.data)).info.length == 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"nonsense\n",
        b'{"type":"message","id":"a"}\n',
        b'{"type":"session"}\n',
        b'{"type":"session","id":""}',
    ],
)
async def test_a_file_without_header_is_refused(data: bytes) -> None:
    """Nothing is made of it."""
    file = PiFile()
    with pytest.raises(NativeJsonInvalid):
        file.add(data)
        file.finish()


async def test_a_large_result_needs_its_file(world: World) -> None:
    """With the file all of it comes back, without it the preview, without that the word that it is missing."""
    pi = PiWriter()
    pi.user()
    pi.call("a", "b", "c")
    times = [pi.result(one, "cut by the host") for one in ("a", "b", "c")]
    spilled = {"spilled": True, "spillBytes": 50, "resultPreview": "head of it"}
    pi.custom(
        "context-prune-index",
        {
            "toolCalls": [
                record("a", times[0], "", spillPath="/srv/a.txt", **spilled),
                record("b", times[1], "", spillPath="/srv/b.txt", **spilled),
                record("c", times[2], "", spillPath="/srv/c.txt", spilled=True),
            ],
            "refs": [ref("t1", "a", times[0]), ref("t2", "b", times[1]), ref("t3", "c", times[2])],
        },
    )
    agent = await agent_of(world, pi.data, files={"/srv/a.txt": "héad of it\nand all the rest".encode()})
    answers = [(await world.engine.query(agent.name, [name], [])).text for name in ("t1", "t2", "t3")]
    assert "héad of it\nand all the rest" in answers[0]
    assert answers[1].endswith("\n\nhead of it")
    assert answers[2].endswith("(spilled output unavailable — sidecar file missing)")
    assert (await agent.texts())[2].startswith("[Oversized output spilled to file — 50 bytes.]")
    await world.restart()
    assert "all the rest" in (await world.engine.query(agent.name, ["t1"], [])).text


async def test_a_large_result_that_its_message_still_holds(world: World) -> None:
    """A message that has the size and the head of the file is as good as the file."""
    pi = PiWriter()
    pi.user()
    pi.call("a")
    time = pi.result("a", LONG)
    spilled = {"spilled": True, "spillBytes": len(LONG), "resultPreview": LONG[:20], "spillPath": "/srv/a.txt"}
    pi.custom("context-prune-index", {"toolCalls": [record("a", time, "", **spilled)]})
    agent = await agent_of(world, pi.data)
    assert await agent.read("a") == LONG


async def test_what_a_host_has_compacted(world: World) -> None:
    """The transcript begins with the host's summary; what it stands for is archived and can be read back."""
    pi = PiWriter()
    pi.user("first")
    pi.call("a", "b")
    time = pi.result("a", f"a: {LONG}")
    pi.result("b", f"b: {LONG}")
    pi.answer()
    pi.custom("context-prune-index", {"toolCalls": [record("a", time, f"a: {LONG}")]})
    pi.summary("- `t1` old", [ref("t1", "a", time)])
    kept = pi.user("kept")
    pi.call("c")
    pi.result("c", f"c: {LONG}")
    pi.add("compaction", summary="so far", firstKeptEntryId=kept, tokensBefore=9)
    pi.answer()
    agent = await agent_of(world, pi.data)
    assert [message.role for message in await agent.view()] == [
        Role.CUSTOM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL_RESULT,
        Role.ASSISTANT,
    ]
    assert [await agent.read(one) for one in ("t1", "t2", "c")] == [f"{one}: {LONG}" for one in "abc"]
    assert (await agent.flush()).batches[0].refs == ("t3",)
    exported = await export_data(world.engine, agent.name)
    assert exported.startswith(pi.data)
    again = await agent_of(world, exported, "again")
    assert await again.texts() == await agent.texts()
    assert [await again.read(one) for one in ("t1", "t2", "t3")] == [f"{one}: {LONG}" for one in "abc"]


async def test_an_import_is_repeated_like_a_creation(world: World) -> None:
    """The same request gives the same answer; another one meets a session that exists."""
    data = pruned_session().data
    first = await import_data(world.engine, data, request_id="r-1")
    assert await import_data(world.engine, data, request_id="r-1") == first
    for other in ("r-2", ""):
        with pytest.raises(SessionAlreadyExists):
            await import_data(world.engine, data, request_id=other)
    assert (await import_data(world.engine, data, "elsewhere")).counts == first.counts


async def test_an_import_survives_a_restart(world: World) -> None:
    """It is durable when it is told."""
    agent = await agent_of(world, pruned_session().data)
    before = await agent.texts()
    world.crash()
    assert await agent.texts() == before
    assert await agent.read("t1") == LONG


async def test_a_fork_takes_everything_along(world: World) -> None:
    """Bodies that lie beside the transcript go with the fork."""
    pi = pruned_session()
    pi.custom("context-prune-index", {"toolCalls": [record("gone", 5, "gone " + LONG)]})
    agent = await agent_of(world, pi.data)
    await world.engine.fork_session(agent.name, "copy")
    await world.engine.delete_session(agent.name)
    with pytest.raises(SessionNotFound):
        await export_data(world.engine, agent.name)
    copy = Agent(world, "copy")
    assert await copy.read("gone") == "gone " + LONG
    exported = await export_data(world.engine, "copy")
    assert exported.split(b"\n", 1)[1] == pi.data.split(b"\n", 1)[1]
    assert json.loads(exported.splitlines()[0])["id"] == "copy"
