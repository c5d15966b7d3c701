"""What the client was shown last, as a state of the live view and the turns that have changed since.

As long as the turns stay the same objects the comparison costs what has changed. Before everything is read again the
state is written down once, mark by mark.
"""

from array import array
from collections import deque
from collections.abc import Iterable, Iterator

from condense_grpc.domain.messages import Message
from condense_grpc.engine.live.layout import Layout
from condense_grpc.engine.live.totals import Plan, Totals
from condense_grpc.engine.requests import CacheReport
from condense_grpc.engine.shown_view import ShownView, mark_of, plain_mark

Shown = tuple[int, int]
"""One element: its mark and its size."""


class LiveShown:
    """What of a live view was shown. `is_plain`: the transcript as it is, whatever the plans say."""

    def __init__(self, layout: Layout, totals: Totals, transcript_chars: int, *, is_plain: bool) -> None:
        self.is_plain = is_plain
        self._layout = layout
        self._digests = layout.transcript.digests
        self._skeletons = layout.transcript.skeletons
        self._totals = totals
        self._turns = len(totals.plans)
        self._length = layout.length
        self._count = layout.length if is_plain else totals.shown_count
        self._chars = transcript_chars if is_plain else totals.shown_sum
        self._replaced: dict[int, Plan | None] = {}

    def keep(self, turn: int, plan: Plan | None) -> None:
        """A turn gets another plan: what was shown of it is kept."""
        if turn < self._turns and not self.is_plain:
            self._replaced.setdefault(turn, plan)

    def written_down(self) -> ShownView:
        """All marks and sizes."""
        if self.is_plain:
            return _as_view(self._plain(0, self._length))
        return _as_view(element for turn in range(self._turns) for element in self._before(turn))

    def changes(self) -> CacheReport:
        """How what is shown now differs. It must be shown in the same way."""
        if not self._replaced:
            return CacheReport(self._count, self._chars, breaks_cache=False)
        changed = iter(sorted(self._replaced))
        mine_at = theirs_at = next(changed)
        count, chars = self._totals.before(mine_at)
        mine: deque[Shown] = deque()
        theirs: deque[Shown] = deque()
        while True:
            if not mine and not theirs and mine_at == theirs_at and mine_at not in self._replaced:
                # Up to the next turn that has changed both are the same.
                until = next((turn for turn in changed if turn > mine_at), self._turns)
                count += sum(self._totals.shown_counts[mine_at:until])
                chars += sum(self._totals.shown_chars[mine_at:until])
                mine_at = theirs_at = until
            while not mine and mine_at < self._turns:
                mine.extend(self._before(mine_at))
                mine_at += 1
            while not theirs and theirs_at < len(self._totals.plans):
                theirs.extend(self._now(theirs_at))
                theirs_at += 1
            if not mine:
                return CacheReport(count, chars, breaks_cache=False)
            if not theirs or mine[0] != theirs[0]:
                return CacheReport(count, chars, breaks_cache=True)
            count, chars = count + 1, chars + mine.popleft()[1]
            theirs.popleft()

    def _before(self, turn: int) -> Iterator[Shown]:
        """A turn as it was shown."""
        plan = self._replaced[turn] if turn in self._replaced else self._totals.plans[turn]
        first, end = self._layout.bounds(turn)
        return self._plain(first, min(end, self._length)) if plan is None else self._planned(plan)

    def _now(self, turn: int) -> Iterator[Shown]:
        plan = self._totals.plans[turn]
        return self._plain(*self._layout.bounds(turn)) if plan is None else self._planned(plan)

    def _plain(self, first: int, end: int) -> Iterator[Shown]:
        for position in range(first, end):
            yield plain_mark(self._digests[position]), self._skeletons[position].json_chars

    def _planned(self, plan: Plan) -> Iterator[Shown]:
        for element in plan.elements:
            origin = plan.origins[element.position] if element.position >= 0 else -1
            content = origin.source_json if isinstance(origin, Message) else self._digests[origin]
            yield mark_of(element, content), element.json_chars


def _as_view(elements: Iterable[Shown]) -> ShownView:
    pairs = list(elements)
    return ShownView(array("q", [mark for mark, _ in pairs]), array("q", [chars for _, chars in pairs]))
