"""When the fill of the context window asks for a flush.

Windows larger than the ceiling are treated as if they ended there: quality falls long before a window of millions
is full.
"""

from typing import TypeGuard

from condense_grpc.domain.frozen import frozen

CEILING_TOKENS = 300_000


@frozen
class Usage:
    """A report of the host: tokens in the context (None: not known) and the size of the model's window."""

    tokens: int | None
    context_window_tokens: int


def should_budget_flush(usage: Usage | None, threshold: float | None) -> bool:
    """Whether the context fills more than a share of the window (or the ceiling); off outside of (0, 1]."""
    if not _is_share(threshold) or usage is None or usage.tokens is None or usage.context_window_tokens <= 0:
        return False
    return usage.tokens >= min(CEILING_TOKENS, threshold * usage.context_window_tokens)


def usage_fraction(usage: Usage | None) -> float | None:
    """Share of the window, or of the ceiling if that is lower, not limited to 1; None when not known."""
    if usage is None or usage.tokens is None or usage.context_window_tokens <= 0:
        return None
    return usage.tokens / min(usage.context_window_tokens, CEILING_TOKENS)


def should_delta_flush(usage: Usage | None, previous_fraction: float | None, delta: float | None) -> bool:
    """Whether the fraction has grown by `delta` since the previous report; off outside of (0, 1]."""
    fraction = usage_fraction(usage)
    if not _is_share(delta) or fraction is None or previous_fraction is None:
        return False
    return fraction - previous_fraction >= delta


def _is_share(value: float | None) -> TypeGuard[float]:
    return value is not None and 0 < value <= 1
