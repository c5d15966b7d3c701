"""Reading back: originals, single calls, and the report about a session. Nothing here decides anything."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from condense_grpc.domain.batches import Record
from condense_grpc.domain.recovery import QueryAnswer
from condense_grpc.domain.slices import Slice
from condense_grpc.domain.stats import stats_since
from condense_grpc.engine.calls import Calls, facts_of
from condense_grpc.engine.capture_step import count_pending
from condense_grpc.engine.measures import session_metrics, session_status
from condense_grpc.engine.ports import StoredDiagnostic, SummarizerHealth
from condense_grpc.engine.pruning import flush_advice
from condense_grpc.engine.recall import ask, patterns_of, record_bodies
from condense_grpc.engine.requests import CallFacts, DiagnosticsReport
from condense_grpc.engine.revision import read_view
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.summarizing import health_of
from condense_grpc.engine.tools import Tools


class Reading:
    """The use cases that read. Safe to share."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._registry, self._bodies = tools.registry, tools.bodies

    async def query(self, session_id: str, refs: Sequence[str], slices: Sequence[Slice]) -> QueryAnswer:
        """The answer to a recovery query."""
        patterns = patterns_of(slices)
        async with self._registry.locked(session_id) as live:
            question = await ask(self._bodies, live.state, refs, slices)
        if question.is_large:
            return await asyncio.to_thread(question.answer, patterns)
        return question.answer(patterns)

    async def call_facts(self, session_id: str, name: str) -> list[CallFacts]:
        """What a ref, an occurrence key or a tool call id names."""
        async with self._registry.locked(session_id) as live:
            return await facts_of(self._bodies, live.state, Calls(live.state).find(name))

    async def list_calls(self, session_id: str, after: int, limit: int) -> list[CallFacts]:
        """The results in order, from number `after` on."""
        async with self._registry.locked(session_id) as live:
            records = Calls(live.state).all()[after : after + limit]
            return await facts_of(self._bodies, live.state, records)

    async def read_text(self, session_id: str, record: Record) -> str:
        """The verbatim text of a record."""
        async with self._registry.locked(session_id) as live:
            return (await record_bodies(self._bodies, live.state, [record]))[record.key].text

    async def diagnostics(self, session_id: str, *, flush_running: bool) -> DiagnosticsReport:
        """Counters, measures, statistics, what waits, and the status line."""
        async with self._registry.locked(session_id) as live:
            await read_view(live.state)
            health = health_of(self._tools.summarizer, session_id, live.state.config)
            report = _report(live.state, health, flush_running=flush_running)
        background = self._tools.background
        return report if background is None else replace(report, background=background.counts(session_id))

    async def diagnostic_entries(self, session_id: str, after: int, limit: int) -> list[StoredDiagnostic]:
        """What was noticed, oldest first, from behind number `after`."""
        async with self._registry.locked(session_id) as live:
            await self._registry.persist(live)
            return await self._tools.store.read_diagnostics(session_id, after, limit)


def _report(state: SessionState, summarizer: SummarizerHealth, *, flush_running: bool) -> DiagnosticsReport:
    decisions = state.decisions
    metrics = session_metrics(state)
    batches, chars = count_pending(state)
    return DiagnosticsReport(
        counts={kind.value: count for kind, count in state.sink.counts.items()},
        metrics=metrics,
        stats=decisions.stats,
        session_delta=stats_since(decisions.baseline, decisions.stats),
        reclaim=state.reclaim,
        frontier=decisions.frontier,
        pending_batches=batches,
        pending_chars=chars,
        summarizer=summarizer,
        flushes=tuple(decisions.recent_flushes),
        status_line=session_status(state, metrics),
        flush_running=flush_running,
        checks=state.checks,
        advice=replace(flush_advice(state), running=flush_running),
        usage=state.usage,
    )
