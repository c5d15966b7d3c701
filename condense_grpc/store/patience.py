"""How long transactions wait for a database that another program has locked, a backup or a shell.

Whoever finds it locked waits for a while: mostly the other one is done soon. Once that was in vain, nobody waits for
so long any more until a transaction has come through: a lock that lasts would else cost every caller the same time,
one after another. Waiting is done in slices, so that it can be ended from outside.
"""

import sqlite3

from sqlalchemy.exc import DBAPIError

# The low byte of SQLite's error codes: SQLITE_BUSY.
_BUSY = 5
_SLICE_MS = 250


def code_of(error: Exception) -> int:
    """SQLite's primary code of an error; 0 if it is none of SQLite's."""
    driver = error.orig if isinstance(error, DBAPIError) else error
    return int(getattr(driver, "sqlite_errorcode", 0)) & 0xFF


def is_locked(error: Exception) -> bool:
    """Whether it was in vain to wait for the lock of another program. Nothing has been changed then."""
    return code_of(error) == _BUSY


class Patience:
    """That of the transactions of one thread. `slice_ms` is what the driver is to wait each time.

    To be used by that thread, but for `end`.
    """

    def __init__(self, timeout_ms: int) -> None:
        self.slice_ms = min(timeout_ms, _SLICE_MS)
        self._slices = max(1, timeout_ms // _SLICE_MS)
        self._left = 0
        self._is_lost = False
        self._is_ended = False

    def begin(self) -> None:
        """A transaction is tried for the first time."""
        self._left = self._slices

    def lasts(self, error: sqlite3.Error | DBAPIError) -> bool:
        """Whether the transaction that has failed so is to be tried once more, now that a slice is over."""
        if not is_locked(error):
            return False
        self._left -= 1
        if self._left and not self._is_lost and not self._is_ended:
            return True
        self._is_lost = True
        return False

    def renew(self) -> None:
        """A transaction has come through."""
        self._is_lost = False

    def end(self) -> None:
        """Wait no longer than a slice from now on. Any thread may say so."""
        self._is_ended = True
