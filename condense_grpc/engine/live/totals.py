"""The sums over all turns, kept while single turns get other plans."""

from collections.abc import Sequence

from condense_grpc.domain.sweep import orphan_diagnostic
from condense_grpc.domain.view import Diagnostic
from condense_grpc.engine.edit_sums import NO_COUNTS
from condense_grpc.engine.live.turn_plan import DroppedTurns, TurnPlan

Plan = TurnPlan | DroppedTurns

_MODULUS = 1 << 128


class Totals:
    """The plans of all turns, and what they come to. Owned by one live view.

    Turns that were dropped together share a plan, and never get another one; the first of them stands for all.
    `raw_*` are those of the list that is rendered, `shown_*` those of what is shown of it, by turn.
    """

    def __init__(self) -> None:
        self.plans: list[Plan | None] = []
        self.raw_count = 0
        self.raw_sum = 0
        self.shown_chars: list[int] = []
        self.shown_counts: list[int] = []
        self.shown_count = 0
        self.shown_sum = 0
        self.edit_sum = 0
        self.edit_count = 0
        self.counts = [*NO_COUNTS]
        self.changed_turns = 0
        self.wide_gain = 0
        self._raw_counts: list[int] = []
        self._raw_chars: list[int] = []
        self._orphans: dict[int, Sequence[str]] = {}
        self._orphan_report: Diagnostic | None = None

    def set(self, turn: int, raw_count: int, raw_chars: int, plan: Plan | None) -> None:
        """Give a turn a plan; the next turn is `len(plans)`."""
        if turn == len(self.plans):
            self.plans.append(None)
            for column in (self._raw_chars, self._raw_counts, self.shown_chars, self.shown_counts):
                column.append(0)
        self.raw_count += raw_count - self._raw_counts[turn]
        self.raw_sum += raw_chars - self._raw_chars[turn]
        self._raw_counts[turn], self._raw_chars[turn] = raw_count, raw_chars
        count, chars = (raw_count, raw_chars) if plan is None else (len(plan.elements), plan.chars)
        self.shown_count += count - self.shown_counts[turn]
        self.shown_sum += chars - self.shown_chars[turn]
        self.shown_counts[turn], self.shown_chars[turn] = count, chars
        before, self.plans[turn] = self.plans[turn], plan
        if before is not None:
            self._add(turn, before, -1)
        if plan is not None:
            self._add(turn, plan, 1)

    def drop(self, raw_count: int, raw_chars: int, plan: DroppedTurns) -> None:
        """Give turns this plan, by which none of them is dropped yet; they may be new. The sizes are those of all."""
        part = slice(plan.turns.start, plan.turns.stop)
        for turn, before in enumerate(self.plans[part], plan.turns.start):
            if before is not None:
                self._add(turn, before, -1)
        self.raw_count += raw_count - sum(self._raw_counts[part])
        self.raw_sum += raw_chars - sum(self._raw_chars[part])
        self.shown_count -= sum(self.shown_counts[part])
        self.shown_sum -= sum(self.shown_chars[part])
        others = [0] * (len(plan.turns) - 1)
        self._raw_counts[part], self._raw_chars[part] = [raw_count, *others], [raw_chars, *others]
        self.shown_counts[part] = self.shown_chars[part] = [0, *others]
        self.plans[part] = [plan] * len(plan.turns)
        self._add(plan.turns.start, plan, 1)

    def _add(self, turn: int, plan: Plan, sign: int) -> None:
        self.edit_sum = (self.edit_sum + sign * plan.edit_sum) % _MODULUS
        self.edit_count += sign * plan.edit_count
        self.changed_turns += sign * plan.is_changed
        self.wide_gain += sign * plan.wide_gain
        for place, one in enumerate(plan.counts):
            if one:
                self.counts[place] += sign * one
        if plan.orphan_ids:
            self._orphan_report = None
            if sign < 0:
                del self._orphans[turn]
            else:
                self._orphans[turn] = plan.orphan_ids

    def orphan_diagnostics(self) -> list[Diagnostic]:
        """The report about results that were swept, if there are some."""
        if not self._orphans:
            return []
        if self._orphan_report is None:
            self._orphan_report = orphan_diagnostic([one for ids in self._orphans.values() for one in ids])
        return [self._orphan_report]

    def before(self, turn: int) -> tuple[int, int]:
        """How many elements are shown before a turn, and their size; cheap for late turns."""
        return (
            self.shown_count - sum(self.shown_counts[turn:]),
            self.shown_sum - sum(self.shown_chars[turn:]),
        )
