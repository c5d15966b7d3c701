"""What must hold however appends, decisions, rounds and failures of the store follow each other."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.engine.engine import EngineOptions
from condense_grpc.engine.residence import WriteWindow
from condense_grpc.errors import CondenseError, RevisionConflict, StoreUnavailable
from tests.domain.histories import calls, result, user
from tests.engine.harness import NEVER, Agent, World, passes, when_due

NAMES = "abc"
_names = st.sampled_from(NAMES)
_steps = st.one_of(
    st.tuples(st.just("append"), _names),
    st.tuples(st.just("append"), _names),
    st.tuples(st.just("decide"), _names),
    st.tuples(st.just("hold"), _names),
    st.tuples(st.just("round"), st.sets(_names, max_size=2)),
    st.tuples(st.just("elsewhere"), _names),
    st.tuples(
        st.sampled_from(["write_many fails", "write fails"]), st.sampled_from([StoreUnavailable(), ValueError()])
    ),
)


class Played:
    """A world in which appends wait until they are asked for, and what its clients were told."""

    def __init__(self) -> None:
        window = WriteWindow(most_messages=24)
        self.world = World(options=EngineOptions(write_delay_seconds=NEVER, window=window))
        self.agents: dict[str, Agent] = {}
        self.durable = dict.fromkeys(NAMES, 0)

    async def play(self, steps: Sequence[tuple[str, object]]) -> None:
        for name in NAMES:
            self.agents[name] = await self.world.agent(name, spill_threshold=2000)
        for step, what in steps:
            with suppress(CondenseError, ValueError):
                await self._do(step, what)
            await self._check()
        self.world.store._failing.clear()
        for _ in range(2):  # By the first time it is found out what was written elsewhere.
            for agent in self.agents.values():
                await self._resend(agent, [*agent.history, user(None)])
            writing = self.world.engine._registry._writing
            for due in writing._due.values():
                due.at = 0
            await when_due(writing)
        await self.world.engine.close()
        assert self._waiting.messages == self._waiting.size_bytes == 0
        assert not self.world.engine._registry._writing._due
        assert await self._lengths() == {name: len(agent.history) for name, agent in self.agents.items()}

    async def _do(self, step: str, what: object) -> None:
        registry = self.world.engine._registry
        match step, what:
            case "append", str(name):
                agent = self.agents[name]
                await self._resend(agent, [*agent.history, user(None, "x" * 40)])
            case "decide", str(name):
                agent = self.agents[name]
                await agent.work("c")
                await agent.flush()
                self.durable[name] = len(agent.history)
            case "hold", str(name):
                async with registry.locked(name) as live:
                    live.state.show_views()
                    await registry.persist_soon(live)
                    await when_due(registry._writing)
            case "round", set(used):
                await self._round_while_used(used)
            case "elsewhere", str(name):
                await self.world.other_engine().update_session(name, config={}, labels={"by": "another"})
            case (("write_many fails" | "write fails") as name, Exception() as error):
                self.world.store.fail(name.split()[0], error)

    async def _round_while_used(self, used: set[str]) -> None:
        """A round during which some of the sessions get another message, as soon as they are free."""
        coming: list[asyncio.Task[None]] = []

        async def come(name: str) -> None:
            if name == "write_many" and not coming:
                coming.extend(
                    asyncio.create_task(self._resend(self.agents[one], [*self.agents[one].history, user(None)]))
                    for one in sorted(used)
                )
                await passes(3)

        self.world.store.before = come
        try:
            await when_due(self.world.engine._registry._writing)
        finally:
            self.world.store.before = None
            await asyncio.gather(*coming, return_exceptions=True)

    async def _resend(self, agent: Agent, history: list[object]) -> None:
        """What a client does: it sends what it has until it is told that it was taken in."""
        for _ in range(3):
            try:
                await agent.append(*history, base=0)  # type: ignore[arg-type]
            except RevisionConflict:
                continue
            return

    @property
    def _waiting(self):
        return self.world.engine._registry._writing.waiting

    async def _lengths(self) -> dict[str, int]:
        rows = {name: await self.world.store.inner.read_row(name) for name in NAMES}
        return {name: row.length for name, row in rows.items() if row is not None}

    async def _check(self) -> None:
        """What was told as committed is there, what waits is counted, and what waits is seen to."""
        lengths = await self._lengths()
        assert all(lengths[name] >= length for name, length in self.durable.items())
        writing = self.world.engine._registry._writing
        lives = [live for name in NAMES if (live := self.world.engine._registry.find(name)) is not None]
        assert self._waiting.messages == sum(len(live.state.transcript.unwritten) for live in lives)
        assert self._waiting.size_bytes == sum(live.state.transcript.unwritten_bytes for live in lives)
        assert {live for live in lives if live.state.transcript.unwritten} <= writing._due.keys()
        assert not any(live.lock.locked() for live in lives)


_mere_absence = st.one_of(
    st.tuples(st.sampled_from(["append", "append", "decide", "spill", "hold", "back"]), _names),
    st.tuples(st.just("round"), st.sets(_names, max_size=2)),
    st.tuples(st.sampled_from(["write_many fails", "write fails"]), st.just(StoreUnavailable())),
)


class KeptByAll(Played):
    """Every client goes on from where it was told that it is."""

    async def _do(self, step: str, what: object) -> None:
        agent = self.agents[str(what)] if isinstance(what, str) else None
        if step == "spill" and agent is not None:
            await agent.append(calls(None, "l"), result(None, "l", "y" * 3000))
        elif step == "back" and agent is not None:
            await agent.rewind(len(agent.history) // 2)
            self.durable[agent.name] = min(self.durable[agent.name], len(agent.history))
        else:
            await super()._do(step, what)

    async def _check(self) -> None:
        await super()._check()
        for name, agent in self.agents.items():
            async with self.world.engine._registry.locked(name) as live:
                live.state.transcript.check_base(agent.length, agent.etag)


@given(st.lists(_mere_absence, max_size=14))
def test_while_the_store_does_not_answer_nobody_has_to_send_again(steps: list[tuple[str, object]]) -> None:
    """What was taken in is there, whatever could not be written behind it."""
    asyncio.run(KeptByAll().play(steps))


@given(st.lists(_steps, max_size=14))
def test_nothing_is_lost_or_forgotten(steps: list[tuple[str, object]]) -> None:
    """A client that sends again what was not taken in finds all of it in the store at the end."""
    asyncio.run(Played().play(steps))
