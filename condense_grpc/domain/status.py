"""The status line: one line for a host's screen that says what condensing does and what it has gained."""

from collections.abc import Mapping

from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.diagnostics import DiagnosticKind
from condense_grpc.domain.entries import ContextMetrics
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.numbers import format_compact_count, half_up, token_estimate

SUMMARIZING_TEXT = "prune: summarizing…"
_LETTERS = {
    DiagnosticKind.UNRESOLVED_RANGE: "u",
    DiagnosticKind.RANGE_ID_MISMATCH: "m",
    DiagnosticKind.ORPHAN_SWEEP: "o",
    DiagnosticKind.BACKFILL_EMPTY: "b",
}


@frozen
class Reclaim:
    """Sizes of the transcript before and after the last render that changed something."""

    before_chars: int
    after_chars: int


def pending_text(batches: int) -> str:
    """The explicit text while work waits for a flush."""
    return f"prune: {batches} pending"


def status_line(
    config: SessionConfig,
    *,
    text: str | None = None,
    reclaim: Reclaim | None = None,
    diagnostics: Mapping[DiagnosticKind, int] | None = None,
    metrics: ContextMetrics | None = None,
) -> str | None:
    """The line, or None when the session hides it. An explicit `text` stands instead of everything measured."""
    if not config.show_prune_status_line:
        return None
    if text is None:
        text = _measured(reclaim, diagnostics or {}, metrics) if config.enabled else "prune: OFF"
    return f"│ {text}"


def _measured(
    reclaim: Reclaim | None, diagnostics: Mapping[DiagnosticKind, int], metrics: ContextMetrics | None
) -> str:
    pieces = ["prune: ON"]
    if reclaim is not None and reclaim.before_chars > 0:
        pieces.append(_reclaimed(reclaim))
    counted = [f"{letter}{diagnostics[kind]}" for kind, letter in _LETTERS.items() if diagnostics.get(kind)]
    if counted:
        pieces.append("diag " + "/".join(counted))
    if metrics is not None and metrics.frontier_gap_tokens > 0:
        pieces.append(f"think {format_compact_count(metrics.open_cycle_thinking_tokens)}")
        pieces.append(f"gap {format_compact_count(metrics.frontier_gap_tokens)}")
        pieces.append(f"chain {metrics.largest_chain_share_pct}%")
    return " · ".join(pieces)


def _reclaimed(reclaim: Reclaim) -> str:
    before, after = token_estimate(reclaim.before_chars), token_estimate(reclaim.after_chars)
    percent = max(0, half_up((1 - after / before) * 100)) if before else 0
    return f"{format_compact_count(before)}->{format_compact_count(after)} (-{percent}%)"
