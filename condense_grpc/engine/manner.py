"""How a view is written in a provider's shape, besides its edits, and what a change of that does to the cache.

A plain view is the history as it is. Any other joins neighbours where roles alternate, and gives new ids if the
session is set so. Marks of what was shown are about messages and know nothing of this; so when the manner of the last
view was another one, the report about messages is cut where the two manners first differ.
"""

from collections.abc import Callable, Sequence

from condense_grpc.domain.edits import Edit
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.config_codec import config_from_json
from condense_grpc.engine.live.shown import LiveShown
from condense_grpc.engine.requests import CacheReport
from condense_grpc.engine.shown_view import ShownView
from condense_grpc.engine.state import SessionState
from condense_grpc.native.changes import RenameCall
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.layout import Layout
from condense_grpc.native.renaming import find_renames
from condense_grpc.native.slots import Piece, Slot
from condense_grpc.native.view import plan_view


@frozen
class Manner:
    """Whether a view is the history as it is, and otherwise whether repeated ids are renamed in it."""

    is_plain: bool
    renames: bool

    @classmethod
    def of(cls, state: SessionState, *, is_plain: bool) -> "Manner":
        """That of a view with the settings of now."""
        return cls(is_plain, not is_plain and state.config.rename_repeated_ids)

    @classmethod
    def of_last(cls, state: SessionState) -> "Manner | None":
        """That of the view that was shown last, if there was one."""
        at = state.shown_at
        if at is None:
            return None
        config = config_from_json(at.config_json) if at.config_json else state.config
        return cls(at.is_plain, not at.is_plain and config.rename_repeated_ids)


def cut_by_manner(
    state: SessionState,
    form: NativeFormat,
    report: CacheReport,
    shown: LiveShown | ShownView,
    edits: Callable[[], Sequence[Edit]],
    *,
    is_plain: bool,
) -> CacheReport:
    """A report about the messages of a view that is about to be shown, with what its manner changes."""
    before, now = Manner.of_last(state), Manner.of(state, is_plain=is_plain)
    if before is None or before == now:
        return report
    transcript = state.transcript
    layout, common = Layout(transcript.skeletons, transcript.ends), report.first_changed_index
    renames = find_renames(form, transcript.skeletons) if before.renames or now.renames else ()
    plan = plan_view(form, layout, () if is_plain else edits(), renames)
    is_joined = before.is_plain != now.is_plain
    ranks = [piece.rank for slot in plan.slots for piece in _rewritten(slot, common, is_joined=is_joined)]
    rank = min(ranks, default=common)
    if rank >= common:
        return report
    chars = (shown.written_down() if isinstance(shown, LiveShown) else shown).chars
    return CacheReport(rank, sum(chars[:rank]), breaks_cache=True)


def _rewritten(slot: Slot, common: int, *, is_joined: bool) -> list[Piece]:
    """The pieces of an element, of those that both views have, that read otherwise in one of the manners."""
    pieces = [piece for piece in slot.pieces if piece.rank < common]
    if is_joined and len({piece.element for piece in pieces}) > 1:
        return pieces
    return [piece for piece in pieces if any(isinstance(change, RenameCall) for change in piece.changes)]
