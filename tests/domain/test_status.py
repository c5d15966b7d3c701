"""The status line where there is nothing to divide by."""

from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.status import SUMMARIZING_TEXT, Reclaim, pending_text, status_line


def test_a_measurement_of_less_than_one_token() -> None:
    assert status_line(SessionConfig(), reclaim=Reclaim(1, 0)) == "│ prune: ON · 0->0 (-0%)"


def test_explicit_texts_stand_alone() -> None:
    off = SessionConfig(enabled=False)
    assert status_line(off, text=pending_text(3)) == "│ prune: 3 pending"
    assert status_line(off, text=SUMMARIZING_TEXT) == "│ prune: summarizing…"
    assert status_line(SessionConfig(show_prune_status_line=False), text="x") is None
