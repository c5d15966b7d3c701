"""One database file has one owner: a lock that the operating system lets go of when its holder dies, however it dies.

The lock is on a file beside the database. It cannot be on the database itself: closing any descriptor of that file
would drop the locks that SQLite holds on it in this process. The lock file stays behind; removing it would let two
owners hold locks on two files of the same name.
"""

import fcntl
import os
from pathlib import Path

from condense_grpc.store.errors import StoreInUse, StorePathUnusable

PRIVATE = 0o600


class Ownership:
    """A lock that is held from its making until `release`."""

    def __init__(self, path: Path) -> None:
        """Take the lock for the database at `path`, and make both files if need be: nobody else may read them.

        Raises StoreInUse and StorePathUnusable. Links to one file lead to one lock.
        """
        try:
            self.path = path.resolve()
            self._descriptor = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, PRIVATE)
        except OSError:
            raise StorePathUnusable from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE))
        except BlockingIOError:
            self.release()
            raise StoreInUse from None
        except OSError:
            self.release()
            raise StorePathUnusable from None

    def release(self) -> None:
        """Let another one have it."""
        os.close(self._descriptor)
