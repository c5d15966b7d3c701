"""Steps in threads: nobody sees one half done."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import pytest

from condense_grpc.domain.budget import Usage
from condense_grpc.engine import compression_step, flush
from condense_grpc.engine.live.live_plan import LivePlan
from condense_grpc.engine.offloading import MANY_MESSAGES, offloaded
from condense_grpc.engine.requests import PruneRequest
from condense_grpc.engine.transcript import Transcript
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import Agent, World, finished, passes, singly


class Held:
    """A step that waits until it may go on."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.ended = 0

    def __call__(self) -> int:
        self.begun.set()
        self.may_end.wait(5)
        self.ended += 1
        return self.ended

    async def wait_for_begin(self) -> None:
        assert await asyncio.to_thread(self.begun.wait, 5)


async def test_few_messages_are_worked_on_at_once() -> None:
    """Without giving anybody else a turn."""
    threads = [await offloaded(count, threading.get_ident) for count in (1, MANY_MESSAGES)]
    assert threads == [threading.get_ident()] * 2
    assert await offloaded(MANY_MESSAGES + 1, threading.get_ident) != threading.get_ident()


async def test_a_step_that_fails_says_so() -> None:
    """In a thread as well as here."""
    for count in (1, MANY_MESSAGES + 1):
        with pytest.raises(ZeroDivisionError):
            await offloaded(count, lambda: 1 // 0)


async def test_a_cancelled_caller_waits_for_the_end_of_its_step() -> None:
    """Also one who is cancelled again and again."""
    step = Held()
    task = asyncio.create_task(offloaded(MANY_MESSAGES + 1, step))
    await step.wait_for_begin()
    for _ in range(3):
        task.cancel()
        await passes()
        assert not task.done()
    step.may_end.set()
    await asyncio.wait([task])
    assert task.cancelled() and step.ended == 1


async def test_nobody_gets_a_session_in_which_a_cancelled_call_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that does not wait for its answer must not spoil the next one's."""
    world = World()
    agent = await world.agent()
    await agent.append(*[answer(None, f"{number}") for number in range(MANY_MESSAGES + 10)])
    await world.restart()
    planning, held, inside = LivePlan.planning, Held(), []

    def watched(self: LivePlan, bodies: Mapping[int, Any], shown: Any) -> Iterator[None]:
        inside.append(held.ended)
        if len(inside) == 1:
            held()
        yield from planning(self, bodies, shown)

    monkeypatch.setattr(LivePlan, "planning", watched)
    first = asyncio.create_task(world.engine.get_session("s"))
    await held.wait_for_begin()
    first.cancel()
    second = asyncio.create_task(agent.prune(user(None, "more")))
    await passes()
    held.may_end.set()
    await asyncio.wait([first])
    assert first.cancelled()
    assert (await second).length == MANY_MESSAGES + 11
    assert inside == [0, *[1] * (len(inside) - 1)]
    await world.engine.close()


FIRST_LOOKS: dict[str, Callable[[Agent], Awaitable[Any]]] = {
    "get": lambda agent: agent.engine.get_session("s"),
    "prune": lambda agent: agent.prune(),
    "append": lambda agent: agent.append(user(None, "more")),
    "rewind": lambda agent: agent.rewind(MANY_MESSAGES + 5),
    "dry run": lambda agent: agent.engine.prune(PruneRequest("s", dry_run=True)),
    "diagnostics": lambda agent: agent.engine.diagnostics("s"),
    "usage": lambda agent: agent.engine.record_usage("s", Usage(10, 100)),
    "flush": lambda agent: agent.flush(),
    "compact": lambda agent: finished(singly(agent.engine.compact("s"))),
    "settings": lambda agent: agent.engine.update_session("s", config={"recovery_grace_turns": 7}, labels=None),
}


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("look", FIRST_LOOKS.values(), ids=FIRST_LOOKS)
async def test_whoever_looks_first_at_a_long_session_reads_it_aside(
    monkeypatch: pytest.MonkeyPatch, look: Callable[[Agent], Awaitable[Any]], enabled: bool
) -> None:
    """All of it is read then, which would hold up everybody on the event loop."""
    world = World()
    agent = await world.agent(enabled=enabled)
    await agent.append(*[answer(None, f"{number}") for number in range(MANY_MESSAGES + 10)])
    await world.restart()
    here, read = threading.get_ident(), LivePlan.read

    def watched(self: LivePlan) -> None:
        assert threading.get_ident() != here or self.unread <= MANY_MESSAGES
        read(self)

    monkeypatch.setattr(LivePlan, "read", watched)
    await look(agent)
    await world.engine.close()


async def test_many_chains_are_not_searched_for_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search goes through all messages: a flush of a long history would take the square of its length."""
    world = World()
    agent = await world.agent(chain_compression={"rolling_window": 0})
    for number in range(30):
        await agent.work(f"c{number}")
    searched, find = [], Transcript.find_digest

    def watched(self: Transcript, digest: str) -> int | None:
        searched.append(digest)
        return find(self, digest)

    monkeypatch.setattr(Transcript, "find_digest", watched)
    flushed = await agent.flush()
    assert len(flushed.blocks) == 30 and not searched
    assert [block.start_index for block in flushed.blocks] == [4 * number for number in range(30)]
    await world.engine.close()


async def test_many_batches_and_chains_are_decided_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first flush of a long history decides on all of it at once."""
    world = World()
    agent = await world.agent(chain_compression={"rolling_window": 0})
    work = [[user(None), calls(None, f"c{n}"), result(None, f"c{n}"), answer(None)] for n in range(MANY_MESSAGES + 10)]
    await agent.append(*[message for messages in work for message in messages])
    threads: dict[str, set[int]] = {"settle_in": set(), "compress": set()}
    for module, name in ((flush, "settle_in"), (compression_step, "compress")):
        plain = getattr(module, name)

        def watched(*args: Any, plain: Callable[..., Any] = plain, name: str = name) -> Any:
            threads[name].add(threading.get_ident())
            return plain(*args)

        monkeypatch.setattr(module, name, watched)
    flushed = await agent.flush()
    assert len(flushed.blocks) == len(work)
    assert all(one and threading.get_ident() not in one for one in threads.values())
    await world.engine.close()
