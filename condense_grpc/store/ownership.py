"""One database file has one owner: a lock that the operating system lets go of when its holder dies, however it dies.

The lock is on a file beside the database. The lock file stays behind; removing it would let two owners hold locks on
two files of the same name.

A database can have several names (hard links), and then several such files. Where locks of the two kinds do not see
each other, on Linux, there is therefore one on the database itself, too. Its descriptor is closed last: closing any
descriptor of that file drops the locks that SQLite holds on it in this process. For the same reason a file that is
owned in this process is not even opened.
"""

import fcntl
import logging
import os
import sys
from pathlib import Path

from condense_grpc.store.errors import StoreInUse, StoreMoved, StorePathUnusable

logger = logging.getLogger(__name__)

PRIVATE = 0o600


_owned: set[tuple[int, int]] = set()
"""The databases that this process owns, by device and number."""


class Ownership:
    """A lock that is held from its making until `release`."""

    def __init__(self, path: Path) -> None:
        """Take the lock for the database at `path`, and make both files if need be: nobody else may read them.

        Raises StoreInUse and StorePathUnusable. Links to one file lead to one lock.
        """
        self._descriptors: list[int] = []
        self._identity: tuple[int, int] | None = None
        try:
            self.path = path.resolve()
            self._lock(f"{self.path}.lock")
            self._own()
        except BlockingIOError:
            self.release()
            raise StoreInUse from None
        except OSError:
            self.release()
            raise StorePathUnusable from None

    def _own(self) -> None:
        if self.path.exists() and _identity_of(self.path) in _owned:
            raise BlockingIOError
        if sys.platform == "linux":
            self._lock(str(self.path))
        else:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE))
        self._identity = _identity_of(self.path)
        _owned.add(self._identity)

    def _lock(self, name: str) -> None:
        self._descriptors.append(os.open(name, os.O_RDWR | os.O_CREAT, PRIVATE))
        fcntl.flock(self._descriptors[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)

    def check(self) -> None:
        """Raises StoreMoved when the file at the path is not the one that was locked: nobody would find it again."""
        if _find_identity(self.path) != self._identity:
            logger.warning("store: the database file was removed or replaced")
            raise StoreMoved

    def release(self) -> None:
        """Let another one have it. No connection to the database may be open any more."""
        if self._identity is not None:
            _owned.discard(self._identity)
        while self._descriptors:
            os.close(self._descriptors.pop())


class LogInPlace:
    """Watches over the write-ahead log of a database that is owned, for the one connection that writes."""

    def __init__(self, ownership: Ownership) -> None:
        self._ownership = ownership
        self._path = Path(f"{ownership.path}-wal")
        self._identity: tuple[int, int] | None = None

    def check(self, is_connected: bool) -> None:
        """Raises StoreMoved when the database or its log is not in its place.

        What is written to a log that was removed is lost by a crash; by an end in good order it gets into the database.
        Only without a connection another one may have taken its place.
        """
        self._ownership.check()
        found = _find_identity(self._path) if is_connected else None
        if is_connected and self._identity is not None and found != self._identity:
            logger.warning("store: the log of the database was removed or replaced")
            raise StoreMoved
        self._identity = found


def _find_identity(path: Path) -> tuple[int, int] | None:
    try:
        return _identity_of(path)
    except OSError:
        return None


def _identity_of(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
