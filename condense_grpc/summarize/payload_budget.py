"""A batch is made to fit: whatever its results are like, its request stays within the budget of the server.

The budget for one result shrinks until the whole fits; then arguments and the words of the assistant are cut too.
Every call keeps its label, so that whatever the model says of it can be traced.
"""

import json
from dataclasses import replace

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.domain.payload import reduce_text, serialize_batch

_LEAST_RESULT_CHARS = 160
_LEAST_ARGUMENT_CHARS = 120


def bounded_payload(batch: Batch, result_budget_chars: int, batch_budget_chars: int) -> str | None:
    """The payload in at most `batch_budget_chars` (0: no limit) characters; None if the calls alone are too many."""
    payload = serialize_batch(batch, result_budget_chars)
    if not batch_budget_chars or len(payload) <= batch_budget_chars:
        return payload
    budget = min(result_budget_chars, max(len(call.result_text) for call in batch.calls))
    while budget > _LEAST_RESULT_CHARS:
        budget = max(budget * 3 // 4, _LEAST_RESULT_CHARS)
        payload = serialize_batch(_shortened(batch, budget), budget)
        if len(payload) <= batch_budget_chars:
            return payload
    payload = serialize_batch(_shortened(batch, _LEAST_ARGUMENT_CHARS), _LEAST_RESULT_CHARS)
    return payload if len(payload) <= batch_budget_chars else None


def _shortened(batch: Batch, budget_chars: int) -> Batch:
    """The batch with what is not a result cut to the same budget."""
    calls = tuple(_with_short_arguments(call, budget_chars) for call in batch.calls)
    return replace(batch, assistant_text=reduce_text(batch.assistant_text, 2 * budget_chars), calls=calls)


def _with_short_arguments(call: Call, budget_chars: int) -> Call:
    if len(call.args_json) <= budget_chars:
        return call
    return replace(call, args_json=json.dumps(reduce_text(call.args_json, budget_chars), ensure_ascii=False))
