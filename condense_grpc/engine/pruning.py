"""The prune of a live session: render what is there, and say how it differs from what the client has."""

from collections.abc import Sequence

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.view import Diagnostic, chars_of_list
from condense_grpc.engine.appending import ends_with_answer
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import count_pending
from condense_grpc.engine.edit_list import NO_EDITS, EditList
from condense_grpc.engine.edit_sums import NO_REVISION
from condense_grpc.engine.full_view import full_view
from condense_grpc.engine.live.live_plan import LivePlan
from condense_grpc.engine.live.shown import LiveShown
from condense_grpc.engine.manner import cut_by_manner
from condense_grpc.engine.measures import session_metrics, session_status
from condense_grpc.engine.native_delta import format_of
from condense_grpc.engine.native_shown import NativeShown, find_shown
from condense_grpc.engine.native_view import native_answer
from condense_grpc.engine.requests import (
    EDITS,
    FULL,
    NONE,
    AppendResult,
    Applied,
    CacheReport,
    FlushAdvice,
    FlushTrigger,
    NativeAnswer,
    PruneRequest,
    PruneResult,
)
from condense_grpc.engine.revision import SessionView, current_view, read_view
from condense_grpc.engine.shown_view import ShownView, plain_view
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.token_report import note_host_count, remember_shown, report_of, wide_chars_of


@frozen
class Choice:
    """What the client is to see: the view, or (`view` None) the plain transcript."""

    view: SessionView | None
    raw_chars: int
    chars: int
    shown: LiveShown | ShownView
    diagnostics: Sequence[Diagnostic] = ()

    @property
    def revision(self) -> str:
        """The name of the edits that lead to it."""
        return NO_REVISION if self.view is None else self.view.revision

    @property
    def edits(self) -> EditList:
        """These edits."""
        return NO_EDITS if self.view is None else self.view.edits

    @property
    def is_pruned(self) -> bool:
        """Whether it differs from the transcript with its summaries."""
        return self.view is not None and self.view.is_pruned


async def choose_view(bodies: BodyCache, state: SessionState, min_savings_chars: int | None) -> Choice:
    """The view, or the plain transcript when the session is disabled or pruning saves too little so far.

    A view that is not pruned may still hold summaries, namely while all that they cover is shown in full.
    """
    live = state.view.current(state) or await read_view(state)
    raw_chars = _transcript_chars(state) if live is None else live.transcript_chars
    if not state.config.enabled:
        return Choice(None, raw_chars, raw_chars, _plain_shown(state, live))
    view = await current_view(bodies, state)
    chars = view.chars
    if min_savings_chars is not None and not state.view_shown and raw_chars - chars < min_savings_chars:
        return Choice(None, raw_chars, raw_chars, _plain_shown(state, live), view.diagnostics)
    return Choice(view, raw_chars, chars, view.shown(is_plain=False), view.diagnostics)


def _transcript_chars(state: SessionState) -> int:
    """Size of the raw transcript as a message list."""
    sizes = [skeleton.json_chars for skeleton in state.transcript.skeletons]
    return chars_of_list(len(sizes), sum(sizes))


def _plain_shown(state: SessionState, live: LivePlan | None) -> LiveShown | ShownView:
    """What a client sees that is shown the plain transcript."""
    return plain_view(state.transcript) if live is None else live.shown(is_plain=True)


async def prune(
    state: SessionState, request: PruneRequest, appended: AppendResult, bodies: BodyCache, now_ms: int
) -> PruneResult:
    """The answer to a prune whose delta is appended already. Changes only what is remembered about views."""
    if request.usage is not None:
        note_host_count(state, request.usage)
    choice = await choose_view(bodies, state, request.min_savings_chars)
    wide = wide_chars_of(state, choice.view)
    native = _native_shown(state, request, choice)
    messages = None
    if native is None and request.view is FULL and not request.dry_run:
        messages = await full_view(state, request, choice.edits, bodies)
    cache = _cache_report(state, choice, native)
    if not request.dry_run:
        _remember(state, request, choice, wide, now_ms)
    revision = choice.revision if native is None else native.revision
    unchanged = revision == request.known_revision
    shows_edits = request.view is EDITS and not unchanged and not request.dry_run
    return PruneResult(
        length=appended.length,
        etag=appended.etag,
        revision=revision,
        unchanged=unchanged,
        pruned=choice.is_pruned if native is None else native.differs,
        edits=choice.edits if shows_edits else NO_EDITS,
        messages=messages,
        reclaim=report_of(state, choice.raw_chars, choice.chars, wide),
        cache=cache,
        applied=Applied() if choice.view is None else choice.view.applied,
        advice=flush_advice(state),
        violations=appended.violations,
        created=appended.created,
        status_line=session_status(state, session_metrics(state)),
        native=None if native is None else await _native_answer(state, request, bodies, native, unchanged=unchanged),
    )


def _native_shown(state: SessionState, request: PruneRequest, choice: Choice) -> NativeShown | None:
    native = None if request.delta is None else request.delta.native
    if native is None and format_of(state.transcript) is None:
        return None
    asked = None if native is None else native.format
    return find_shown(state, lambda: choice.edits, choice.revision, is_plain=choice.view is None, asked=asked)


def _cache_report(state: SessionState, choice: Choice, native: NativeShown | None) -> CacheReport | None:
    """How the view differs from the last one, in elements of the client. To be asked before it is remembered."""
    report = state.view.changes_to(choice.shown)
    if report is None or native is None:
        return report
    form = format_of(state.transcript)
    if form is None:
        return native.in_elements(report)
    is_plain = choice.view is None
    cut = cut_by_manner(state, form, report, choice.shown, lambda: choice.edits, is_plain=is_plain)
    return native.in_elements(cut, is_cut=cut is not report)


async def _native_answer(
    state: SessionState, request: PruneRequest, bodies: BodyCache, shown: NativeShown, *, unchanged: bool
) -> NativeAnswer:
    is_shown = request.view is FULL or (request.view is EDITS and not unchanged)
    if request.dry_run or not is_shown:
        return NativeAnswer()
    return await native_answer(state, bodies, shown.plan, request.view)


def _remember(state: SessionState, request: PruneRequest, choice: Choice, wide_chars: int, now_ms: int) -> None:
    view = choice.view
    for diagnostic in choice.diagnostics:
        state.note(diagnostic.kind, diagnostic.key, diagnostic.detail, now_ms)
    if view is not None and view.is_pruned:
        state.reclaim = report_of(state, view.before_chars, view.chars, wide_chars)
    if request.view is not NONE:
        state.show(choice.shown, is_plain=view is None)
        remember_shown(state, choice.chars, wide_chars)
        if choice.revision != NO_REVISION:
            state.show_views()


def flush_advice(state: SessionState, trigger: FlushTrigger | None = None) -> FlushAdvice:
    """Whether a flush is worth it now: what waits, and what asks for it (the natural boundary without a trigger)."""
    batches, chars = count_pending(state)
    if trigger is None and ends_with_answer(state):
        trigger = FlushTrigger.MESSAGE_END
    return FlushAdvice(trigger if batches and state.config.enabled else None, batches, chars)
