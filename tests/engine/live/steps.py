"""What can happen to a session of an engine, drawn step by step."""

import asyncio

from hypothesis import strategies as st

from condense_grpc.domain.messages import Message
from condense_grpc.engine.edit_sums import NO_REVISION
from condense_grpc.engine.requests import Delta, FlushRequest, PruneRequest, PruneResult, ViewKind
from condense_grpc.engine.shown_view import ShownView
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.whole_view import whole_view
from condense_grpc.testing.fakes import Failure, FakeSummarizer, Reply
from tests.engine.harness import World, finished, singly
from tests.engine.live.drawn import Draw, Messages

CONFIG = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.sampled_from([True, True, False]),
        "min_batch_chars": st.sampled_from([0, 20]),
        "spill_threshold": st.sampled_from([200, 65_536]),
        "recovery_grace_turns": st.integers(0, 2),
        "protected_tools": st.sampled_from([(), ("keep",), ("b*",)]),
        "dedup_by_content_hash": st.booleans(),
        "batching_mode": st.sampled_from(["turn", "agent-message"]),
        "chain_compression": st.fixed_dictionaries(
            {},
            optional={
                "enabled": st.sampled_from([True, True, False]),
                "rolling_window": st.integers(0, 1),
                "strip_final_assistant_thinking": st.booleans(),
            },
        ),
        "purge_errors": st.fixed_dictionaries(
            {}, optional={"cooldown_turns": st.integers(0, 2), "min_arg_chars": st.just(40), "enabled": st.booleans()}
        ),
    },
)
START = {
    "prune_on": "on-demand",
    "min_batch_chars": 0,
    "spill_threshold": 200,
    "recovery_grace_turns": 1,
    "chain_compression": {"rolling_window": 1},
    "purge_errors": {"cooldown_turns": 1, "min_arg_chars": 40},
    "protected_tools": ("keep",),
}
REPLIES = (Reply(), Reply(), Reply("- [[1:bash]] {b1} {b2}"), Failure(), Reply("x" * 999))


class Steps:
    """One session, and what is drawn for it."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self.messages = Messages(draw)
        self.world = World(summarizer=FakeSummarizer(can_fuse=True))
        self._name = "s"
        self._length = 0
        self._shown: ShownView | None = None
        self._knows_shown = True

    async def begin(self) -> None:
        await self.world.engine.start()
        await self.world.engine.create_session(self._name, config=START, labels={})

    async def state(self) -> SessionState:
        """What the engine has in memory."""
        async with self.world.engine._registry.locked(self._name) as live:
            return live.state

    async def step(self) -> None:
        """One thing that happens."""
        often = (
            self._append,
            self._append,
            self._chain,
            self._chain,
            self._chain,
            self._flush,
            self._flush,
            self._prune,
        )
        seldom = (self._compact, self._configure, self._rewind, self._pin, self._restart, self._fork, self._wait)
        await self._draw(st.sampled_from((*often, *often, *seldom)))()

    async def _append(self) -> None:
        await self._send([self.messages.any() for _ in range(self._draw(st.integers(1, 4)))])

    async def _chain(self) -> None:
        await self._send(self.messages.chain())

    async def _send(self, messages: list[Message]) -> None:
        delta = Delta(self._length, "", messages)
        if self._draw(st.booleans()):
            self._length = (await self.world.engine.append(self._name, delta)).length
        else:
            await self._prune(delta)

    async def _prune(self, delta: Delta | None = None) -> None:
        kind = self._draw(st.sampled_from([ViewKind.EDITS, ViewKind.NONE]))
        savings = self._draw(st.sampled_from([None, None, 10, 10_000]))
        result = await self.world.engine.prune(PruneRequest(self._name, delta, kind, min_savings_chars=savings))
        self._length = result.length
        await self._check_cache(kind, result)

    async def _check_cache(self, kind: ViewKind, result: PruneResult) -> None:
        """The report about the cache is the one that a comparison of all marks gives."""
        whole = await whole_view(self.world.engine._tools.bodies, await self.state())
        now = whole.shown(is_plain=result.revision == NO_REVISION)
        if self._knows_shown:
            assert result.cache == (None if self._shown is None else self._shown.changes_to(now))
        if kind is not ViewKind.NONE:
            self._shown, self._knows_shown = now, True

    async def _flush(self) -> None:
        self.world.summarizer.default = self._draw(st.sampled_from(REPLIES))
        await finished(singly(self.world.engine.flush(FlushRequest(self._name, compact=self._draw(st.booleans())))))

    async def _compact(self) -> None:
        await finished(singly(self.world.engine.compact(self._name)))

    async def _configure(self) -> None:
        await self.world.engine.update_session(self._name, config=self._draw(CONFIG), labels=None)

    async def _rewind(self) -> None:
        self._length = self._draw(st.integers(0, self._length))
        await self.world.engine.append(self._name, Delta(self._length, "", ()))

    async def _pin(self) -> None:
        keys = [key for key in (await self.state()).transcript.keys if key]
        refs = [self._draw(st.sampled_from([*keys, "t1", "a"]))]
        ttl_ms = self._draw(st.none() | st.just(5))
        await self.world.engine.pin_calls(self._name, refs, ttl_ms=ttl_ms, unpin=self._draw(st.booleans()))

    async def _restart(self) -> None:
        await self.world.restart()
        await self.world.engine.start()
        self._knows_shown = False

    async def _fork(self) -> None:
        copy = f"{self._name}x"
        await self.world.engine.fork_session(self._name, copy, base_length=self._draw(st.integers(0, self._length)))
        self._name, self._knows_shown = copy, False
        self._length = len((await self.state()).transcript)

    async def _wait(self) -> None:
        self.world.clock.advance(self._draw(st.integers(1, 20)))
        await asyncio.sleep(0)
