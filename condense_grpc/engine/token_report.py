"""Views in tokens: estimated by their characters, or counted on from what the host has counted itself.

A host that reports the usage of its last request has counted the whole context, with all that is no history. From
there on only what has changed since the view that was shown before is estimated. What a host has counted is
remembered as long as the session is in memory; afterwards tokens are estimates until it tells again.
"""

from condense_grpc.domain.budget import Usage
from condense_grpc.domain.tokens import estimated_tokens
from condense_grpc.domain.view import chars_of_list
from condense_grpc.engine.requests import Reclaim, TokenBasis
from condense_grpc.engine.revision import SessionView
from condense_grpc.engine.state import SessionState


def note_host_count(state: SessionState, usage: Usage) -> None:
    """A host tells what its last request took: the view that was shown last, or all of its history if none was."""
    if not usage.tokens or usage.tokens < 0:
        return
    shown = state.shown_tokens
    if shown is None:
        transcript = state.transcript
        sizes = [skeleton.json_chars for skeleton in transcript.skeletons]
        shown = estimated_tokens(chars_of_list(len(sizes), sum(sizes)), transcript.wide_chars)
    state.host_count = (usage.tokens, shown)


def wide_chars_of(state: SessionState, view: SessionView | None) -> int:
    """How many characters of a view, or of the plain transcript, count as tokens of their own."""
    wide = state.transcript.wide_chars
    return wide if view is None or not wide else max(wide + view.wide_gain, 0)


def report_of(state: SessionState, before_chars: int, after_chars: int, after_wide: int) -> Reclaim:
    """The sizes of a history and of its view."""
    wide = state.transcript.wide_chars
    before, after = estimated_tokens(before_chars, wide), estimated_tokens(after_chars, after_wide)
    if state.host_count is not None:
        counted, estimate = state.host_count
        shown = max(counted + after - estimate, 0)
        return Reclaim(before_chars, after_chars, max(shown + before - after, 0), shown, TokenBasis.HOST)
    if wide:
        return Reclaim(before_chars, after_chars, before, after, TokenBasis.SCRIPTS)
    return Reclaim(before_chars, after_chars, before, after)


def remember_shown(state: SessionState, after_chars: int, after_wide: int) -> None:
    """A view was shown: what the host counts next is about it."""
    state.shown_tokens = estimated_tokens(after_chars, after_wide)
