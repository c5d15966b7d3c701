"""The view of a session as it stands, and the name of its edits."""

from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.edit_sums import NO_REVISION
from condense_grpc.engine.live.live_plan import LivePlan
from condense_grpc.engine.native_shown import session_revision
from condense_grpc.engine.offloading import MANY_MESSAGES, PIECES_AT_ONCE, offloaded, worked_off
from condense_grpc.engine.rendering import result_bodies
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.whole_view import WholeView, whole_view

SessionView = LivePlan | WholeView


async def read_view(state: SessionState) -> LivePlan | None:
    """The live view with everything read that is new, as `LiveView.read` gives it.

    Whoever may be the first to look at a long session since it was loaded or rewound begins with this: to read all of
    it on the event loop would hold up everybody.
    """
    view = state.view
    unread = view.unread(state)
    return view.read(state) if unread <= MANY_MESSAGES else await offloaded(unread, lambda: view.read(state))


async def current_view(bodies: BodyCache, state: SessionState) -> SessionView:
    """The view as it would be shown if the session is enabled."""
    plan = state.view.current(state) or await read_view(state)
    if plan is None:
        return await whole_view(bodies, state)
    wanted, turns = plan.wanted_bodies(), plan.turns_to_plan
    found = await result_bodies(bodies, state, wanted) if wanted else {}
    if turns <= PIECES_AT_ONCE:
        plan.plan(found, state.view.live_shown)
    else:
        await worked_off(turns, plan.planning(found, state.view.live_shown), lambda _: None)
    return plan


async def current_revision(bodies: BodyCache, state: SessionState) -> str:
    """The revision of the session as it stands. A disabled session shows its transcript."""
    if not state.config.enabled:
        return session_revision(state, tuple, NO_REVISION)
    view = await current_view(bodies, state)
    return session_revision(state, lambda: view.edits, view.revision)
