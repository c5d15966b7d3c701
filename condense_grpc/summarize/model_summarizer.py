"""The engine's Summarizer port over models of a provider: choice of the model, attempts, fallback, notices.

Where a batch goes is decided when `summarize` is called, not when its events are read. A flush that calls it for all
of its batches, in order, before it reads any events has at most one probe of a model that is down.

The state of an outage belongs to a session. It is kept for the sessions used last; a session that drops out, or a
restart, only costs one more attempt on a model that is down.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import field, replace
from typing import TypeAlias

from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.ports import (
    Clock,
    FuseRequest,
    SummarizerHealth,
    SummaryAttempt,
    SummaryEvent,
    SummaryFailure,
    SummaryNotice,
    SummaryProgress,
    SummaryReply,
    SummaryRequest,
    Usage,
)
from condense_grpc.summarize.attempt import AttemptFailure, AttemptResult, ModelClient, ModelRequest, ending_of
from condense_grpc.summarize.fallback import FallbackController, Route, Signal, has_distinct_fallback
from condense_grpc.summarize.model_choice import (
    FindModel,
    Model,
    ModelChoice,
    Notice,
    NoticeCode,
    choose_model,
    reasoning_effort,
)
from condense_grpc.summarize.request_text import RequestText, Unsendable, Writer
from condense_grpc.summarize.retrying import NO_RETRIES, RetryPolicy, attempts

_NO_MODEL = "no-model"
_MAX_SESSIONS = 10_000
# Above this many characters a request is written in a thread.
_LARGE_CHARS = 200_000

Request: TypeAlias = SummaryRequest | FuseRequest
Notify: TypeAlias = Callable[[str, Notice], None]
"""Takes a notice of a session (its id comes first). Must not raise and must not wait."""
Review: TypeAlias = Callable[[Request, SummaryReply, int], AttemptResult]
"""Looks at a usable reply: the reply as it may be kept, or why not. Takes the number of redactions last."""


@frozen
class ModelSetup:
    """What a session says about models: its settings, and its own model, which is the one to fall back on.

    `use_fallback` False keeps its batches on the chosen model, whatever happens there.
    """

    config: SessionConfig
    session_model: Model | None
    use_fallback: bool = True


@frozen
class ModelAccess:
    """How models are found and reached, how a session's setup is looked up, and what a reply has to stand."""

    client: ModelClient
    find_model: FindModel
    setup_of: Callable[[Request], ModelSetup]
    writer: Writer = field(default_factory=Writer)
    review: Review | None = None
    retries: RetryPolicy = NO_RETRIES


@frozen
class _Job:
    """One request on its way. `choice`: the model of the settings; `route` None: there is none at all."""

    request: Request
    setup: ModelSetup
    choice: ModelChoice
    route: Route | None


