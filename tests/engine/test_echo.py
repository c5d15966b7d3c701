"""A host that sends back the view as its history: the refs in it go on to mean what they meant."""

from dataclasses import replace

import pytest

from condense_grpc.domain.json_text import compact
from condense_grpc.domain.messages import Message, Role, TextPart, text_of
from condense_grpc.engine.requests import CallState
from tests.domain.histories import answer, calls, result, user
from tests.engine.fed_back import named_in
from tests.engine.harness import LONG, Agent, World
from tests.engine.pi_files import export_data, import_data


async def text_of_ref(agent: Agent, ref: str) -> str:
    return (await agent.read(ref)).split(":")[0]


async def shown_then_sent_back(**config: object) -> tuple[World, Agent]:
    """Three pieces of work with one result each, of which the third repeats the first."""
    world = World()
    agent = await world.agent("s", **config)
    for one in ("a", "b"):
        await agent.work(one)
    await agent.append(user(None, "next"))
    await agent.flush()
    await agent.append(*await agent.view(), base=0)
    return world, agent


async def test_refs_keep_their_meaning_and_new_ones_get_other_numbers() -> None:
    """What was summarized stays so, and is not archived as something new."""
    _, agent = await shown_then_sent_back()
    assert await text_of_ref(agent, "t1") == "a" and await text_of_ref(agent, "t2") == "b"
    assert (await agent.flush()).outcome == "empty"
    await agent.work("c")
    await agent.flush()
    assert sorted((await agent.refs()).values()) == ["t1", "t2", "t3"]
    assert await text_of_ref(agent, "t3") == "c" and await text_of_ref(agent, "t1") == "a"
    shown = [text for text in await agent.texts() if text.startswith("[Summarized")]
    assert [text.count(f"`t{number}`") for number, text in enumerate(shown, 1)] == [1, 1, 1]


async def test_again_and_again() -> None:
    """With every request, as a host would that knows nothing else."""
    _, agent = await shown_then_sent_back()
    for number, one in enumerate("cdef", 3):
        await agent.work(one)
        await agent.flush()
        await agent.append(*await agent.view(), base=0)
        assert await text_of_ref(agent, f"t{number}") == one
    assert [await text_of_ref(agent, f"t{number}") for number in range(1, 7)] == list("abcdef")


@pytest.mark.parametrize("window", [0, 1])
async def test_refs_in_blocks_keep_their_meaning(window: int) -> None:
    """Also where no stub is left of them."""
    _, agent = await shown_then_sent_back(chain_compression={"rolling_window": window})
    assert any(text.startswith("<compressed-chain") for text in await agent.texts())
    assert [await text_of_ref(agent, ref) for ref in ("t1", "t2")] == ["a", "b"]
    await agent.work("c")
    await agent.flush()
    assert [await text_of_ref(agent, ref) for ref in ("t1", "t2", "t3")] == ["a", "b", "c"]


async def test_after_a_restart_and_in_a_fork() -> None:
    """The originals lie on a branch that was left: they are read from there."""
    world, agent = await shown_then_sent_back()
    await world.restart()
    assert await text_of_ref(agent, "t1") == "a"
    await world.engine.fork_session("s", "f")
    assert await text_of_ref(Agent(world, "f"), "t1") == "a"


async def test_duplicates_share_their_ref_still() -> None:
    """And have their own text and arguments."""
    world = World()
    agent = await world.agent("s")
    for one in ("a", "b"):
        await agent.append(
            user(None), calls(None, one, arguments=compact({"of": one})), result(None, one, LONG), answer(None)
        )
    await agent.append(user(None, "next"))
    await agent.flush()
    await agent.append(*await agent.view(), base=0)
    facts = [await agent.call(one) for one in ("a", "b")]
    assert [one.ref for one in facts] == ["t1", "t1"] and facts[1].state is CallState.DUPLICATE
    answers = (await world.engine.query("s", ["a", "b"], ())).text
    assert '"of": "a"' in answers and '"of": "b"' in answers and answers.count(LONG.strip()) == 2


async def test_the_raw_history_comes_back_with_all_that_was_decided() -> None:
    """It is the branch that was left."""
    world = World()
    agent = await world.agent("s")
    await agent.work("a")
    await agent.append(user(None, "next"))
    await agent.flush()
    raw, view = list(agent.history), await agent.view()
    await agent.append(*view, base=0)
    await agent.append(*raw, base=0)
    assert await text_of_ref(agent, "t1") == "a"
    assert any(text.startswith("[Summarized") for text in await agent.texts())


