"""A host that sends back the view as its history: the refs in it go on to mean what they meant."""

import pytest

from condense_grpc.domain.json_text import compact
from condense_grpc.engine.requests import CallState
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, Agent, World


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
