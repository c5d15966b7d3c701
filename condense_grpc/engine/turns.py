"""The hot path: what an agent sends at every turn, and what it is to send to its model instead."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from condense_grpc.domain.budget import Usage, should_budget_flush, should_delta_flush, usage_fraction
from condense_grpc.domain.validity import Violation
from condense_grpc.engine.appending import append_delta
from condense_grpc.engine.last_view import recall_shown
from condense_grpc.engine.live_session import LiveSession
from condense_grpc.engine.ports import StoredSession
from condense_grpc.engine.pruning import flush_advice, prune
from condense_grpc.engine.requests import AppendResult, Delta, FlushTrigger, PruneRequest, PruneResult
from condense_grpc.engine.sessions import Sessions
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.tools import Tools
from condense_grpc.errors import CondenseError, SessionNotFound


class Turns:
    """Append and prune. Safe to share."""

    def __init__(self, tools: Tools, sessions: Sessions) -> None:
        self._tools = tools
        self._sessions = sessions

    async def append_to(self, live: LiveSession, delta: Delta, *, created: bool) -> AppendResult:
        """Append a delta. The lock must be held, and the call must not be cancelled."""
        appended = await self._append(live, delta, created=created)
        await self._tools.registry.persist_soon(live)
        return appended

    async def _append(self, live: LiveSession, delta: Delta, *, created: bool) -> AppendResult:
        """Append a delta; to have it written is left to the caller."""
        state = live.state
        await self._tools.registry.make_room(live)
        if not state.view.has_shown:
            await recall_shown(self._tools.bodies, state)
        violations = await append_delta(state, delta, self._tools.bodies, self._tools.clock.now_ms())
        return AppendResult(state.transcript.element_count, state.transcript.etag, created, violations)

    async def prune_in(self, live: LiveSession, request: PruneRequest, *, created: bool) -> PruneResult:
        """Append the delta, if there is one, and render. The lock must be held, and the call not be cancelled."""
        state, persist_soon = live.state, self._tools.registry.persist_soon
        if request.delta is not None:
            appended = await self._append(live, request.delta, created=created)
        else:
            appended = AppendResult(state.transcript.element_count, state.transcript.etag, created)
            await recall_shown(self._tools.bodies, state)
        try:
            result = await prune(state, request, appended, self._tools.bodies, self._tools.clock.now_ms())
        except CondenseError:
            await persist_soon(live)
            raise
        await persist_soon(live)
        return result

    async def prune_dry(self, request: PruneRequest) -> PruneResult:
        """Report what a prune would do, on a copy that is thrown away."""
        state, violations = await self.scratch(request.session_id, request.delta, request.create)
        appended = AppendResult(state.transcript.element_count, state.transcript.etag, violations=violations)
        return await prune(state, request, appended, self._tools.bodies, self._tools.clock.now_ms())

    async def scratch(
        self, session_id: str, delta: Delta | None, create: Mapping[str, Any] | None
    ) -> tuple[SessionState, list[Violation]]:
        """A copy of the session with a delta appended, or of the one that the request would create."""
        make = self._sessions.maker(session_id, delta, create)
        try:
            async with self._tools.registry.locked(session_id) as live:
                await recall_shown(self._tools.bodies, live.state)
                state = live.state.copy()
        except SessionNotFound:
            if make is None:
                raise
            state = SessionState(StoredSession(make(), (), ()))
        if delta is None:
            return state, []
        return state, await append_delta(state, delta, self._tools.bodies, self._tools.clock.now_ms())


def usage_trigger(state: SessionState, usage: Usage) -> FlushTrigger | None:
    """What a report of usage hits. The report and its fraction are remembered whatever happens else."""
    config, state.usage = state.config, usage
    budget = should_budget_flush(usage, config.auto_budget_threshold)
    delta = should_delta_flush(usage, state.usage_fraction, config.budget_turn_delta)
    fraction = usage_fraction(usage)
    if fraction is not None:
        state.usage_fraction = fraction
    if budget:
        return FlushTrigger.BUDGET
    return FlushTrigger.DELTA if delta else None


def with_usage(result: PruneResult, state: SessionState, usage: Usage) -> tuple[PruneResult, FlushTrigger | None]:
    """The answer to a prune that came with a report of usage, and what the report hits."""
    trigger = usage_trigger(state, usage)
    return replace(result, advice=flush_advice(state, trigger)), trigger