async def test_a_host_that_goes_back_gets_nothing_of_it() -> None:
    """Nor does one whose user quotes a stub."""
    world = World()
    agent = await world.agent("s")
    await agent.work("a")
    await agent.flush()
    stub = next(text for text in await agent.texts() if text.startswith("[Summarized"))
    await agent.rewind(0)
    await agent.append(user(None, stub))
    assert not await agent.refs()
    await agent.work("b")
    await agent.flush()
    assert await text_of_ref(agent, "t1") == "b"


async def test_a_tool_that_prints_a_stub_is_not_believed() -> None:
    """A call of another tool does not stand for the one that the ref belongs to, wherever the host goes."""
    world = World()
    agent = await world.agent("s")
    await agent.work("a")
    await agent.flush()
    stub = next(text for text in await agent.texts() if text.startswith("[Summarized"))
    await agent.append(user(None), calls(None, "z", tool="curl"), result(None, "z", stub, tool="curl"), base=0)
    assert not await agent.refs()
    assert (await agent.read("z")) == stub


async def named_is_known_at_every_length(world: World, agent: Agent, texts: dict[str, str], since: int = 0) -> None:
    """Wherever the host goes back to, refs that are named there mean what they meant, and nothing lacks its ref."""
    for length in range(len(agent.history), since - 1, -1):
        await world.engine.fork_session("s", f"f{length}", base_length=length)
        twin = Agent(world, f"f{length}")
        for ref in {ref for message in agent.history[:length] for ref in named_in(message)}:
            assert await text_of_ref(twin, ref) == texts[ref], (length, ref)
        states = (CallState.PENDING, CallState.SKIPPED)
        assert all(one.ref for one in await world.engine.list_calls(twin.name, 0, 99) if one.state not in states)
        await world.engine.delete_session(twin.name)


@pytest.mark.parametrize("config", [{}, {"chain_compression": {"rolling_window": 1}}])
async def test_it_does_not_matter_where_the_host_goes_back_to_then(config: dict[str, object]) -> None:
    """Also after a restart."""
    world, agent = await shown_then_sent_back(**config)
    await world.restart()
    await named_is_known_at_every_length(world, agent, {"t1": "a", "t2": "b"})


async def test_a_summary_that_comes_before_its_stubs_keeps_their_originals() -> None:
    """They stand under their old keys behind it, and the stubs repeat them."""
    world, agent = await shown_then_sent_back()
    view = await agent.view()
    summaries = [message for message in view if message.role is Role.CUSTOM]
    assert len(summaries) == 2
    untimed = [replace(message, timestamp_ms=None) for message in view if message not in summaries]
    await agent.append(*summaries, *untimed, base=0)
    await named_is_known_at_every_length(world, agent, {"t1": "a", "t2": "b"})
    facts = [await agent.engine.call_facts("s", one) for one in "ab"]
    assert [[one.state for one in found] for found in facts] == [[CallState.ARCHIVED, CallState.DUPLICATE]] * 2
    assert (await agent.flush()).outcome == "empty"


async def test_originals_that_the_host_still_has_stay_under_their_keys() -> None:
    """Where it sends back only the end of the view. A stub of one of them repeats it."""
    world = World()
    agent = await world.agent("s")
    await agent.append(user(None), calls(None, "a"), result(None, "a", "a:" + LONG), answer(None))
    await agent.append(user(None), calls(None, "b"), result(None, "b", "a:" + LONG), answer(None))
    await agent.flush()
    stub = (await agent.view())[2]
    keys = await agent.refs()
    await agent.append(user(None), calls(None, "a"), replace(stub, timestamp_ms=None), base=7)
    assert keys.items() < (await agent.refs()).items()
    await named_is_known_at_every_length(world, agent, {"t1": "a"}, since=7)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("is_timed", [True, False])
async def test_each_of_several_stubs_of_one_ref_is_known(is_timed: bool, times: int) -> None:
    """The first is the original, all others repeat it, even more than there were. Their ids may be the same."""
    world = World()
    agent = await world.agent("s")
    for text in ("1", "2", "3"):
        call = calls(None, "a", arguments=compact({"of": text}))
        await agent.append(user(None), call, result(None, "a", f"a: {LONG}"), answer(None))
    await agent.flush()
    view = [message if is_timed else replace(message, timestamp_ms=None) for message in await agent.view()]
    await agent.append(*view * times, base=0)
    facts = await agent.engine.call_facts("s", "a")
    assert [one.state for one in facts] == [CallState.ARCHIVED, *[CallState.DUPLICATE] * (3 * times - 1)]
    assert {one.arguments_json for one in facts} == {compact({"of": text}) for text in ("1", "2", "3")}
    assert {one.ref for one in facts} == {"t1"} and not (await agent.flush()).batches
    await named_is_known_at_every_length(world, agent, {"t1": "a"})


