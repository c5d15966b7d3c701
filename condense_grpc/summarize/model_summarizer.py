"""The engine's Summarizer port over models of a provider: choice of the model, attempts, fallback, notices.

Where a batch goes is decided when `summarize` is called, not when its events are read. A flush that calls it for all
of its batches, in order, before it reads any events has at most one probe of a model that is down.

The state of an outage belongs to a session. It is kept for the sessions used last; a session that drops out, or a
restart, only costs one more attempt on a model that is down.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeAlias

from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.payload import serialize_batch
from condense_grpc.engine.ports import (
    Clock,
    FuseRequest,
    SummaryEvent,
    SummaryFailure,
    SummaryProgress,
    SummaryReply,
    SummaryRequest,
)
from condense_grpc.summarize.attempt import (
    AttemptFailure,
    AttemptResult,
    ModelClient,
    ModelRequest,
    attempt,
    ending_of,
)
from condense_grpc.summarize.fallback import FallbackController, Route, Signal
from condense_grpc.summarize.model_choice import (
    FindModel,
    Model,
    Notice,
    NoticeCode,
    choose_model,
    reasoning_effort,
)
from condense_grpc.summarize.prompts import batch_prompt, fuse_prompt

_NO_MODEL = "no-model"
_MAX_SESSIONS = 10_000

Notify: TypeAlias = Callable[[str, Notice], None]
"""Takes a notice of a session (its id comes first). Must not raise and must not wait."""


@dataclass(frozen=True, slots=True)
class ModelSetup:
    """What a session says about models: its settings, and its own model, which is the one to fall back on.

    `use_fallback` False keeps its batches on the chosen model, whatever happens there.
    """

    config: SessionConfig
    session_model: Model | None
    use_fallback: bool = True


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """How models are found and reached, and how a session's setup is looked up by its id."""

    client: ModelClient
    find_model: FindModel
    setup_of: Callable[[str], ModelSetup]


@dataclass(frozen=True, slots=True)
class _Job:
    """One request on its way. `chosen`: the model of the settings, None if there is none at all."""

    session_id: str
    setup: ModelSetup
    prompt: str
    chosen: Model | None
    route: Route | None


class ModelSummarizer:
    """Summaries by models, for all sessions of one process. Safe to use from many tasks of one event loop.

    Besides the outage of a session, nothing is shared between calls. It lives as long as its client.
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
        payload = serialize_batch(request.batch, request.result_budget_chars)
        return self._run(self._job(request.session_id, batch_prompt(payload)))

    def fuse(self, request: FuseRequest) -> AsyncGenerator[SummaryEvent, None]:
        """Write one text from the summaries of a chain. Its model is chosen now."""
        return self._run(self._job(request.session_id, fuse_prompt(request.text)))

    def in_fallback(self, session_id: str) -> bool:
        """Whether the session's chosen model is thought to be down."""
        controller = self._controllers.get(session_id)
        return controller is not None and controller.in_fallback

    def forget(self, session_id: str) -> None:
        """Start without an outage: the session is loaded anew, or gone. Idempotent; not for rewinding."""
        self._controllers.pop(session_id, None)

    def _job(self, session_id: str, prompt: str) -> _Job:
        setup = self._access.setup_of(session_id)
        choice = choose_model(setup.config.summarizer_model, setup.session_model, self._access.find_model)
        if choice.notice:
            self._notify(session_id, choice.notice)
        route = None
        if choice.model:
            controller = self._controller_of(session_id) if setup.use_fallback else None
            route = Route(choice.model, setup.session_model, controller, self._clock.now_ms())
        return _Job(session_id, setup, prompt, choice.model, route)

    def _controller_of(self, session_id: str) -> FallbackController:
        controller = self._controllers.setdefault(session_id, FallbackController())
        self._controllers.move_to_end(session_id)
        if len(self._controllers) > _MAX_SESSIONS:
            self._controllers.popitem(last=False)
        return controller

    async def _run(self, job: _Job) -> AsyncGenerator[SummaryEvent, None]:
        """The attempts of one job: progress, then the reply or the failure of the last one."""
        result: AttemptResult | None = None
        route = job.route
        while route:
            async with aclosing(self._attempt(job, route.model)) as items:
                async for item in items:
                    if isinstance(item, SummaryProgress):
                        yield item
                    else:
                        result = item
            if result is None or not self._settle(job, route, result):
                break
        if isinstance(result, SummaryReply):
            yield result
            return
        self._notify(job.session_id, _failure_notice(result))
        yield SummaryFailure(result.reason if result else _NO_MODEL)

    def _attempt(self, job: _Job, model: Model) -> AsyncGenerator[SummaryProgress | AttemptResult, None]:
        config = job.setup.config
        effort = reasoning_effort(config.summarizer_thinking)
        request = ModelRequest(model, job.prompt, effort, config.summarizer_idle_timeout_ms)
        return attempt(self._access.client, request, config.summarizer_max_timeout_ms)

    def _settle(self, job: _Job, route: Route, result: AttemptResult) -> bool:
        """Take note of an attempt, and tell people what it changed; whether there is another one."""
        settled = route.settle(ending_of(result), self._clock.now_ms())
        session_model = job.setup.session_model
        if settled.signal and job.chosen and session_model:
            self._notify(job.session_id, _signal_notice(settled.signal, job.chosen, session_model))
        return settled.retry


def _signal_notice(signal: Signal, chosen: Model, session_model: Model) -> Notice:
    if signal is Signal.RECOVER:
        return Notice(NoticeCode.FALLBACK_RECOVER, (chosen.label,))
    return Notice(NoticeCode.FALLBACK_ENTER, (chosen.label, session_model.label))


def _failure_notice(failure: AttemptFailure | None) -> Notice:
    timed_out = failure is not None and failure.timed_out
    return Notice(NoticeCode.LLM_TIMEOUT if timed_out else NoticeCode.LLM_FAILED)
