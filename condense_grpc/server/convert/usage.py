"""Reports of usage."""

from condense_grpc.api.condense.v1 import usage_pb2
from condense_grpc.domain.budget import Usage


def read_usage(usage: usage_pb2.ContextUsage) -> Usage:
    """A report. Negative tokens are not known."""
    tokens = usage.tokens if usage.HasField("tokens") and usage.tokens >= 0 else None
    return Usage(tokens, usage.context_window)


def write_usage(usage: Usage, target: usage_pb2.ContextUsage) -> None:
    """Write a report."""
    target.SetInParent()
    if usage.tokens is not None:
        target.tokens = usage.tokens
    target.context_window = usage.context_window_tokens
