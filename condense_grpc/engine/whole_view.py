"""The view of a session planned as a whole, message by message: the specification of the live view.

It also serves where the live view cannot: when a session holds something whose effect is not local.
"""

from condense_grpc.domain.edits import edits_of
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.view import Diagnostic, View, list_chars
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.edit_list import EditList
from condense_grpc.engine.edit_sums import counts_of, revision_of, wide_gain_of
from condense_grpc.engine.rendering import ViewList, protected_places, render_session, result_bodies, view_list
from condense_grpc.engine.requests import Applied
from condense_grpc.engine.shown_view import ShownView, plain_view, shown_view
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.transcript import Transcript


@frozen
class WholeView:
    """A view with the list that it was made of. Offers what `LivePlan` offers."""

    transcript: Transcript
    listed: ViewList
    view: View
    edits: EditList

    @property
    def revision(self) -> str:
        """The name of the edits."""
        return revision_of(self.edits)

    @property
    def wide_gain(self) -> int:
        """How many more characters of wide scripts the view has than the transcript."""
        return wide_gain_of(self.edits, self.transcript.skeletons)

    @property
    def is_pruned(self) -> bool:
        """Whether the view differs from the list that was rendered."""
        return self.view.pruned

    @property
    def before_chars(self) -> int:
        """Size of the list that was rendered; 0 if nothing differs."""
        return self.view.before_chars

    @property
    def chars(self) -> int:
        """Size of the view."""
        return list_chars(self.view.elements)

    @property
    def applied(self) -> Applied:
        """How many edits there are of each kind."""
        return Applied(*counts_of(self.edits, swept=self.view.swept))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the render reports."""
        return self.view.diagnostics

    def shown(self, *, is_plain: bool) -> ShownView:
        """What a client sees that is shown the view, or the plain transcript."""
        return plain_view(self.transcript) if is_plain else shown_view(self.view, self.listed.marks)


async def whole_view(bodies: BodyCache, state: SessionState) -> WholeView:
    """Render the session as it stands, whether it is enabled or not."""
    listed = view_list(state)
    at = {place: listed.origins[place] for place in protected_places(state, listed)}
    positions = {place: position for place, position in at.items() if isinstance(position, int)}
    found = await result_bodies(bodies, state, positions.values())
    view = render_session(state, listed, {place: found[position] for place, position in positions.items()})
    edits = edits_of(view.elements, listed.origins, len(state.transcript))
    return WholeView(state.transcript, listed, view, EditList.of(edits))
