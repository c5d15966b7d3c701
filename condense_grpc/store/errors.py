"""Why a store cannot be opened or read: for whoever runs the service, in words that say what to do.

    StoreUnavailable
    ├── StoreLocked               another program keeps a lock on the database
    └── StoreRefused
        ├── StoreInUse            another running process owns the database
        ├── StorePathUnusable     its file cannot be created or opened
        ├── StoreMoved            its file is not in its place any more
        ├── StoreTooNew           a newer release has changed its schema
        ├── StoreForeign          it holds tables of something else
        └── StoreDamaged          its content is not readable

To a client of the service all of them are the reason STORE_UNAVAILABLE. None of the messages has a path or a
driver's text in it.
"""

from typing import ClassVar

from condense_grpc.errors import CondenseError, StoreUnavailable


class StoreLocked(StoreUnavailable):
    """Another program has kept the database locked for too long. It passes."""

    def __init__(self) -> None:
        CondenseError.__init__(
            self,
            "another program (a backup, a shell) keeps the database locked: nothing is lost, try again when it is done",
        )


class StoreRefused(StoreUnavailable):
    """The store will not work until somebody has changed something: repeating the call does not help."""

    explanation: ClassVar[str] = "the store cannot be opened"

    def __init__(self) -> None:
        CondenseError.__init__(self, self.explanation)


class StoreInUse(StoreRefused):
    """Another process, or another store of this process, owns the database."""

    explanation = (
        "the database is owned by another running process: stop that one, give this one a database of its own, "
        "or use PostgreSQL to serve the same sessions from several processes"
    )


class StorePathUnusable(StoreRefused):
    """The operating system refuses the file."""

    explanation = (
        "the database file cannot be created or opened: check that its folder exists and that this process may "
        "read and write there"
    )


class StoreMoved(StoreRefused):
    """The file, or its log, was removed, or another one was put in its place: what is written now would be lost."""

    explanation = (
        "the database file, or its log beside it, was removed or replaced while it was in use: put it back in its "
        "place, or stop the server in good order and start it anew with what is there"
    )


class StoreTooNew(StoreRefused):
    """The schema has a revision that this release does not know."""

    explanation = (
        "the database was written by a newer release: run that release or a later one; going back needs a copy "
        "that was saved before the upgrade"
    )


class StoreForeign(StoreRefused):
    """There are tables in it, and none that says which schema they are."""

    explanation = "the database holds tables of another program: give this service a database of its own"


class StoreDamaged(StoreRefused):
    """It is not a database, or parts of it do not add up."""

    explanation = (
        "the database is damaged, or the file is not a database: keep a copy of it, then restore a backup or start "
        "with a new one"
    )
