"""What a turn needs to know of its view in a provider's shape; the plan of all of it only where somebody asks."""

from collections.abc import Callable, Sequence

from condense_grpc.domain.edits import Edit
from condense_grpc.domain.messages import Role
from condense_grpc.engine.kept_outline import KeptOutline
from condense_grpc.engine.native_delta import format_of
from condense_grpc.engine.native_view import plan_of_view
from condense_grpc.engine.requests import CacheReport
from condense_grpc.engine.state import SessionState
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.layout import Layout
from condense_grpc.native.outline import Outline
from condense_grpc.native.part_shape import PartShape
from condense_grpc.native.shapes import shape_of
from condense_grpc.native.slots import Slot
from condense_grpc.native.view import NativePlan


class NativeShown:
    """One view of a session in a provider's shape. `plan` is made when it is asked for."""

    def __init__(self, make: Callable[[], NativePlan], outline: Outline | None = None, tail: Sequence[Slot] = ()):
        self._make = make
        self._outline, self._tail = outline, tail
        self._plan: NativePlan | None = None

    @property
    def plan(self) -> NativePlan:
        """The whole plan."""
        if self._plan is None:
            self._plan = self._make()
        return self._plan

    @property
    def revision(self) -> str:
        """The name of its edits."""
        return self.plan.revision if self._outline is None else self._outline.revision

    @property
    def differs(self) -> bool:
        """Whether it differs from the history."""
        return self.plan.differs if self._outline is None else self._outline.differs

    def in_elements(self, report: CacheReport, *, is_cut: bool = False) -> CacheReport:
        """A report about messages as one about elements of the view. `is_cut`: to one that is known to differ."""
        rank, first = report.first_changed_index, None
        if self._outline is not None:
            first = self._outline.first_slot_from(self._tail, rank)
        if first is None:
            first = self.plan.first_slot_from(rank)
        if report.breaks_cache and rank and not is_cut:
            first = self._with_lost_parts(first, rank)
        return CacheReport(first, report.unchanged_prefix_chars, report.breaks_cache)

    def _with_lost_parts(self, first: int, rank: int) -> int:
        """Where roles alternate, what came behind a turn of the user and is gone may have been a part of that turn.

        If the answer of the model behind it is edited, that is taken for the change, as it is when a purge falls due.
        """
        slots = self.plan.slots
        if not isinstance(shape_of(self.plan.format), PartShape):
            return first
        before = self.plan.first_slot_from(rank - 1)
        is_edited = first < len(slots) and slots[first].role is Role.ASSISTANT and slots[first].is_touched
        return before if before < first and slots[before].role is Role.USER and not is_edited else first


def find_shown(
    state: SessionState,
    edits: Callable[[], Sequence[Edit]],
    edits_revision: str,
    *,
    is_plain: bool,
    asked: NativeFormat | None = None,
) -> NativeShown | None:
    """The view with these edits; None if the session is not in a provider's shape.

    A plain view is the history as it is, with its defects. An empty history has the shape that was `asked` for.
    """
    transcript = state.transcript
    form = format_of(transcript) if len(transcript) else asked
    if form is None:
        return None
    shown = NativeShown(lambda: plan_of_view(state, form, edits(), is_plain=is_plain))
    if is_plain or state.config.rename_repeated_ids:
        return shown
    kept = state.native_outline
    if kept is not None and kept.is_of(transcript, state.config, form, edits_revision):
        layout = Layout(transcript.skeletons, transcript.ends)
        tail = kept.outline.tail(layout)
        if tail is not None:
            _keep(state, kept.outline.moved(layout, tail), edits_revision)
            return NativeShown(lambda: plan_of_view(state, form, edits(), is_plain=False), kept.outline, tail)
    _keep(state, Outline.of(shown.plan), edits_revision)
    return shown


def _keep(state: SessionState, outline: Outline | None, edits_revision: str) -> None:
    transcript = state.transcript
    state.native_outline = (
        None
        if outline is None
        else KeptOutline(outline, edits_revision, state.config, transcript.digests, transcript.restyles)
    )


def session_revision(state: SessionState, edits: Callable[[], Sequence[Edit]], edits_revision: str) -> str:
    """The name of the edits of a session's view, in whatever form it is."""
    shown = find_shown(state, edits, edits_revision, is_plain=not state.config.enabled)
    return edits_revision if shown is None else shown.revision