@pytest.mark.parametrize("window", [0, 1])
async def test_what_was_sent_back_before_is_known_still(window: int) -> None:
    """Whether or not something new was decided there, and whatever the host puts before it."""
    world, agent = await shown_then_sent_back(chain_compression={"rolling_window": window})
    for number in range(3):
        await agent.append(user(None, f"begin {number}"), *await agent.view(), base=0)
        await named_is_known_at_every_length(world, agent, {"t1": "a", "t2": "b"})


async def test_large_results_keep_their_refs_whatever_they_show() -> None:
    """The ref of a stub stands behind the beginning of its result, which may show other stubs."""
    world = World()
    agent = await world.agent("s", spill_threshold=200, spill_preview_bytes=100)
    quoted = "[Summarized in pruner summary, ref `t1`. Use `t1`"
    await agent.work("a")
    await agent.append(user(None), calls(None, "b"), result(None, "b", f"b: {quoted} {LONG}"), answer(None))
    view = await agent.view()
    assert quoted in text_of(view[6])
    await agent.append(*[replace(message, timestamp_ms=None) for message in view], base=0)
    assert (await agent.call("t2")).record.tool_call_id == "b"
    assert [(await agent.call(one)).state for one in "ab"] == [CallState.SPILLED] * 2
    await named_is_known_at_every_length(world, agent, {"t1": "a", "t2": "b"})


async def test_numbers_that_name_another_result_now_confuse_nothing() -> None:
    """Results of one id and time are numbered, and the first of them may be gone into a block."""
    world = World()
    agent = await world.agent("s", chain_compression={"rolling_window": 1}, dedup_by_content_hash=False)
    for text in ("1", "2"):
        await agent.append(user(None), calls(None, "a"), result(5, "a", f"{text}: {LONG}"), answer(None))
    await agent.append(user(None, "next"))
    await agent.flush()
    view = await agent.view()
    assert [message.role for message in view].count(Role.TOOL_RESULT) == 1
    await agent.append(*view, base=0)
    assert (await agent.refs())["a@5"] == "t2"
    await named_is_known_at_every_length(world, agent, {"t1": "1", "t2": "2"})


async def test_a_result_that_the_host_has_changed_is_its_own() -> None:
    """It may have the id and the time of one whose ref is shown; who asks for the ref gets the original."""
    world, agent = await shown_then_sent_back()
    view = await agent.view()
    changed = replace(view[2], parts=(TextPart("changed: by the host"),))
    await agent.append(*view[:2], changed, *view[3:], base=0)
    key = f"a@{view[2].timestamp_ms}"
    assert await text_of_ref(agent, key) == "changed"
    await named_is_known_at_every_length(world, agent, {"t1": "a", "t2": "b"})


async def test_a_ref_that_means_something_else_here_is_not_given_away() -> None:
    """A branch was taken up again, and messages follow that belong to the view of another one."""
    world = World()
    agent = await world.agent("s")
    await agent.work("a")
    await agent.flush()
    raw = list(agent.history)
    await agent.rewind(0)
    await agent.work("b")
    await agent.flush()
    stub = (await agent.view())[2]
    assert named_in(stub) == ["t1"] and await text_of_ref(agent, "t1") == "b"
    await agent.append(*raw, user(None), calls(None, "b"), stub, base=0)
    assert await text_of_ref(agent, "t1") == "a"


@pytest.mark.parametrize("cut", range(1, 11))
@pytest.mark.parametrize("restarts", [True, False])
@pytest.mark.parametrize("config", [{}, {"chain_compression": {"rolling_window": 1}}])
async def test_a_view_may_come_in_pieces(config: dict[str, object], restarts: bool, cut: int) -> None:
    """A host goes back to the begin first, and its view follows in as many calls as it likes."""
    world = World()
    agent = await world.agent("s", **config)
    for one in ("a", "b"):
        await agent.work(one)
    await agent.append(user(None, "next"))
    await agent.flush()
    view = await agent.view()
    await agent.rewind(0)
    for start in range(0, len(view), cut):
        if restarts:
            await world.restart()
        await agent.append(*view[start : start + cut])
    assert agent.history == view
    await named_is_known_at_every_length(world, agent, {"t1": "a", "t2": "b"})
    assert (await agent.flush()).outcome == "empty"
    await agent.work("c")
    await agent.flush()
    assert await text_of_ref(agent, "t3") == "c"


