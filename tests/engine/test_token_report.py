"""What the sizes in tokens of an answer are: an estimate, one that knows scripts, or the host's own count."""

from typing import Any

from condense_grpc.domain.budget import Usage
from condense_grpc.domain.numbers import token_estimate
from condense_grpc.engine.requests import Reclaim, TokenBasis
from tests.domain.histories import user
from tests.engine.harness import Agent, World

LONG = "a line of a listing\n" * 40
WIDE = "長い一覧の一行。" * 40
WINDOW = 100_000


async def agent_with(text: str, **config: Any) -> tuple[World, Agent]:
    """An agent with two finished pieces of work, of which nothing is shown short yet."""
    world = World()
    agent = await world.agent("s", **config)
    for number in range(2):
        await agent.work(f"c{number}", text=text)
    return world, agent


async def report(agent: Agent, usage: Usage | None = None) -> Reclaim:
    return (await agent.prune(usage=usage)).reclaim


async def test_a_quarter_of_the_characters() -> None:
    """Unless there is something to know better."""
    _, agent = await agent_with(LONG)
    found = await report(agent)
    assert found == Reclaim(
        found.before_chars,
        found.after_chars,
        token_estimate(found.before_chars),
        token_estimate(found.after_chars),
        TokenBasis.CHARACTERS,
    )


async def test_scripts_in_which_a_character_is_a_token() -> None:
    """They count one each; what is taken out of the view no longer counts."""
    _, agent = await agent_with(WIDE)
    before = await report(agent)
    assert before.basis is TokenBasis.SCRIPTS
    assert before.before_tokens == before.after_tokens > 2 * len(WIDE)
    await agent.flush()
    after = await report(agent)
    assert after.before_tokens == before.before_tokens
    assert after.basis is TokenBasis.SCRIPTS and after.after_tokens < before.after_tokens


async def test_the_hosts_count_is_taken_as_it_is() -> None:
    """It is about the view that was shown before; what changes from there on is estimated."""
    _, agent = await agent_with(LONG)
    shown = await report(agent)
    await agent.append(user(None, "x" * 4000))
    counted = await report(agent, Usage(5000, WINDOW))
    grown = token_estimate(counted.after_chars) - token_estimate(shown.after_chars)
    assert counted.basis is TokenBasis.HOST and counted.after_tokens == 5000 + grown == counted.before_tokens
    await agent.flush()
    after = await report(agent)
    assert after.basis is TokenBasis.HOST and after.after_tokens < counted.after_tokens
    saved = token_estimate(after.before_chars) - token_estimate(after.after_chars)
    assert after.before_tokens - after.after_tokens == saved


async def test_the_first_report_is_about_the_whole_history() -> None:
    """A host that adopts the service in the middle has sent all of it to its model."""
    _, agent = await agent_with(LONG)
    found = await report(agent, Usage(7000, WINDOW))
    assert (found.basis, found.before_tokens, found.after_tokens) == (TokenBasis.HOST, 7000, 7000)


async def test_a_report_apart_counts_as_well() -> None:
    """RecordUsage says the same as a usage that rides in a prune."""
    world, agent = await agent_with(LONG)
    await report(agent)
    await world.engine.record_usage("s", Usage(6000, WINDOW))
    assert (await report(agent)).after_tokens == 6000


async def test_reports_that_say_nothing_change_nothing() -> None:
    """No count, or none that can be."""
    _, agent = await agent_with(LONG)
    for tokens in (None, 0, -1):
        assert (await report(agent, Usage(tokens, WINDOW))).basis is TokenBasis.CHARACTERS


async def test_a_rewind_forgets_the_count() -> None:
    """It was about another history."""
    _, agent = await agent_with(LONG)
    assert (await report(agent, Usage(5000, WINDOW))).basis is TokenBasis.HOST
    await agent.rewind(4)
    assert (await report(agent)).basis is TokenBasis.CHARACTERS
