"""Views of sessions in a provider's shape: the edits of the rules, carried over to the elements of the client."""

from collections.abc import Iterable, Sequence

from condense_grpc.domain.edits import Edit
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.codec import decode_native
from condense_grpc.engine.edit_sums import revision_of
from condense_grpc.engine.native_delta import format_of
from condense_grpc.engine.requests import CacheReport, NativeAnswer, ViewKind
from condense_grpc.engine.state import SessionState
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.layout import Layout
from condense_grpc.native.renaming import find_renames
from condense_grpc.native.unit import NativeBody
from condense_grpc.native.view import NativePlan, plan_untouched, plan_view


def find_plan(
    state: SessionState, edits: Sequence[Edit], *, is_plain: bool, asked: NativeFormat | None = None
) -> NativePlan | None:
    """The plan of the view with these edits; None if the session is not in a provider's shape.

    A plain view is the history as it is, with its defects. An empty history has the shape that was `asked` for.
    """
    transcript = state.transcript
    form = format_of(transcript) if len(transcript) else asked
    if form is None:
        return None
    layout = Layout(transcript.skeletons, transcript.ends)
    if is_plain:
        return plan_untouched(form, layout)
    renames = find_renames(form, transcript.skeletons) if state.config.rename_repeated_ids else ()
    return plan_view(form, layout, edits, renames)


def session_revision(state: SessionState, edits: Sequence[Edit]) -> str:
    """The name of the edits of a session's view, in whatever form it is."""
    plan = find_plan(state, edits, is_plain=not state.config.enabled)
    return revision_of(edits) if plan is None else plan.revision


async def native_answer(
    state: SessionState, bodies: BodyCache, plan: NativePlan, view: ViewKind | None
) -> NativeAnswer:
    """What a client is shown; None: nothing but that it differs from the history."""
    if view not in (ViewKind.EDITS, ViewKind.FULL):
        return NativeAnswer()
    if view is ViewKind.FULL:
        written = plan.write(await _bodies(state, bodies, range(len(state.transcript))))
        return NativeAnswer(json=written.json())
    written = plan.write(await _bodies(state, bodies, plan.positions(plan.touched)))
    return NativeAnswer(edits=written.edits())


async def _bodies(state: SessionState, bodies: BodyCache, positions: Iterable[int]) -> dict[int, NativeBody]:
    nodes = {state.transcript.nodes[position]: position for position in positions}
    return {nodes[node]: decode_native(data) for node, data in (await bodies.encoded(state, nodes)).items()}


def in_elements(report: CacheReport, plan: NativePlan) -> CacheReport:
    """A report about messages as one about elements of the view."""
    return CacheReport(
        plan.first_slot_from(report.first_changed_index), report.unchanged_prefix_chars, report.breaks_cache
    )