@pytest.mark.parametrize("length", range(10))
@pytest.mark.parametrize("unpins", [True, False])
async def test_a_pin_where_the_host_goes_back_to_loses_nothing(length: int, unpins: bool) -> None:
    """What follows is sent once more, and means what it meant."""
    world, agent = await shown_then_sent_back()
    view = list(agent.history)
    for _ in range(2):
        await agent.rewind(length)
        pinned = [one.record.key for one in await world.engine.list_calls("s", 0, 9)][:1] or ["a"]
        await world.engine.pin_calls("s", pinned, ttl_ms=None, unpin=False)
        if unpins:
            await world.engine.pin_calls("s", pinned, ttl_ms=None, unpin=True)
        await agent.append(*view[length:])
        assert agent.history == view
        await named_is_known_at_every_length(world, agent, {"t1": "a", "t2": "b"})


@pytest.mark.parametrize("base", range(5))
@pytest.mark.parametrize("rewinds", [True, False])
async def test_a_view_that_comes_to_a_fork_is_known(base: int, rewinds: bool) -> None:
    """Also where the fork begins before anything was decided, and when its original is gone."""
    world = World()
    agent = await world.agent("s")
    for one in ("a", "b"):
        await agent.work(one)
    await agent.append(user(None, "next"))
    await agent.flush()
    view = await agent.view()
    if rewinds:
        await agent.rewind(base)
    await world.engine.fork_session("s", "f", base_length=base)
    await world.engine.delete_session("s")
    await world.restart()
    fork = Agent(world, "f")
    assert not await fork.refs()
    fork.history, fork.length = view[:base], base
    await fork.append(*view[base:])
    assert [await text_of_ref(fork, ref) for ref in ("t1", "t2")] == ["a", "b"]
    assert (await fork.flush()).outcome == "empty"


async def test_messages_of_a_fork_never_stand_for_those_that_it_does_not_have() -> None:
    """Decisions of branches come along, the messages behind which they stand do not."""
    world = World()
    agent = await world.agent("s")
    for one in ("a", "b", "c"):
        await agent.work(one)
        await agent.flush()
    await world.engine.fork_session("s", "f", base_length=0)
    fork = Agent(world, "f")
    for one in ("x", "y", "z"):
        await fork.work(one)
        assert not await fork.refs()


async def test_a_stub_whose_ref_was_given_away_gets_another_one() -> None:
    """Its text says so from then on, and both refs mean what they are shown with."""
    world = World()
    agent = await world.agent("s")
    await agent.work("a")
    await agent.flush()
    view = await agent.view()
    await agent.rewind(0)
    await agent.work("b")
    await agent.flush()
    await agent.append(*view)
    assert await text_of_ref(agent, "t1") == "b" and await text_of_ref(agent, "t2") == "a"
    shown = [text for text in await agent.texts() if text.startswith("[Summarized")]
    assert [named_in(Message(Role.TOOL_RESULT, (TextPart(text),))) for text in shown] == [["t1"], ["t2"]]
    view = await agent.view()
    await agent.rewind(0)
    await agent.append(*view)
    assert await text_of_ref(agent, "t1") == "b" and await text_of_ref(agent, "t2") == "a"


@pytest.mark.parametrize("restarts", [True, False])
async def test_of_several_branches_the_one_that_fits_is_meant(restarts: bool) -> None:
    """It shows in what stands beside a ref: an id, a summary. Else it is the one that was left last."""
    world = World()
    agent = await world.agent("s")
    views = []
    for one in "abc":
        await agent.rewind(0)
        await agent.append(user(None), calls(None, "x"), result(None, "x", f"{one}: {LONG}"), answer(None))
        await agent.flush()
        views.append(await agent.view())
    for number, view in [(2, views[2]), (0, views[0]), (1, views[1])]:
        await agent.rewind(0)
        if restarts:
            await world.restart()
        await agent.append(*view)
        assert await text_of_ref(agent, "t1") == "abc"[number]
    await agent.rewind(0)
    if restarts:
        await world.restart()
    await agent.append(*[replace(message, timestamp_ms=None) for message in views[1]])
    assert await text_of_ref(agent, "t1") == "b"


