"""When and after how long a call is tried again: on steps, without a network and without waiting."""

from typing import Any

import pytest

from condense_grpc.client import NEVER_RETRY, RetryPolicy, errors
from condense_grpc.client.retry import with_retries
from condense_grpc.client.status_details import StatusDetails
from condense_grpc.client.steps import Receive, Wait, once

POLICY = RetryPolicy(max_attempts=4, first_delay_seconds=1.0, max_delay_seconds=3.0)


def waits(policy: RetryPolicy, failures: list[errors.CondenseError]) -> tuple[list[float], Any]:
    """Lets a step fail with these errors, then succeed. Returns the waits and the outcome."""
    steps = with_retries(policy, lambda: once(Receive(None)))
    found: list[float] = []
    step = next(steps)
    remaining = list(failures)
    try:
        while True:
            if isinstance(step, Wait):
                found.append(step.seconds)
                step = next(steps)
            else:
                step = steps.throw(remaining.pop(0)) if remaining else steps.send("done")
    except StopIteration as end:
        return found, end.value
    except errors.CondenseError as error:
        return found, error


def failing(kind: type[errors.CondenseError], wish: float | None = None) -> errors.CondenseError:
    return kind("failed", details=StatusDetails(retry_after_seconds=wish))


def test_the_wait_doubles_up_to_its_limit() -> None:
    """Jittered downwards by at most a half."""
    found, outcome = waits(POLICY, [failing(errors.Unavailable)] * 3)
    assert outcome == "done"
    for seconds, most in zip(found, (1.0, 2.0, 3.0), strict=True):
        assert most / 2 <= seconds <= most


def test_the_last_error_is_raised() -> None:
    """After the last attempt nothing is swallowed."""
    found, outcome = waits(POLICY, [failing(errors.Unavailable)] * 4)
    assert len(found) == 3 and isinstance(outcome, errors.Unavailable)


def test_the_servers_wish_is_honoured() -> None:
    """Never earlier than the server asks."""
    found, outcome = waits(POLICY, [failing(errors.ShuttingDown, 2.5), failing(errors.RevisionConflict, 0.0)])
    assert outcome == "done" and found[0] == 2.5 and len(found) == 2


def test_a_wish_beyond_the_limit_is_the_callers() -> None:
    """A client does not sleep for minutes on its own."""
    found, outcome = waits(POLICY, [failing(errors.StoreUnavailable, 60.0)])
    assert found == [] and outcome.retry_after_seconds == 60.0


@pytest.mark.parametrize(
    ("kind", "wish", "again"),
    [
        (errors.QuotaExceeded, 1.0, True),
        (errors.QuotaExceeded, None, False),
        (errors.FlushInProgress, 1.0, False),
        (errors.MessageInvalid, None, False),
        (errors.DeadlineExceeded, None, False),
        (errors.ServerInternal, None, False),
        (errors.TranscriptMismatch, None, False),
    ],
)
def test_what_is_tried_again(kind: type[errors.CondenseError], wish: float | None, again: bool) -> None:
    """Only what waiting alone can help."""
    found, outcome = waits(POLICY, [failing(kind, wish)])
    assert bool(found) is again and (outcome == "done") is again


def test_a_client_may_never_try_again() -> None:
    """One attempt is one attempt."""
    assert waits(NEVER_RETRY, [failing(errors.Unavailable)])[0] == []
