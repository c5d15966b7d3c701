"""When a call is tried again.

Every call of this client is safe to repeat, so it is repeated when nothing came back (a lost answer included), when
the server asks to come back later, and when servers ran into each other. What a caller has to correct or wait for on
purpose (a running flush) is not repeated.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from condense_grpc.client.errors import CondenseError, QuotaExceeded, RevisionConflict, Unavailable
from condense_grpc.client.steps import Steps, Wait

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long to wait. The wait doubles each time, and a server's own wish is honoured.

    A server that asks for more than `max_delay_seconds` gets no further try: the error is the caller's.
    """

    max_attempts: int = 4
    first_delay_seconds: float = 0.1
    max_delay_seconds: float = 10.0

    def find_delay_seconds(self, attempt: int, error: CondenseError) -> float | None:
        """How long to wait after the failed attempt number `attempt` (from 1); None: do not try again."""
        wish = error.retry_after_seconds
        is_transient = isinstance(error, Unavailable | RevisionConflict) or (
            isinstance(error, QuotaExceeded) and wish is not None
        )
        if not is_transient or attempt >= self.max_attempts or (wish or 0.0) > self.max_delay_seconds:
            return None
        delay = min(self.first_delay_seconds * 2.0 ** (attempt - 1), self.max_delay_seconds)
        return max(delay * random.uniform(0.5, 1.0), wish or 0.0)


NEVER_RETRY = RetryPolicy(max_attempts=1)


def with_retries(policy: RetryPolicy, attempt: Callable[[], Steps[R]]) -> Steps[R]:
    """Runs `attempt` until it succeeds or the policy gives up, and then raises its last error."""
    number = 1
    while True:
        try:
            return (yield from attempt())
        except CondenseError as error:
            delay = policy.find_delay_seconds(number, error)
            if delay is None:
                raise
        yield Wait(delay)
        number += 1
