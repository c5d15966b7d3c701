"""Summaries made before a flush asks for them, kept in memory until one does.

It stands in front of the summarizer. A flush asks for summaries as always; what was made of the very same batch under
the same settings is handed out at once, with everything that was said while it was made. Nothing is decided here:
what a flush does not ask for never becomes part of a session.

Work for nothing is bounded: of one session at most so many batches are prepared at a time, and one whose summaries
were mostly discarded is left alone until flushes have used some.
"""

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field

from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.ports import (
    FuseRequest,
    KeepsOutages,
    Summarizer,
    SummarizerHealth,
    SummaryEvent,
    SummaryFailure,
    SummaryNotice,
    SummaryReply,
    SummaryRequest,
    Usage,
)
from condense_grpc.engine.summarizing import answer_of, ask, health_of

logger = logging.getLogger(__name__)

MOST_PREPARED = 16
MOST_WASTED = 8
_MOST_SESSIONS = 10_000


@frozen
class BackgroundCounts:
    """What became of the batches of a session that were begun: used, discarded, or still waiting."""

    begun: int = 0
    used: int = 0
    discarded: int = 0


class _Prepared:
    """One summary on its way. `events` are those so far; the last one is the end."""

    def __init__(self, request: SummaryRequest, key: bytes) -> None:
        self.key = key
        self.first_call = request.batch.calls[0].key
        self.events: list[SummaryEvent] = []
        self.task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    @property
    def end(self) -> SummaryReply | SummaryFailure | None:
        """The reply or the failure, once it is there."""
        last = self.events[-1] if self.events else None
        return last if isinstance(last, SummaryReply | SummaryFailure) else None

    def add(self, event: SummaryEvent) -> None:
        """Take one more event."""
        self.events.append(event)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def follow(self) -> AsyncGenerator[SummaryEvent, None]:
        """All events up to the end; then, if the work was cancelled, nothing more."""
        at = 0
        while True:
            while at < len(self.events):
                yield self.events[at]
                at += 1
            if self.end is not None or self.task is None or self.task.done():
                return
            changed = asyncio.ensure_future(self._changed.wait())
            try:
                await asyncio.wait([changed, self.task], return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()


@dataclass(slots=True)
class _Session:
    """What is prepared for one session, what became of the rest, and what is still to be told and counted."""

    prepared: dict[str, _Prepared] = field(default_factory=dict)
    begun: int = 0
    used: int = 0
    discarded: int = 0
    owed: list[SummaryNotice] = field(default_factory=list)
    wasted: list[Usage] = field(default_factory=list)

    def room(self) -> int:
        """How many batches may be begun now."""
        if self.discarded - self.used >= MOST_WASTED:
            return 0
        return MOST_PREPARED - len(self.prepared)


class Background:
    """The summarizer of an engine that works ahead. For one event loop; owned by the engine, which closes it."""

    def __init__(self, summarizer: Summarizer, concurrency: int) -> None:
        self._summarizer = summarizer
        self._slots = asyncio.Semaphore(concurrency)
        self._sessions: dict[str, _Session] = {}

    # As a summarizer

    @property
    def name(self) -> str:
        """See Summarizer."""
        return self._summarizer.name

    @property
    def can_fuse(self) -> bool:
        """See Summarizer."""
        return self._summarizer.can_fuse

    def summarize(self, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        """What was prepared of this batch, or a request of its own."""
        session = self._sessions.get(request.session_id)
        prepared = None if session is None else session.prepared.get(request.batch.calls[0].key)
        if session is None or prepared is None or prepared.key != _key_of(request):
            return self._own(session, request)
        return self._handed_out(session, prepared, request)

    def fuse(self, request: FuseRequest) -> AsyncIterator[SummaryEvent]:
        """See Summarizer; nothing is fused ahead."""
        return self._summarizer.fuse(request)

    def health(self, session_id: str, config: SessionConfig) -> SummarizerHealth:
        """See KeepsOutages."""
        return health_of(self._summarizer, session_id, config)

    def forget(self, session_id: str) -> None:
        """See KeepsOutages; what was prepared goes, too."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self._discard(session, list(session.prepared.values()))
        if isinstance(self._summarizer, KeepsOutages):
            self._summarizer.forget(session_id)

    def _own(self, session: _Session | None, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        stream = self._summarizer.summarize(request)
        if session is None or not session.owed:
            return stream
        owed, session.owed = session.owed, []
        return _behind(owed, stream)

    async def _handed_out(
        self, session: _Session, prepared: _Prepared, request: SummaryRequest
    ) -> AsyncGenerator[SummaryEvent, None]:
        """The events of a prepared summary; when it has failed, those of a request of its own behind them."""
        async for event in prepared.follow():
            if isinstance(event, SummaryReply):
                session.used += 1
                session.prepared.pop(prepared.first_call, None)
                yield event
                return
            if not isinstance(event, SummaryFailure):
                yield event
        if session.prepared.pop(prepared.first_call, None) is not None:
            session.discarded += 1
            _count_waste(session, prepared)
        async for event in self._summarizer.summarize(request):
            yield event

    # Working ahead

    def wants(self, session_id: str, config: SessionConfig) -> bool:
        """Whether it is worth looking for batches of a session: a model writes, and there is room."""
        session = self._sessions.get(session_id)
        has_room = session is None or session.room() > 0 or bool(session.prepared)
        return has_room and self.health(session_id, config).is_remote

    def prepare(self, session_id: str, requests: Sequence[SummaryRequest]) -> None:
        """Begin what is new among all batches of a session that are complete; what is not among them is discarded."""
        session = self._session(session_id)
        if session is None:
            return
        keys = {_key_of(request): request for request in requests}
        self._discard(session, [one for one in session.prepared.values() if one.key not in keys])
        known = {one.key for one in session.prepared.values()}
        new = [(key, request) for key, request in keys.items() if key not in known]
        for key, request in new[: session.room()]:
            prepared = session.prepared[request.batch.calls[0].key] = _Prepared(request, key)
            session.begun += 1
            prepared.task = asyncio.create_task(self._make(prepared, request))

    def _session(self, session_id: str) -> _Session | None:
        """The session, a new one in the place of one that has nothing left; None while all have something."""
        if session_id not in self._sessions and len(self._sessions) >= _MOST_SESSIONS:
            is_idle = (name for name, one in self._sessions.items() if not (one.prepared or one.owed or one.wasted))
            idle = next(is_idle, None)
            if idle is None:
                return None
            del self._sessions[idle]
        return self._sessions.setdefault(session_id, _Session())

    async def _make(self, prepared: _Prepared, request: SummaryRequest) -> None:
        async with self._slots:
            prepared.add(await answer_of(ask(lambda: self._summarizer.summarize(request)), prepared.add))

    def _discard(self, session: _Session, every: Iterable[_Prepared]) -> None:
        for prepared in every:
            session.prepared.pop(prepared.first_call, None)
            session.discarded += 1
            session.owed += [event for event in prepared.events if isinstance(event, SummaryNotice)]
            _count_waste(session, prepared)
            if prepared.task is not None:
                prepared.task.cancel()

    # Reports

    def counts(self, session_id: str) -> BackgroundCounts:
        """What became of what was begun for a session."""
        session = self._sessions.get(session_id, _Session())
        return BackgroundCounts(session.begun, session.used, session.discarded)

    def take_waste(self, session_id: str) -> list[Usage]:
        """What was paid for in vain since this was asked last."""
        session = self._sessions.get(session_id)
        if session is None:
            return []
        wasted, session.wasted = session.wasted, []
        return wasted

    async def close(self) -> None:
        """Cancel everything."""
        tasks = [one.task for session in self._sessions.values() for one in session.prepared.values() if one.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _behind(
    notices: Sequence[SummaryNotice], stream: AsyncIterator[SummaryEvent]
) -> AsyncGenerator[SummaryEvent, None]:
    for notice in notices:
        yield notice
    async for event in stream:
        yield event


def _count_waste(session: _Session, prepared: _Prepared) -> None:
    end = prepared.end
    usage = end.usage if isinstance(end, SummaryReply) else None
    wasted = end.wasted if end is not None else None
    session.wasted += [one for one in (usage, wasted) if one is not None]


def _key_of(request: SummaryRequest) -> bytes:
    """What the summary of a batch depends on: its texts, and the settings that a model sees."""
    batch, config = request.batch, request.config
    facts = [config.summarizer_model, config.summarizer_thinking, str(request.result_budget_chars)]
    facts += [batch.assistant_text, str(batch.turn_index)]
    for call in batch.calls:
        facts += [call.key, call.tool_name, call.args_json, call.result_text, str(call.is_error)]
    digest = hashlib.sha256()
    for fact in facts:
        data = fact.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()
