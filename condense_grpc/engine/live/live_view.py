"""The view of one session, kept up to date: every message and decision is read once and changes what it touches.

It gives what `domain.render` gives for the whole list, in the pieces that a turn of an agent needs. Where the effect
of a change cannot be told locally (a rewind, other settings, entries of an unknown kind) everything is read again.
It also remembers what the client was shown last, through all of that.
"""

from typing import TYPE_CHECKING

from condense_grpc.engine.live.chains import NotLocal
from condense_grpc.engine.live.live_plan import LivePlan
from condense_grpc.engine.live.shown import LiveShown
from condense_grpc.engine.requests import CacheReport
from condense_grpc.engine.shown_view import ShownView

if TYPE_CHECKING:
    from condense_grpc.engine.state import SessionState


class LiveView:
    """The live view of one session, owned by its state. Used under the session's lock."""

    def __init__(self, shown: ShownView | None = None) -> None:
        self._plan: LivePlan | None = None
        self._shown: LiveShown | ShownView | None = shown

    def copy(self) -> "LiveView":
        """A live view of its own that remembers the same."""
        return LiveView(self.written_down())

    def rest(self) -> None:
        """Let everything go that can be read again."""
        self._shown = self.written_down()
        self._plan = None

    def current(self, state: "SessionState") -> LivePlan | None:
        """The plan if everything was read already."""
        known = self._plan
        return known if known is not None and known.is_of(state) and known.is_current() else None

    def read(self, state: "SessionState") -> LivePlan | None:
        """The plan with everything read that is new; None when the session can only be rendered as a whole."""
        known = self._plan
        if known is not None:
            if not known.is_of(state):
                self.rest()
            elif known.is_current():
                return known
        while True:
            is_new = self._plan is None
            plan = self._plan = self._plan or LivePlan(state)
            try:
                plan.read()
            except NotLocal:
                self.rest()
                if is_new:
                    return None
            else:
                return plan

    def unread(self, state: "SessionState") -> int:
        """How many messages and decisions the next `read` goes through: all of them where it has to begin anew."""
        known = self._plan
        return len(state.transcript) if known is None or not known.is_of(state) else known.unread

    @property
    def live_shown(self) -> LiveShown | None:
        """What was shown, as long as it is a state of the present plan."""
        return self._shown if isinstance(self._shown, LiveShown) else None

    @property
    def has_shown(self) -> bool:
        """Whether it is known what was shown."""
        return self._shown is not None

    def changes_to(self, now: LiveShown | ShownView) -> CacheReport | None:
        """How what is shown now differs from what was shown last; None if nothing was."""
        before = self._shown
        if before is None:
            return None
        if isinstance(before, LiveShown) and isinstance(now, LiveShown) and before.is_plain == now.is_plain:
            return before.changes()
        return _written(before).changes_to(_written(now))

    def remember(self, shown: LiveShown | ShownView) -> None:
        """This is shown to the client now."""
        self._shown = shown

    def written_down(self) -> ShownView | None:
        """What was shown last, mark by mark."""
        return None if self._shown is None else _written(self._shown)


def _written(shown: LiveShown | ShownView) -> ShownView:
    return shown.written_down() if isinstance(shown, LiveShown) else shown