class ModelSummarizer:
    """Summaries by models, for all sessions of one process. Safe to use from many tasks of one event loop.

    Besides the outage of a session, nothing is shared between calls. It lives as long as its client. `notify` is
    told everything; what concerns people stands in the events too.
    """

    def __init__(self, name: str, access: ModelAccess, clock: Clock, notify: Notify) -> None:
        self._name = name
        self._access = access
        self._clock = clock
        self._notify = notify
        self._controllers: OrderedDict[str, FallbackController] = OrderedDict()

    @property
    def name(self) -> str:
        """`provider:model`, as it is set up."""
        return self._name

    @property
    def can_fuse(self) -> bool:
        """Models can fuse."""
        return True

    def summarize(self, request: SummaryRequest) -> AsyncGenerator[SummaryEvent, None]:
        """Summarize one batch. Its model is chosen now; nothing is sent before the first event is asked for."""
        return self._run(self._job(request))

    def fuse(self, request: FuseRequest) -> AsyncGenerator[SummaryEvent, None]:
        """Write one text from the summaries of a chain. Its model is chosen now."""
        return self._run(self._job(request))

    def in_fallback(self, session_id: str) -> bool:
        """Whether the session's chosen model is thought to be down."""
        controller = self._controllers.get(session_id)
        return controller is not None and controller.in_fallback

    def health(self, session_id: str, config: SessionConfig) -> SummarizerHealth:
        """See KeepsOutages."""
        setup = self._access.setup_of(FuseRequest(session_id, "", config))
        chosen = self._choice(setup).model
        stand_in = setup.session_model
        health = SummarizerHealth(
            chosen.label if chosen else self._name,
            stand_in.label if stand_in and has_distinct_fallback(chosen, stand_in) else "",
            is_remote=True,
        )
        controller = self._controllers.get(session_id)
        if controller is None:
            return health
        return replace(
            health,
            in_fallback=controller.in_fallback,
            last_probe_ms=controller.last_probe_at_ms,
            announcement_owed=controller.owes_warning,
        )

    def forget(self, session_id: str) -> None:
        """Start without an outage: the session is loaded anew, or gone. Idempotent; not for rewinding."""
        self._controllers.pop(session_id, None)

    def _job(self, request: Request) -> _Job:
        setup = self._access.setup_of(request)
        choice = self._choice(setup)
        if choice.notice:
            self._notify(request.session_id, choice.notice)
        route = None
        if choice.model:
            controller = self._controller_of(request.session_id) if setup.use_fallback else None
            route = Route(choice.model, setup.session_model, controller, self._clock.now_ms())
        return _Job(request, setup, choice, route)

    def _choice(self, setup: ModelSetup) -> ModelChoice:
        return choose_model(setup.config.summarizer_model, setup.session_model, self._access.find_model)

    def _controller_of(self, session_id: str) -> FallbackController:
        controller = self._controllers.setdefault(session_id, FallbackController())
        self._controllers.move_to_end(session_id)
        if len(self._controllers) > _MAX_SESSIONS:
            self._controllers.popitem(last=False)
        return controller

    async def _run(self, job: _Job) -> AsyncGenerator[SummaryEvent, None]:
        """The attempts of one job: what happens on the way, then the reply or the failure of the last one."""
        if job.choice.notice:
            yield _shown(job.choice.notice)
        result: AttemptResult | None = None
        wasted: Usage | None = None
        try:
            text = await self._text(job.request)
        except Unsendable as refusal:
            self._notify(job.request.session_id, Notice(NoticeCode.LLM_FAILED))
            yield SummaryFailure(refusal.reason)
            return
        while job.route:
            yield SummaryAttempt(job.route.model.label)
            async with aclosing(self._attempts(job, text, job.route.model)) as items:
                async for item in items:
                    if isinstance(item, SummaryProgress):
                        yield item
                    else:
                        result = self._reviewed(job, text, item)
            if isinstance(result, AttemptFailure):
                wasted = added(wasted, result.usage)
            is_tried_again, notice = self._settle(job, job.route, result)
            if notice:
                yield _shown(notice)
            if not is_tried_again:
                break
        if isinstance(result, SummaryReply):
            yield replace(result, wasted=wasted) if wasted else result
            return
        self._notify(job.request.session_id, _failure_notice(result))
        yield SummaryFailure(result.reason.value if result else _NO_MODEL, wasted)

    async def _text(self, request: Request) -> RequestText:
        write = self._access.writer.write
        is_large = isinstance(request, SummaryRequest) and source_chars(request) > _LARGE_CHARS
        return await asyncio.to_thread(write, request) if is_large else write(request)

    def _attempts(
        self, job: _Job, text: RequestText, model: Model
    ) -> AsyncGenerator[SummaryProgress | AttemptResult, None]:
        config = job.setup.config
        effort = reasoning_effort(config.summarizer_thinking)
        request = ModelRequest(model, text.prompt, effort, config.summarizer_idle_timeout_ms, text.max_reply_chars)
        return attempts(self._access.client, request, config.summarizer_max_timeout_ms, self._access.retries)

    def _reviewed(self, job: _Job, text: RequestText, result: AttemptResult) -> AttemptResult:
        if self._access.review is None or isinstance(result, AttemptFailure):
            return result
        return self._access.review(job.request, result, text.redactions)

    def _settle(self, job: _Job, route: Route, result: AttemptResult | None) -> tuple[bool, Notice | None]:
        """Take note of an attempt: whether there is another one, and what people should hear."""
        if result is None:
            return False, None
        settled = route.settle(ending_of(result), self._clock.now_ms())
        chosen, stand_in = job.choice.model, job.setup.session_model
        notice = None
        if settled.signal and chosen and stand_in:
            notice = _signal_notice(settled.signal, chosen, stand_in)
            self._notify(job.request.session_id, notice)
        return settled.retry, notice


def source_chars(request: SummaryRequest) -> int:
    """Length of the results of a batch."""
    return sum(len(call.result_text) for call in request.batch.calls)


def added(first: Usage | None, second: Usage | None) -> Usage | None:
    """What two attempts took together; the cost is known only if both are."""
    if first is None or second is None:
        return first or second
    cost = None if first.cost is None or second.cost is None else first.cost + second.cost
    return Usage(first.input_tokens + second.input_tokens, first.output_tokens + second.output_tokens, cost)


def _shown(notice: Notice) -> SummaryNotice:
    return SummaryNotice(notice.level.value, notice.text)


def _signal_notice(signal: Signal, chosen: Model, session_model: Model) -> Notice:
    if signal is Signal.RECOVER:
        return Notice(NoticeCode.FALLBACK_RECOVER, (chosen.label,))
    return Notice(NoticeCode.FALLBACK_ENTER, (chosen.label, session_model.label))


def _failure_notice(failure: AttemptFailure | None) -> Notice:
    timed_out = failure is not None and failure.timed_out
    return Notice(NoticeCode.LLM_TIMEOUT if timed_out else NoticeCode.LLM_FAILED)
