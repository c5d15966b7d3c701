"""The prune of a live session: render what is there, and say how it differs from what the client has."""

from dataclasses import dataclass

from condense_grpc.domain.edits import Edit, apply_edits
from condense_grpc.domain.numbers import token_estimate
from condense_grpc.domain.view import View, list_chars
from condense_grpc.engine.appending import ends_with_answer
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import count_pending, find_pending
from condense_grpc.engine.measures import session_metrics, session_status
from condense_grpc.engine.native_view import find_plan, in_elements, native_answer
from condense_grpc.engine.rendering import count_applied, revision_of
from condense_grpc.engine.requests import (
    AppendResult,
    FlushAdvice,
    FlushTrigger,
    NativeAnswer,
    PruneRequest,
    PruneResult,
    Reclaim,
    ViewKind,
)
from condense_grpc.engine.revision import CurrentView, current_view
from condense_grpc.engine.shown_view import ShownView, plain_view, shown_view
from condense_grpc.engine.state import SessionState
from condense_grpc.native.view import NativePlan


@dataclass(frozen=True, slots=True)
class Rendered:
    """What the client is to see: edits (none for a plain transcript), its size, and the marks of its elements."""

    view: View
    edits: list[Edit]
    chars: int
    shown: ShownView
    is_plain: bool = False


def choose_view(state: SessionState, current: CurrentView, min_savings_chars: int | None) -> Rendered:
    """The view, or the plain transcript when the session is disabled or pruning saves too little so far.

    A view that is not pruned may still hold summaries, namely while all that they cover is shown in full.
    """
    raw_chars = transcript_chars(state)
    chars = list_chars(current.view.elements) if state.config.enabled else raw_chars
    withheld = not state.view_shown and min_savings_chars is not None and raw_chars - chars < min_savings_chars
    if withheld or not state.config.enabled:
        return Rendered(View((), False, 0, 0, ()), [], raw_chars, plain_view(state.transcript), is_plain=True)
    return Rendered(current.view, current.edits, chars, shown_view(current.view, current.shown.marks))


def transcript_chars(state: SessionState) -> int:
    """Size of the raw transcript as a message list."""
    skeletons = state.transcript.skeletons
    return sum(skeleton.json_chars for skeleton in skeletons) + len(skeletons) + 1 if skeletons else 2


async def prune(
    state: SessionState, request: PruneRequest, appended: AppendResult, bodies: BodyCache, now_ms: int
) -> PruneResult:
    """The answer to a prune whose delta is appended already. Changes only what is remembered about views."""
    current = await current_view(bodies, state)
    rendered = choose_view(state, current, request.min_savings_chars)
    messages = None
    asked = request.delta.native.format if request.delta is not None and request.delta.native is not None else None
    plan = find_plan(state, rendered.edits, is_plain=rendered.is_plain, asked=asked)
    if plan is None and request.view is ViewKind.FULL and not request.dry_run:
        raw = await bodies.messages(state, range(len(state.transcript)))
        messages = apply_edits([raw[position] for position in range(len(raw))], rendered.edits)
    cache = None if state.shown is None else state.shown.changes_to(rendered.shown)
    if not request.dry_run:
        _remember(state, request, current, rendered, now_ms)
    revision = revision_of(rendered.edits) if plan is None else plan.revision
    unchanged = revision == request.known_revision
    shows_edits = request.view is ViewKind.EDITS and not unchanged and not request.dry_run
    return PruneResult(
        length=appended.length,
        etag=appended.etag,
        revision=revision,
        unchanged=unchanged,
        pruned=rendered.view.pruned if plan is None else plan.differs,
        edits=rendered.edits if shows_edits else (),
        messages=messages,
        reclaim=_reclaim(transcript_chars(state), rendered.chars),
        cache=cache if cache is None or plan is None else in_elements(cache, plan),
        applied=count_applied(rendered.edits, rendered.view),
        advice=flush_advice(state),
        violations=appended.violations,
        created=appended.created,
        status_line=session_status(state, session_metrics(state)),
        native=await _native(state, request, bodies, plan, unchanged=unchanged),
    )


async def _native(
    state: SessionState, request: PruneRequest, bodies: BodyCache, plan: NativePlan | None, *, unchanged: bool
) -> NativeAnswer | None:
    if plan is None:
        return None
    is_shown = not request.dry_run and not (unchanged and request.view is ViewKind.EDITS)
    return await native_answer(state, bodies, plan, request.view if is_shown else None)


def _remember(
    state: SessionState, request: PruneRequest, current: CurrentView, rendered: Rendered, now_ms: int
) -> None:
    for diagnostic in current.view.diagnostics:
        state.note(diagnostic.kind, diagnostic.key, diagnostic.detail, now_ms)
    if rendered.view.pruned:
        state.reclaim = _reclaim(rendered.view.before_chars, rendered.view.after_chars)
    if request.view is not ViewKind.NONE:
        state.show(rendered.shown, is_plain=rendered.is_plain)
        if rendered.edits:
            state.show_views()


def _reclaim(before_chars: int, after_chars: int) -> Reclaim:
    return Reclaim(before_chars, after_chars, token_estimate(before_chars), token_estimate(after_chars))


def flush_advice(state: SessionState, trigger: FlushTrigger | None = None) -> FlushAdvice:
    """Whether a flush is worth it now: what waits, and what asks for it (the natural boundary without a trigger)."""
    batches, chars = count_pending(state, find_pending(state))
    if trigger is None and ends_with_answer(state):
        trigger = FlushTrigger.MESSAGE_END
    return FlushAdvice(trigger if batches and state.config.enabled else None, batches, chars)
