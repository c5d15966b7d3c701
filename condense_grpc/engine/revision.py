"""The view of a session as it stands, and the name of its edits."""

from dataclasses import dataclass

from condense_grpc.domain.chain_ranges import ResultBody
from condense_grpc.domain.edits import Edit, edits_of
from condense_grpc.domain.messages import TextPart, text_of
from condense_grpc.domain.view import View
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.native_view import session_revision
from condense_grpc.engine.rendering import ViewList, protected_places, render_session, view_list
from condense_grpc.engine.state import SessionState


@dataclass(frozen=True, slots=True)
class CurrentView:
    """A view with the list that it was made of and its edits."""

    shown: ViewList
    view: View
    edits: list[Edit]


async def current_view(bodies: BodyCache, state: SessionState) -> CurrentView:
    """Render the session as it stands. A disabled session shows its transcript."""
    shown = view_list(state)
    if not state.config.enabled:
        return CurrentView(shown, View((), False, 0, 0, ()), [])
    places = protected_places(state, shown)
    found: dict[int, ResultBody] = {}
    if places:
        at = {place: shown.origins[place] for place in places}
        positions = [position for position in at.values() if isinstance(position, int)]
        messages = await bodies.messages(state, positions)
        for place, position in at.items():
            if isinstance(position, int):
                message = messages[position]
                others = tuple(part for part in message.parts if not isinstance(part, TextPart))
                found[place] = ResultBody(text_of(message), others)
    view = render_session(state, shown, found)
    return CurrentView(shown, view, edits_of(view.elements, shown.origins, len(state.transcript)))


async def current_revision(bodies: BodyCache, state: SessionState) -> str:
    """The revision of the session as it stands."""
    return session_revision(state, (await current_view(bodies, state)).edits)