@pytest.mark.parametrize("name", ["t1", "a"])
async def test_originals_without_a_result_in_the_history_are_known_by_their_keys_too(name: str) -> None:
    """And a result that comes to have such a key has its own text."""
    _, agent = await shown_then_sent_back(chain_compression={"rolling_window": 0})
    key = (await agent.call(name)).record.key.partition("#")[0]
    assert await text_of_ref(agent, key) == "a"
    time_ms = int(key.rpartition("@")[2])
    await agent.append(user(None), calls(None, "a"), result(time_ms, "a", f"other: {LONG}"))
    assert await text_of_ref(agent, key) == "other" and await text_of_ref(agent, "t1") == "a"


async def test_summaries_and_blocks_that_a_host_has_changed_count() -> None:
    """Joined with other texts, or without their end."""
    _, agent = await shown_then_sent_back(chain_compression={"rolling_window": 1})
    view = await agent.view()
    told = [text_of(message) for message in view if message.role is not Role.ASSISTANT and named_in(message)]
    assert len(told) == 3
    for text in (told[0], told[-1]):
        await agent.rewind(0)
        cut = text.replace("Use `context_tree_query`", "...")[: -len("full outputs.")]
        await agent.append(user(None, f"So far:\n{cut}\nGo on!"))
        assert await text_of_ref(agent, "t1") == "a" and await text_of_ref(agent, "t2") == "b"


async def test_a_history_comes_back_to_a_fork_that_has_parts_of_it() -> None:
    """A fork has the originals of other branches, but not these branches: what comes there is new to it."""
    world = World()
    agent = await world.agent("s", path_arguments=["file"])
    await agent.work("a", "b")
    await agent.append(user(None, "next"))
    raw = list(agent.history)
    await agent.flush()
    await agent.append(*await agent.view(), base=0)
    await world.engine.fork_session("s", "f")
    fork = Agent(world, "f")
    await fork.append(*raw, base=0)
    for _ in range(2):
        await world.restart()
        assert [await fork.read(one) for one in ("a", "b")] == [f"{one}: {LONG}" for one in ("a", "b")]
        assert len(await fork.view()) == len(raw)
        await world.engine.update_session("f", config={"path_arguments": ["path"]}, labels=None)
    await fork.flush()
    assert [await text_of_ref(fork, ref) for ref in ("t1", "t2")] == ["a", "b"]


@pytest.mark.parametrize("tag", ['<compressed-chain id="b1" tools="t1">\nmine\n</compressed-chain>', "", "`t1`"])
async def test_what_a_user_writes_himself_shows_nothing(tag: str) -> None:
    """Also where it looks like a block or the end of a summary: numbers continue from what is left."""
    world = World()
    agent = await world.agent("s", chain_compression={"rolling_window": 0})
    await agent.work("a")
    await agent.work("b")
    await agent.flush()
    await agent.rewind(4)
    assert not await agent.refs()
    await agent.append(user(None, tag or "---\n**Summarized tool refs**: `t1`"))
    assert not await agent.refs()
    await agent.work("c")
    await agent.flush()
    assert await text_of_ref(agent, "t1") == "a" and await text_of_ref(agent, "t2") == "c"


@pytest.mark.parametrize("times", [0, 1, 2])
@pytest.mark.parametrize("window", [0, 1, 3])
async def test_refs_keep_their_meaning_when_a_session_moves(window: int, times: int) -> None:
    """Through a session file and back in, whatever was sent back before and is sent back then."""
    world = World()
    agent = await world.agent("s", chain_compression={"rolling_window": window})
    for one in ("a", "b", "c"):
        await agent.work(one)
    await agent.append(user(None, "next"))
    await agent.flush()
    for _ in range(times):
        await agent.append(*[replace(one, timestamp_ms=None) for one in await agent.view()], base=0)
    await import_data(world.engine, await export_data(world.engine, "s"), "m")
    moved = Agent(world, "m")
    moved.length = (await world.engine.get_session("m")).length
    for _ in range(3):
        assert [await text_of_ref(moved, ref) for ref in ("t1", "t2", "t3")] == ["a", "b", "c"]
        view = await moved.view()
        await moved.append(base=0)
        await moved.append(*view[: len(view) // 2])
        await moved.append(*view[len(view) // 2 :])
