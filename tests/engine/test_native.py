"""Native histories in the engine: bases, branches, cache marks, ids."""

import json
from typing import Any

import pytest

from condense_grpc.domain.edits import ReplaceResult
from condense_grpc.engine.requests import Delta, FlushRequest, PruneRequest, ViewKind
from condense_grpc.errors import RequestInvalid, TranscriptMismatch
from condense_grpc.native.formats import NativeFormat as F
from tests.domain.histories import user
from tests.engine.harness import World
from tests.native.host import Host

LONG = "word " * 80


def dumped(elements: list[Any]) -> list[str]:
    return [json.dumps(element) for element in elements]


def work(*ids: str, text: str = LONG) -> list[Any]:
    """A finished piece of work as Responses items."""
    return [
        {"role": "user", "content": f"do {ids}"},
        {"type": "reasoning", "summary": []},
        *({"type": "function_call", "call_id": one, "name": "bash", "arguments": "{}"} for one in ids),
        *({"type": "function_call_output", "call_id": one, "output": f"{one} {text}"} for one in ids),
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]


def anthropic_work(*ids: str, text: str = LONG) -> list[Any]:
    uses = [{"type": "tool_use", "id": one, "name": "bash", "input": {}} for one in ids]
    results = [{"type": "tool_result", "tool_use_id": one, "content": f"{one} {text}"} for one in ids]
    return [
        {"role": "user", "content": f"do {ids}"},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": results},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    ]


async def host_of(form: F, **config: Any) -> tuple[World, Host]:
    world = World()
    await world.agent("s", **config)
    return world, Host(world.engine, form)


async def flush(world: World) -> None:
    async for _ in world.engine.flush(FlushRequest("s")):
        pass


@pytest.mark.parametrize("cut", range(1, 8))
async def test_an_answer_may_come_in_pieces(cut: int) -> None:
    """A base within an answer of the model is a base like any other, and the answer stays one message."""
    texts = dumped([*work("a", "b"), {"role": "user", "content": "next"}])
    _, host = await host_of(F.OPENAI_RESPONSES)
    await host.send(texts)
    etag = host.etag
    _, other = await host_of(F.OPENAI_RESPONSES)
    await other.send(texts[:cut])
    await other.send(texts[cut:])
    assert other.etag == etag
    assert len(await other.engine.list_calls("s", 0, 9)) == 2
    again = await host.send(texts[cut:], cut)
    assert again.length == len(texts) and again.etag == etag


async def test_etags_within_an_answer_are_checked() -> None:
    """The etag that was told for a piece of an answer still holds when there is more of it."""
    texts = dumped(work("a", "b"))
    _, host = await host_of(F.OPENAI_RESPONSES)
    first = await host.send(texts[:3])
    await host.send(texts[3:])
    delta = host.delta(texts[3:], 3, first.etag)
    assert (await host.engine.prune(PruneRequest("s", delta))).length == len(texts)
    wrong = host.delta(texts[2:], 2, first.etag)
    with pytest.raises(TranscriptMismatch) as caught:
        await host.engine.prune(PruneRequest("s", wrong))
    assert caught.value.metadata["serverLength"] == str(len(texts))


async def test_a_base_beyond_the_end_is_told() -> None:
    """In elements."""
    _, host = await host_of(F.ANTHROPIC)
    await host.send(dumped(anthropic_work("a", "b")))
    for base in (5, -1):
        with pytest.raises(TranscriptMismatch, match=r"\(4 messages\)"):
            await host.engine.prune(PruneRequest("s", host.delta([], base)))


async def test_the_same_list_sent_whole_changes_nothing() -> None:
    """Also with other white space between the elements; and decisions stay."""
    texts = dumped([*anthropic_work("a", "b"), *anthropic_work("c")])
    world, host = await host_of(F.ANTHROPIC)
    await host.send(texts)
    await flush(world)
    before = await host.view()
    for between in (",", " ,\n\t"):
        assert (await host.send(texts, 0, between=between)).unchanged
    assert await host.view() == before
    more = [*texts, json.dumps({"role": "user", "content": "next"})]
    assert (await host.send(more, 0)).length == 9
    assert any("Summarized tool refs" in json.dumps(element) for element in await host.view())


async def test_a_list_that_differs_in_the_middle_is_another_branch() -> None:
    """What was decided behind the first difference stops applying, and comes back with the branch."""
    texts = dumped([*anthropic_work("a"), *anthropic_work("b")])
    world, host = await host_of(F.ANTHROPIC)
    await host.send(texts)
    await flush(world)
    before = await host.view()
    other = [*texts[:4], texts[4].replace("do", "undo"), *texts[5:]]
    await host.send(other, 0)
    assert await host.view() == [json.loads(text) for text in other]
    await host.send(texts, 0)
    assert await host.view() == before


async def test_the_newest_marks_are_kept_over_a_restart() -> None:
    """An element that came again with other cache marks is shown with these."""
    marked = anthropic_work("a")
    marked[2]["content"][0]["cache_control"] = {"type": "ephemeral"}
    world, host = await host_of(F.ANTHROPIC)
    await host.send(dumped(marked))
    await flush(world)
    revision = (await host.prune()).revision
    assert "cache_control" in json.dumps(await host.view())
    await host.send(dumped(anthropic_work("a")), 0)
    assert "cache_control" not in json.dumps(await host.view())
    assert (await host.prune()).revision != revision
    await world.restart()
    host.engine = world.engine
    assert "cache_control" not in json.dumps(await host.view())
    await host.send(dumped(marked), 0)
    assert (await host.prune()).revision == revision


async def test_a_session_holds_one_form() -> None:
    """Another one is refused, except at base 0."""
    _, host = await host_of(F.ANTHROPIC)
    await host.send(dumped(anthropic_work("a")))
    gemini = Host(host.engine, F.GEMINI)
    contents = ['{"role":"user","parts":[{"text":"go"}]}']
    for delta in (gemini.delta(contents, 4), Delta(4, "", [user(1)])):
        with pytest.raises(RequestInvalid, match="everything from base 0"):
            await host.engine.prune(PruneRequest("s", delta))
    result = await host.engine.prune(PruneRequest("s", gemini.delta(contents, 0), ViewKind.FULL))
    assert result.native is not None and json.loads(result.native.json) == [json.loads(contents[0])]
    typed = await host.engine.prune(PruneRequest("s", Delta(0, "", [user(1)])))
    assert typed.native is None and typed.length == 1
    with pytest.raises(RequestInvalid):
        await host.engine.prune(PruneRequest("s", host.delta([], 1)))


async def test_an_empty_history_has_the_shape_that_was_asked_for() -> None:
    """So that a client can read the answer."""
    _, host = await host_of(F.PI)
    result = await host.send([], view=ViewKind.FULL)
    assert result.native is not None and result.native.json == "[]"


@pytest.mark.parametrize(("form", "make"), [(F.ANTHROPIC, anthropic_work), (F.OPENAI_RESPONSES, work)])
async def test_repeated_ids_get_new_ones_if_that_is_set(form: F, make: Any) -> None:
    """The first keeps its id; calls and results stay together, and the archive has every original."""
    world, host = await host_of(form, rename_repeated_ids=True)
    texts = dumped([*make("x", text="1"), *make("x", "y", text="2"), *make("x", text="3")])
    result = await host.send(texts)
    repeated = [one for one in result.violations if one.kind == "repeated-id"]
    assert len(repeated) == 2 and all(one.is_repaired for one in repeated)
    text = json.dumps(await host.view())
    assert [text.count(f'"{one}"') for one in ("x", "x_2", "x_3", "y")] == [2, 2, 2, 2]
    listed = await world.engine.list_calls("s", 0, 9)
    assert [await world.engine.read_text("s", one.record) for one in listed] == ["x 1", "x 2", "y 2", "x 3"]


async def test_a_fork_counts_elements() -> None:
    """Its base is one of the client's."""
    world, host = await host_of(F.ANTHROPIC)
    await host.send(dumped(anthropic_work("a", "b", "c")))
    info = await world.engine.fork_session("s", "f", base_length=3)
    assert info.length == 3
    assert len(await world.engine.list_calls("f", 0, 9)) == 3


async def test_an_audit_changes_nothing() -> None:
    """A dry run tells the defects of a history that no session holds."""
    world = World()
    await world.engine.start()
    host = Host(world.engine, F.ANTHROPIC, "none")
    delta = host.delta(dumped([*anthropic_work("a"), {"role": "assistant", "content": []}]), 0)
    asked = Delta(0, "", (), True, {}, delta.native)
    result = await world.engine.prune(PruneRequest("none", asked, dry_run=True))
    assert {one.kind.value for one in result.violations} == {"role-order", "empty-content"}
    assert result.native is not None and not result.native.edits


async def test_a_result_that_moves_and_is_shown_short_is_told_where_it_was() -> None:
    """With its ref; what it reads then comes with the element that it has moved into."""
    world, host = await host_of(F.ANTHROPIC)
    user, asked, answered, done = anthropic_work("a", "b")
    first, second = ({**answered, "content": [block]} for block in answered["content"])
    between = {"role": "user", "content": "faster"}
    await host.send(dumped([user, asked, first, between, second, done, {"role": "user", "content": "next"}]))
    await flush(world)
    await host.view()
    stubs = [
        (it.message_index, it.part_index, it.change.ref) for it in host.edits if isinstance(it.change, ReplaceResult)
    ]
    assert stubs == [(2, 0, "t1"), (4, 0, "t2")]
    [joined] = [json.loads(it.native_json) for it in host.edits if it.message_index == 2 and it.native_json]
    assert [block["tool_use_id"] for block in joined["content"] if block["type"] == "tool_result"] == ["a", "b"]


@pytest.mark.parametrize("form", [F.OPENAI_CHAT, F.OPENAI_RESPONSES])
async def test_system_prompts_stay_whatever_happens(form: F) -> None:
    """At the beginning and between pieces of work, however large, through flushes and compactions."""
    make = work if form is F.OPENAI_RESPONSES else chat_work
    system = {"role": "system", "content": "rule " * 9000}
    developer = {"role": "developer", "content": "more rules " * 9000}
    world, host = await host_of(form, chain_compression={"rolling_window": 0}, spill_threshold=1000)
    await host.send(dumped([system, *make("a"), developer, *make("b"), {"role": "user", "content": "next"}]))
    await flush(world)
    async for _ in world.engine.compact("s"):
        pass
    view = await host.view()
    assert [item for item in view if item.get("role") in ("system", "developer")] == [system, developer]
    assert "compressed-chain" in json.dumps(view) and LONG not in json.dumps(view)


def chat_work(*ids: str) -> list[Any]:
    function = {"name": "bash", "arguments": "{}"}
    return [
        {"role": "user", "content": f"do {ids}"},
        {"role": "assistant", "tool_calls": [{"id": one, "type": "function", "function": function} for one in ids]},
        *({"role": "tool", "tool_call_id": one, "content": f"{one} {LONG}"} for one in ids),
        {"role": "assistant", "content": "done"},
    ]


async def test_what_stands_beside_a_text_comes_back_with_it() -> None:
    """Images and documents in results: their stub says so and keeps its cache mark, a query gives them back."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}
    mark = {"cache_control": {"type": "ephemeral"}}
    user, asked, answered, done = anthropic_work("a")
    block = {**answered["content"][0], "content": [{"type": "text", "text": LONG}, image, document], **mark}
    world, host = await host_of(F.ANTHROPIC)
    await host.send(dumped([user, asked, {**answered, "content": [block]}, done, {"role": "user", "content": "next"}]))
    await flush(world)
    results = [item["content"][0] for item in await host.view() if isinstance(item["content"], list)]
    [stub] = [one for one in results if one["type"] == "tool_result"]
    assert "(+1 image(s)) (+1 part(s))" in json.dumps(stub) and stub["cache_control"] == mark["cache_control"]
    assert stub["tool_use_id"] == "a" and image not in stub["content"]
    answer = await world.engine.query("s", ["t1"], ())
    assert "[Attached: 1 image(s), 1 part(s)]" in answer.text and LONG.strip() in answer.text
