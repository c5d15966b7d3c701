"""Triggers of a flush by the host's own count of its context."""

from condense_grpc.domain.budget import Usage, should_budget_flush, should_delta_flush, usage_fraction
from condense_grpc.engine.requests import FlushTrigger
from condense_grpc.engine.state import SessionState


def usage_trigger(state: SessionState, usage: Usage) -> FlushTrigger | None:
    """What a report of usage hits. The fraction of the report is remembered whatever happens else."""
    config = state.config
    budget = should_budget_flush(usage, config.auto_budget_threshold)
    delta = should_delta_flush(usage, state.usage_fraction, config.budget_turn_delta)
    fraction = usage_fraction(usage)
    if fraction is not None:
        state.usage_fraction = fraction
    if budget:
        return FlushTrigger.BUDGET
    return FlushTrigger.DELTA if delta else None
