"""Attempts again: a failure that may pass by itself is tried once more on the same model, a little later.

Waits are jittered, so that many sessions do not come back at the same moment, and they grow. What the provider asks
for is respected; when it asks for more than is left or worth waiting for, the failure stands, and the fallback can
take over at once. All tries together have the time of one attempt.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.ports import SummaryProgress
from condense_grpc.summarize.attempt import AttemptFailure, AttemptResult, ModelClient, ModelRequest, attempt


@frozen
class RetryPolicy:
    """How often and how long. `retries` 0: never. `draw` gives a number from 0 to 1 for the jitter."""

    retries: int = 0
    first_wait_s: float = 0.5
    longest_wait_s: float = 20.0
    draw: Callable[[], float] = random.random

    def wait_s(self, number: int, asked_s: float | None) -> float:
        """How long to wait before retry `number` (from 0)."""
        grown: float = min(self.first_wait_s * 2.0**number, self.longest_wait_s)
        jittered = grown * (1 + self.draw()) / 2
        return jittered if asked_s is None else asked_s + jittered / 2


NO_RETRIES = RetryPolicy()


async def attempts(
    client: ModelClient, request: ModelRequest, max_timeout_ms: int, policy: RetryPolicy
) -> AsyncGenerator[SummaryProgress | AttemptResult, None]:
    """As `attempt`, with retries. Progress begins anew with each try; the last item is the result of the last one."""
    now = asyncio.get_running_loop().time
    ends_at = now() + max_timeout_ms / 1000 if max_timeout_ms else None
    for number in range(policy.retries + 1):
        left_ms = max(int((ends_at - now()) * 1000), 1) if ends_at is not None else 0
        result: AttemptResult | None = None
        async with aclosing(attempt(client, request, left_ms)) as items:
            async for item in items:
                if isinstance(item, SummaryProgress):
                    yield item
                else:
                    result = item
        assert result is not None
        wait_s = _wait_before_retry(result, policy, number, None if ends_at is None else ends_at - now())
        if wait_s is None:
            yield result
            return
        await asyncio.sleep(wait_s)


def _wait_before_retry(result: AttemptResult, policy: RetryPolicy, number: int, left_s: float | None) -> float | None:
    """How long to wait for the next try; None: there is none."""
    if not isinstance(result, AttemptFailure) or not result.may_pass_soon or number >= policy.retries:
        return None
    if result.retry_after_s is not None and result.retry_after_s > policy.longest_wait_s:
        return None
    wait_s = policy.wait_s(number, result.retry_after_s)
    return None if left_s is not None and wait_s >= left_s else wait_s
