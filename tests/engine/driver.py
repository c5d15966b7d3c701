"""Carries out generated operations on an engine, as a client that keeps its own history, and checks what must hold."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import Any

from condense_grpc.domain.batches import Record
from condense_grpc.domain.budget import Usage as ContextUsage
from condense_grpc.domain.chain_body import escape_delimiters
from condense_grpc.domain.chains import RECOVERY_TOOL
from condense_grpc.domain.edits import Edit, apply_edits
from condense_grpc.domain.json_text import compact
from condense_grpc.domain.messages import Message, Role, TextPart, ToolCallPart, text_of
from condense_grpc.domain.pairing import Pairs, keys_of
from condense_grpc.domain.pi_json import message_to_pi
from condense_grpc.domain.render import RenderInput, is_stub_of, render
from condense_grpc.domain.skeleton import skeletons_of
from condense_grpc.domain.validity import Violation, ViolationKind, find_violations
from condense_grpc.engine.full_view import full_view
from condense_grpc.engine.ports import SessionFilter
from condense_grpc.engine.requests import AsSent, CacheReport, Delta, PruneRequest, PruneResult, ViewKind
from condense_grpc.errors import CondenseError, StoreUnavailable
from condense_grpc.testing.fakes import Gate, Gated
from tests.engine import generated as op
from tests.engine.fed_back import FedBack, Manner, named_in, sent_back
from tests.engine.fingerprint import differences, fingerprint, state_of
from tests.engine.harness import Agent, World, finished, knows, singly, stamped


@dataclass
class Seen:
    """A session as it was found: the history, the same with its times, the view, and what every name stands for."""

    etag: str
    head_commit: int
    raw: list[Message]
    view: list[Message]
    refs: dict[str, str]
    fingerprint: dict[str, Any]
    sent: list[Message]
    texts: dict[str, str] = field(default_factory=dict)


@dataclass
class Driver:
    """One session under test. `check` after every operation."""

    world: World
    name: str = "s0"
    histories: list[list[Message]] = field(default_factory=lambda: [[]])
    history: list[Message] = field(default_factory=list)
    forks: int = 0
    seen: Seen | None = None
    shown: list[Message] | None = None
    rewound_since_shown: bool = False
    is_unsure: bool = False
    fed: FedBack = field(default_factory=FedBack)
    known: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)

    async def start(self, config: dict[str, Any]) -> None:
        await self.world.agent(self.name, **config)

    @property
    def agent(self) -> Agent:
        return Agent(self.world, self.name)

    # Operations

    async def do(self, operation: Any) -> None:
        """Carry out an operation and check everything that must hold afterwards."""
        self.world.clock.advance(3)
        before = self.seen
        await self._do(operation)
        await self.world.idle(self.name)
        self.world.summarizer._script.clear()
        await self.check(operation, before)

    async def _do(self, operation: Any) -> None:
        match operation:
            case op.Append():
                await self._send(len(self.history), operation.messages)
            case op.Resend():
                kept = len(self.history) * operation.kept // 100
                await self._send(0, [*self.history[:kept], *operation.messages])
            case op.Rewind():
                await self._rewind(len(self.history) * operation.kept // 100)
            case op.Return():
                await self._send(0, self._earlier(operation.number))
            case op.Flush():
                await self._flush(operation)
            case op.Compact():
                self.world.summarizer.script(*operation.outcomes)
                await finished(singly(self.world.engine.compact(self.name)))
            case op.Configure():
                await self.world.engine.update_session(self.name, config=operation.changes, labels=None)
            case op.Usage():
                await self.world.engine.record_usage(self.name, ContextUsage(operation.tokens, 100))
            case op.Prune():
                await self._prune(operation)
            case op.DryRun():
                await self._dry_run(operation)
            case op.Pin():
                await self._pin(operation)
            case op.Fork():
                await self._fork(len(self.history) * operation.kept // 100)
            case op.Restart():
                await self._restart(crash=operation.crash)
            case op.Rest():
                await self._rest(evict=operation.evict)
            case op.FeedBack():
                await self._send_back(len(self.history), op.Echo(100, (), Manner.AS_IT_IS))
            case op.Echo():
                await self._send_back(len(self.history) * operation.kept // 100, operation)
            case op.Again():
                await self._again(len(self.history) * operation.kept // 100, operation.meanwhile)
            case op.Faulty():
                await self._faulty(operation)

    async def _send(self, base: int, messages: Sequence[Message]) -> None:
        self.rewound_since_shown |= base < len(self.history)
        self.history = [*self.history[:base], *messages]
        self.histories.append(self.history)
        appended = await self.world.engine.append(self.name, Delta(base, "", messages))
        assert appended.length == len(self.history)

    def _earlier(self, number: int | None) -> list[Message]:
        return max(self.histories, key=len) if number is None else self.histories[number % len(self.histories)]

    async def _send_back(self, base: int, echo: op.Echo) -> None:
        """The whole view, behind a part of the history and messages that come between."""
        if self.seen is None or base + len(self.seen.view) > 80:
            return
        sent = sent_back(self.seen, echo.manner)
        self.fed.learn(self.seen, sent)
        messages = [*echo.begin, *(one.message for one in sent)]
        cuts = sorted(len(messages) * cut // 100 for cut in echo.cuts)
        meanwhile = list(echo.meanwhile)
        for start, end in pairwise([0, *cuts, len(messages)]):
            await self._send(base if start == 0 else len(self.history), messages[start:end])
            if meanwhile and end < len(messages):
                await self._do_alone(meanwhile.pop())

    async def _again(self, length: int, meanwhile: Sequence[Any]) -> None:
        rest = self.history[length:]
        await self._send(length, ())
        for operation in meanwhile:
            await self._do_alone(operation)
        await self._send(len(self.history), rest)

    async def _do_alone(self, operation: Any) -> None:
        await self.world.idle(self.name)
        await self._do(operation)
        await self.world.idle(self.name)

    async def _rewind(self, length: int) -> None:
        """A rewind comes to what a fork of that length has."""
        if self.seen is not None and not self.world.engine._flushing.desk.running(self.name):
            self.forks += 1
            await self.world.engine.fork_session(self.name, f"twin{self.forks}", base_length=length)
            twin = await fingerprint(self.world, f"twin{self.forks}")
            await self._send(length, ())
            assert not differences(await fingerprint(self.world, self.name), twin)
        else:
            await self._send(length, ())

    async def _flush(self, operation: op.Flush) -> None:
        gate = Gate()
        outcomes = operation.outcomes
        if operation.meanwhile:
            outcomes = [Gated(gate, outcome) for outcome in (*outcomes, *[op.Reply()] * (8 - len(outcomes)))]
        self.world.summarizer.script(*outcomes)
        events = self.agent.flushing(compact=operation.compact)
        task = asyncio.ensure_future(finished(events))
        if operation.meanwhile:
            waiting = asyncio.ensure_future(gate.reached.wait())
            await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            try:
                for one in operation.meanwhile:
                    await self._do(one)
            finally:
                gate.open()
        await task

    async def _prune(self, operation: op.Prune) -> None:
        view = await self._ask(min_savings_chars=operation.min_savings)
        self._check_cache(view)

    async def _dry_run(self, operation: op.DryRun) -> None:
        before = await fingerprint(self.world, self.name)
        delta = Delta(len(self.history), "", operation.messages)
        await self.world.engine.prune(PruneRequest(self.name, delta, ViewKind.FULL, dry_run=True))
        assert not differences(await fingerprint(self.world, self.name), before)

    async def _pin(self, operation: op.Pin) -> None:
        keys = list(self.seen.fingerprint["facts"]) if self.seen else []
        named = [keys[operation.number % len(keys)]] if keys else ["t1"]
        await self.world.engine.pin_calls(self.name, named, ttl_ms=operation.ttl_ms, unpin=operation.unpin)

    async def _fork(self, length: int) -> None:
        self.forks += 1
        name = f"fork{self.forks}"
        await self.world.engine.fork_session(self.name, name, base_length=length)
        if length == len(self.history):
            assert not differences(await fingerprint(self.world, name), await fingerprint(self.world, self.name))
        self.name, self.history, self.histories = name, self.history[:length], [self.history[:length]]
        self.shown = None
        self.known.clear()

    async def _restart(self, *, crash: bool) -> None:
        if crash:
            self.world.crash()
            # What was shown last may not have been written.
            self.shown, self.is_unsure = None, True
            self.known.clear()  # What is sent again can have other numbers in the store.
            await self._send(0, self.history)
            return
        before = await fingerprint(self.world, self.name)
        await self.world.restart()
        assert not differences(await fingerprint(self.world, self.name), before)

    async def _rest(self, *, evict: bool) -> None:
        """Nobody can tell by the answers; a session that has left the memory is told by its row."""
        engine, registry = self.world.engine, self.world.engine._registry
        before, info = await fingerprint(self.world, self.name), await engine.get_session(self.name)
        assert await registry.rest(self.name)
        assert not evict or registry.evict(self.name)
        loads = self.world.store.calls.count("load")
        told = {one.session_id: one for one in await engine.list_sessions(SessionFilter(), "", 100)}[self.name]
        assert (registry.find(self.name) is None and self.world.store.calls.count("load") == loads) or self.forks
        if evict:
            assert replace(told, status_line="") == replace(await engine.get_session(self.name), status_line="")
        else:
            assert replace(told, update_time_ms=info.update_time_ms) == info
            # Others that were loaded for the list can have taken its place.
            assert not knows(registry, self.name) or await engine.get_session(self.name) == told
            assert self.world.store.calls.count("load") == loads or self.forks
        assert not differences(await fingerprint(self.world, self.name), before)

    async def _faulty(self, operation: op.Faulty) -> None:
        """The call is done, or fails and is as if it was never made, but for messages, which are sent again."""
        before = self.world.engine._registry.find(self.name)
        self.world.store.fail(operation.name, StoreUnavailable())
        try:
            await self._do(operation.operation)
            await self.world.idle(self.name)
        except CondenseError:
            pass
        self.world.store._failing.clear()
        await self.world.idle(self.name)
        try:
            await self._send(0, self.history)
        except CondenseError:
            await self._send(0, self.history)
        live = self.world.engine._registry.find(self.name)
        assert live is not None
        if live is not before or live.state.shown is None:
            # What was shown last may not have been written before the state was thrown away.
            self.shown, self.is_unsure = None, True

    # Checks

    async def check(self, operation: Any, before: Seen | None) -> None:
        full = await self._ask()
        self._check_cache(full)
        now = await self._look(full)
        self._check_validity(now)
        await self._check_names(now)
        await self.fed.check(self.world, state_of(self.world, self.name), now)
        self._check_nothing_lost(now)
        self._check_render_of_view(now)
        self._check_same_state_same_answers(now)
        await self._check_edits(now, full)
        if before is not None and isinstance(operation, op.Append) and now.head_commit == before.head_commit:
            self._check_stable(before, now)
        self._check_refs_keep_their_meaning(before, now)
        self.seen = now

    async def _ask(self, **more: Any) -> PruneResult:
        return await self.world.engine.prune(PruneRequest(self.name, view=ViewKind.FULL, **more))

    async def _look(self, full: PruneResult) -> Seen:
        state = state_of(self.world, self.name)
        places = range(len(state.transcript))
        stored = await self.world.engine._tools.bodies.messages(state, places)
        raw = [stored[place] for place in places]
        assert list(map(_meaning, raw)) == list(map(_meaning, self.history))
        print_of_it = await fingerprint(self.world, self.name)
        refs = {key: facts.ref for key, facts in print_of_it["facts"].items() if facts.ref}
        assert full.messages is not None
        return Seen(
            state.transcript.etag, state.decisions.head, raw, list(full.messages), refs, print_of_it, self.history
        )

    def _check_validity(self, now: Seen) -> None:
        """A view has no defect that the raw history does not have. The calls that are open may stay so."""
        raw = skeletons_of(now.raw, ())
        open_calls = next((list(one.calls) for one in reversed(raw) if one.role is Role.ASSISTANT), [])
        allowed = _kinds(find_violations(raw))
        allowed.update((ViolationKind.UNANSWERED_CALL, call.id) for call in open_calls)
        found = _kinds(find_violations(skeletons_of(now.view, ())))
        assert not found - allowed, (found - allowed, now.raw, now.view)

    async def _check_names(self, now: Seen) -> None:
        """Every result can be read byte for byte by its key and, where it has one, by its ref."""
        state = state_of(self.world, self.name)
        engine = self.world.engine
        for place, message in enumerate(now.raw):
            if message.role is not Role.TOOL_RESULT:
                continue
            key = state.transcript.keys[place]
            (facts,) = await engine.call_facts(self.name, key)
            assert facts.record.key == key
            if _is_stub(message, facts.record):
                continue  # A stub that the host has sent back: it goes on to stand for the original.
            assert await engine.read_text(self.name, facts.record) == text_of(message)
            assert facts.parts == tuple(part for part in message.parts if not isinstance(part, TextPart))
            if state.decisions.index.is_summarized(key):
                assert facts.ref, key
        results = {key: now.raw[place] for place, key in enumerate(state.transcript.keys) if key}
        # An id may look like a ref; so may one that has come along from a branch that was left.
        index = state.decisions.index
        filed = map(index.record_of_key, index.known_keys())
        ids = {message.tool_call_id for message in now.raw} | {one.tool_call_id for one in filed if one is not None}
        for key, ref in now.refs.items():
            if ref in ids:
                continue
            owner = now.fingerprint["facts"][key].duplicate_of or key
            named = await engine.call_facts(self.name, ref)
            assert [one.record.key for one in named] == [owner]
            # What has come along from a branch that was left has no text of its own here, or is a stub here.
            if owner in results and not _is_stub(results[owner], named[0].record):
                assert await engine.read_text(self.name, named[0].record) == text_of(results[owner])

    def _check_nothing_lost(self, now: Seen) -> None:
        """What is not shown as it is can be asked for, stands in a block, or is no answer to any call."""
        state = state_of(self.world, self.name)
        shown = Counter((one.tool_call_id, one.timestamp_ms, one.parts) for one in now.view if _is_result(one))
        blocks = "\n".join(text_of(one) for one in now.view if text_of(one).startswith("<compressed-chain"))
        call_of = Pairs(state.transcript.skeletons).call_of
        for place, message in enumerate(now.raw):
            identity = (message.tool_call_id, message.timestamp_ms, message.parts)
            if not _is_result(message) or shown[identity]:
                continue
            key = state.transcript.keys[place]
            is_relocated = f"\n{escape_delimiters(text_of(message))}\n</protected-output>" in blocks
            assert state.decisions.index.is_summarized(key) or is_relocated or place not in call_of, (key, now.view)

    def _check_render_of_view(self, now: Seen) -> None:
        """A list that has our stubs and blocks already is rendered as it is.

        Results that share id and time are numbered in their list, and grace counts user messages, blocks too.
        """
        state = state_of(self.world, self.name)
        skeletons = skeletons_of(now.view, state.config.path_arguments)
        _, numbers = keys_of(skeletons)
        recovers = state.config.recovery_grace_turns and any(one.tool_name == RECOVERY_TOOL for one in skeletons)
        if state.config.enabled and not any(numbers + state.transcript.numbers) and not recovers:
            again = render(RenderInput(skeletons, state.decisions.index, state.config))
            assert not again.pruned, [element for element in again.elements if element.is_edited or element.block]

    def _check_same_state_same_answers(self, now: Seen) -> None:
        """The state is the replay of messages and decisions: equal ones look equal, whatever came between."""
        state = state_of(self.world, self.name)
        times = tuple(message.timestamp_ms for message in now.raw)
        same = self.name, state.decisions.head, state.transcript.etag, state.row.config_json, times
        known = self.known.setdefault(same, now.fingerprint)
        assert not differences(known, now.fingerprint)

    async def _check_edits(self, now: Seen, full: PruneResult) -> None:
        """Raw and edits give the view, of the size that was told; asking again changes nothing."""
        edits = await self.world.engine.prune(PruneRequest(self.name, view=ViewKind.EDITS))
        assert apply_edits(now.raw, edits.edits) == now.view
        assert edits.revision == full.revision
        await self._check_named_messages(now, edits.edits)
        assert (await self.world.engine.prune(PruneRequest(self.name, known_revision=edits.revision))).unchanged
        assert edits.cache is not None
        assert (edits.cache.first_changed_index, edits.cache.breaks_cache) == (len(now.view), False)
        chars = [len(compact(message_to_pi(one))) for one in now.view]
        assert full.reclaim.after_chars == sum(chars) + len(chars) + 1 if chars else 2
        assert edits.cache.unchanged_prefix_chars == sum(chars)

    async def _check_named_messages(self, now: Seen, edits: Sequence[Edit]) -> None:
        """A view that names the messages which its caller has sent is the same view, however many these are."""
        bodies = self.world.engine._tools.bodies
        for base in {0, len(now.raw) // 2, len(now.raw)}:
            request = PruneRequest(self.name, Delta(base, "", ()), names_sent=True)
            named = await full_view(state_of(self.world, self.name), request, edits, bodies)
            view: list[Message] = []
            for one in named:
                if isinstance(one, AsSent):
                    sent = now.raw[base + one.index :]
                    view += [stamped(message, time_ms) for message, time_ms in zip(sent, one.times_ms, strict=False)]
                else:
                    view.append(one)
            assert view == now.view
            assert base or len(named) <= 3 * len(edits) + 1

    def _check_cache(self, full: PruneResult) -> None:
        """The report says where the view first differs from the one before."""
        assert full.messages is not None
        view = list(full.messages)
        if self.shown is None or full.cache is None:
            # A view on a branch that was left is not remembered over a restart.
            assert full.cache is None or self.is_unsure
            assert self.shown is None or self.rewound_since_shown
        else:
            assert isinstance(full.cache, CacheReport)
            common = len(list(takewhile(bool, map(Message.__eq__, self.shown, view))))
            if self.rewound_since_shown:
                assert full.cache.first_changed_index <= common
            else:
                assert full.cache.first_changed_index == common
                assert full.cache.breaks_cache == (common < len(self.shown))
        self.shown, self.rewound_since_shown, self.is_unsure = view, False, False

    def _check_stable(self, before: Seen, now: Seen) -> None:
        """Without a decision nothing changes that was shown before, but for what its time has come.

        That is: arguments of failed calls, recovered texts whose grace ends, and the turn that was still open.
        """
        open_turn = _start_of_last_turn(before.view)
        for place, (old, new) in enumerate(zip(before.view, now.view, strict=False)):
            if old != new and place < open_turn:
                is_purge = old.role is Role.ASSISTANT and _without_arguments(old) == _without_arguments(new)
                is_grace_end = old.tool_name == RECOVERY_TOOL and old.tool_call_id == new.tool_call_id
                assert is_purge or is_grace_end, (place, old, new)

    def _check_refs_keep_their_meaning(self, before: Seen | None, now: Seen) -> None:
        """On a branch that goes on, a ref goes on to stand for what it stood for."""
        if before is None or now.raw[: len(before.raw)] != before.raw:
            return
        state = state_of(self.world, self.name)
        if not any(commit.number == before.head_commit for commit in state.decisions.commits):
            return
        meant = {ref: before.fingerprint["facts"][key].duplicate_of or key for key, ref in before.refs.items()}
        means = {ref: now.fingerprint["facts"][key].duplicate_of or key for key, ref in now.refs.items()}
        assert meant.items() <= means.items()


def _is_stub(message: Message, record: Record) -> bool:
    return any(is_stub_of(text_of(message), record, ref) for ref in named_in(message))


def _is_result(message: Message) -> bool:
    return message.role is Role.TOOL_RESULT


def _kinds(violations: Sequence[Violation]) -> Counter[tuple[ViolationKind, str]]:
    return Counter((one.kind, one.tool_call_id) for one in violations)


def _start_of_last_turn(view: Sequence[Message]) -> int:
    places = [place for place, message in enumerate(view) if message.role is Role.ASSISTANT]
    return places[-1] + 1 if places else 0


def _meaning(message: Message) -> Any:
    """What a message says, in whatever form it came, without the time that it was given."""
    value = message_to_pi(message)
    if not isinstance(value, dict):
        return value
    return {name: member for name, member in value.items() if name != "timestamp"}


def _without_arguments(message: Message) -> Message:
    parts = tuple(
        replace(part, arguments_json="") if isinstance(part, ToolCallPart) else part for part in message.parts
    )
    return replace(message, parts=parts, source_json="")
