"""Views of sessions in a provider's shape: the edits of the rules, carried over to the elements of the client."""

from collections.abc import Iterable, Sequence

from condense_grpc.domain.edits import Edit
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.codec import decode_native
from condense_grpc.engine.requests import NativeAnswer, ViewKind
from condense_grpc.engine.state import SessionState
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.layout import Layout
from condense_grpc.native.renaming import find_renames
from condense_grpc.native.unit import NativeBody
from condense_grpc.native.view import NativePlan, plan_untouched, plan_view


def plan_of_view(state: SessionState, form: NativeFormat, edits: Sequence[Edit], *, is_plain: bool) -> NativePlan:
    """The plan of the view with these edits. A plain view is the history as it is, with its defects."""
    transcript = state.transcript
    layout = Layout(transcript.skeletons, transcript.ends)
    if is_plain:
        return plan_untouched(form, layout)
    renames = find_renames(form, transcript.skeletons) if state.config.rename_repeated_ids else ()
    return plan_view(form, layout, edits, renames)


async def native_answer(state: SessionState, bodies: BodyCache, plan: NativePlan, view: ViewKind) -> NativeAnswer:
    """What a client is shown: edits, or all of it."""
    if view is ViewKind.FULL:
        written = plan.write(await _bodies(state, bodies, range(len(state.transcript))))
        return NativeAnswer(json=written.json())
    written = plan.write(await _bodies(state, bodies, plan.positions(plan.touched)))
    return NativeAnswer(edits=written.edits())


async def _bodies(state: SessionState, bodies: BodyCache, positions: Iterable[int]) -> dict[int, NativeBody]:
    nodes = {state.transcript.nodes[position]: position for position in positions}
    return {nodes[node]: decode_native(data) for node, data in (await bodies.encoded(state, nodes)).items()}
