"""Reading back: the recovery query, single calls, the list of calls, the report."""

import hashlib

import pytest

from condense_grpc.domain.messages import ImagePart, Message, Role, TextPart, ToolCallPart
from condense_grpc.domain.slices import CharSlice, LineSlice, PatternSlice, Slice
from condense_grpc.engine.requests import CallState
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, World

TEXT = "\n".join(f"line {number}" for number in range(1, 50))


async def test_a_query_gives_originals_by_every_name(world: World) -> None:
    """Ref, id and key; what is not known is said so; the text goes to the model as it is."""
    agent = await world.agent()
    await agent.work("a", text=TEXT)
    await agent.flush()
    key = (await agent.call("t1")).record.key
    found = await world.engine.query("s", ["t1", "a", key, "t9"], [])
    assert [block.cut.body if block.cut else None for block in found.blocks] == [f"a: {TEXT}"] * 3 + [None]
    assert found.found == {"t1": key, "a": key, key: key}
    assert "(not found in index" in found.text
    assert (await world.engine.query("s", [], [])).text == ""


async def test_a_query_reads_slices_and_works_when_disabled(world: World) -> None:
    """By lines, by characters, by pattern."""
    agent = await world.agent()
    await agent.work("a", text=TEXT)
    await agent.flush()
    await world.engine.update_session("s", config={"enabled": False}, labels=None)
    slices = [
        Slice("t1", LineSlice(2, 3)),
        Slice("t1", CharSlice(1, 2)),
        Slice("t1", PatternSlice("line 49")),
        Slice("t9", LineSlice(1, 1)),
    ]
    found = await world.engine.query("s", ["t1"], slices)
    assert [block.cut.body for block in found.blocks if block.cut] == ["line 2\nline 3", "a:", "49: line 49"]


async def test_a_query_brings_images_and_the_arguments_of_its_own(world: World) -> None:
    """A duplicate has its own arguments."""
    agent = await world.agent()
    parts = (TextPart(LONG), ImagePart("image/png", b"\1"))
    shown = Message(Role.TOOL_RESULT, parts, None, tool_call_id="a", tool_name="bash")
    await agent.append(user(None), calls(None, "a"), shown, answer(None))
    for one in "bc":
        await agent.append(user(None), calls(None, one, arguments=f'{{"of": "{one}"}}'))
        await agent.append(result(None, one, LONG), answer(None))
    await agent.flush()
    found = await world.engine.query("s", ["a", "c"], [])
    assert found.parts == {"a": (ImagePart("image/png", b"\1"),)}
    assert '"of": "c"' in found.text


async def test_facts_of_a_call(world: World) -> None:
    """What it measures, what became of it, what covers it."""
    agent = await world.agent(chain_compression={"rolling_window": 0})
    text = "é" * 400
    await agent.work("a", text=text)
    pending = await agent.call("a")
    assert (pending.state, pending.ref, pending.summary_id, pending.block_id) == (CallState.PENDING, "", "", "")
    await agent.flush()
    facts = await agent.call("t1")
    assert (facts.state, facts.ref, facts.summary_id, facts.block_id) == (CallState.SUMMARIZED, "t1", "s1", "b1")
    assert (facts.text_chars, facts.text_bytes) == (403, 803)
    assert facts.sha256 == hashlib.sha256(f"a: {text}".encode()).hexdigest() == pending.sha256
    assert await world.engine.call_facts("s", "unknown") == []


async def test_protected_calls_say_so(world: World) -> None:
    """They are not summarized, and can be read."""
    agent = await world.agent(protected_tools=("keep",), path_arguments=("path",), protected_paths=("*.md",))
    await agent.append(user(None), calls(None, "a", tool="keep"), result(None, "a", tool="keep"))
    await agent.append(calls(None, "b", arguments='{"path": "x.md"}'), result(None, "b"), answer(None))
    assert [(await agent.call(one)).state for one in "ab"] == [CallState.PROTECTED] * 2


async def test_the_list_has_every_result_in_order(world: World) -> None:
    """Filed or not, stray ones too; in pages."""
    agent = await world.agent()
    await agent.append(user(None), calls(None, "a", "b"), result(None, "b", LONG), result(None, "stray", "odd"))
    await agent.append(result(None, "a", LONG + "!"), answer(None), user(None), calls(None, "c"))
    await agent.flush()
    await agent.append(result(None, "c"))
    listed = await world.engine.list_calls("s", 0, 100)
    assert [facts.record.tool_call_id for facts in listed] == ["b", "stray", "a", "c"]
    assert [facts.state for facts in listed] == [
        CallState.SUMMARIZED,
        CallState.SKIPPED,
        CallState.SUMMARIZED,
        CallState.PENDING,
    ]
    assert [facts.record.turn_index for facts in listed] == [0, None, 0, 2]
    assert await world.engine.list_calls("s", 1, 2) == listed[1:3]
    assert await agent.read("stray") == "odd"


async def test_a_reused_id_names_all_of_its_results(world: World) -> None:
    """Those that are filed and those that are not yet; a key names one."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await agent.work("a", text="other")
    named = await world.engine.call_facts("s", "a")
    assert [facts.ref for facts in named] == ["t1", ""]
    for facts in named:
        assert await world.engine.call_facts("s", facts.record.key) == [facts]
    assert await agent.read("t1") == f"a: {LONG}"


async def test_a_key_is_not_taken_for_an_id_that_looks_like_it(world: World) -> None:
    """Ids may look like keys and like refs."""
    agent = await world.agent()
    await agent.append(user(1), calls(2, "a", "a@3", "t1"))
    await agent.append(result(3, "a", LONG), result(4, "a@3", LONG + "!"), result(5, "t1", "third"))
    await agent.append(answer(6))
    for _ in range(2):
        assert [await agent.read(key) for key in ("a@3", "a@3@4", "t1@5")] == [LONG, LONG + "!", "third"]
        await agent.flush()
    assert len(await world.engine.call_facts("s", "t1")) == 1


@pytest.mark.parametrize("name", ["input", "args"])
async def test_arguments_of_hosts_with_other_names(world: World, name: str) -> None:
    """Some hosts keep the arguments under another name."""
    agent = await world.agent()
    call = ToolCallPart("a", "bash", None, f'{{"{name}": {{"x": 1}}}}')
    await agent.append(user(None), Message(Role.ASSISTANT, (call,)), result(None, "a", LONG), answer(None))
    await agent.flush()
    assert 'Args: {\n  "x": 1\n}' in (await world.engine.query("s", ["t1"], [])).text


async def test_the_report(world: World) -> None:
    """Statistics since the session was loaded, what waits, how the last flushes went."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await world.restart()
    await agent.work("b", "c")
    report = await world.engine.diagnostics("s")
    assert (report.pending_batches, report.pending_chars, report.flush_running) == (2, 606, False)
    assert (report.stats.call_count, report.session_delta.total_cost) == (1, 0)
    await agent.flush()
    await agent.prune()
    report = await world.engine.diagnostics("s")
    assert (report.stats.call_count, report.session_delta.total_cost) == (3, 0.5)
    assert report.summarizer.name == "fake" == world.engine.summarizer_name
    assert [one.outcome for one in report.flushes] == ["summarized"] * 2
    assert report.frontier is not None and report.frontier.last_attempted_tool_call_id == "c"
    assert report.reclaim.before_chars > 0 and report.status_line.startswith("│ prune: ON · ")
    await world.engine.update_session("s", config={"show_prune_status_line": False}, labels=None)
    assert (await world.engine.diagnostics("s")).status_line == ""
