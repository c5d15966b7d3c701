"""Messages recognised by how they were sent: a long history that comes again is not read again.

A fingerprint is the interpreter's own hash of a message as its sender wrote it, which every process keys anew. It is a
shortcut and nothing else: it is kept in memory only, and what is not recognised is read, with the same outcome. The
transcript's digests say in the end whether what was recognised is still there.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message

_BYTES = 8


@frozen
class SentPrints:
    """The fingerprints of successive messages from position `first` on."""

    first: int
    prints: bytes

    @classmethod
    def of(cls, first: int, sent: Iterable[bytes]) -> "SentPrints":
        """The fingerprints of messages as they were sent."""
        # (A loop, between whose steps other threads may run. `map` would hash ten megabytes in one.)
        return cls(first, array("q", [hash(data) for data in sent]).tobytes())

    def until(self, length: int) -> "SentPrints":
        """Those before a position."""
        return SentPrints(self.first, self.prints[: _BYTES * max(length - self.first, 0)])

    def count_equal(self, others: "SentPrints") -> int:
        """How many messages, from the first of the others on, are the same."""
        skipped = _BYTES * (others.first - self.first)
        if skipped < 0:
            return 0
        mine, theirs = self.prints[skipped:], others.prints
        length = min(len(mine), len(theirs))
        if mine[:length] == theirs[:length]:
            return length // _BYTES
        return (
            next(at for at in range(0, length, _BYTES) if mine[at : at + _BYTES] != theirs[at : at + _BYTES]) // _BYTES
        )


@frozen
class Recollection:
    """How the messages of a transcript were sent, and the digests after them, as of one moment."""

    prints: SentPrints
    digests: Sequence[bytes]

    def recognise(self, sent: SentPrints, whole: Callable[[], Sequence[Message]]) -> "Recognised | None":
        """The first of the sent messages that are known; None if none is. `whole` reads all that were sent."""
        count = min(self.prints.count_equal(sent), len(self.digests) - sent.first)
        return Recognised(count, self.digests[sent.first + count - 1], whole) if count > 0 else None


@frozen
class Recognised:
    """The first `count` messages of a delta, which were not read: as long as the transcript has `digest` behind them
    they are there. `whole` gives all messages of the delta, also the rest.
    """

    count: int
    digest: bytes
    whole: Callable[[], Sequence[Message]]
