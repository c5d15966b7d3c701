"""How long a lock of another program is waited for."""

import sqlite3

import pytest

from condense_grpc.store.patience import Patience


def failed(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError()
    error.sqlite_errorcode = code
    return error


# With an extended code, as a lock can have.
BUSY, FULL = failed(sqlite3.SQLITE_BUSY | 2 << 8), failed(sqlite3.SQLITE_FULL)


def slices(patience: Patience) -> int:
    """For how many slices a transaction waits while the lock stays."""
    patience.begin()
    count = 1
    while patience.lasts(BUSY):
        count += 1
    return count


def test_a_lock_is_waited_for_in_slices_until_the_time_is_over() -> None:
    """Never longer."""
    patience = Patience(5000)
    assert slices(patience) * patience.slice_ms == 5000


@pytest.mark.parametrize("timeout_ms", [0, 10, 250])
def test_a_short_time_is_one_slice(timeout_ms: int) -> None:
    """The driver waits for all of it."""
    patience = Patience(timeout_ms)
    assert patience.slice_ms == timeout_ms and slices(patience) == 1


def test_while_a_lock_stays_nobody_waits_for_the_whole_time_again() -> None:
    """Until a transaction has come through."""
    patience = Patience(5000)
    assert [slices(patience) for _ in range(3)] == [20, 1, 1]
    patience.renew()
    assert slices(patience) == 20


def test_waiting_is_ended_from_outside() -> None:
    """In the middle, and for good."""
    patience = Patience(5000)
    patience.begin()
    assert patience.lasts(BUSY)
    patience.end()
    assert not patience.lasts(BUSY)
    patience.renew()
    assert slices(patience) == 1


def test_only_a_lock_is_waited_for() -> None:
    """A disk that is full stays so."""
    patience = Patience(5000)
    patience.begin()
    assert not patience.lasts(FULL)
    assert patience.lasts(BUSY)
