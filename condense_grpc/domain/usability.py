"""Which replies of a summarizer may become a summary."""

from condense_grpc.domain.text import is_blank

_UNUSABLE_STOP_REASONS = frozenset({"length", "refusal"})


def is_usable_summary(text: str, stop_reason: str | None) -> bool:
    """Whether a reply says something and was neither cut off nor refused."""
    return not is_blank(text) and stop_reason not in _UNUSABLE_STOP_REASONS
