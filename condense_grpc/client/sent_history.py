"""What the server is known to have of the caller's history.

After every answered append there is a checkpoint: so many objects, which are so many messages of the transcript, at
this etag. The next delta starts at the last checkpoint before the place where the caller's list parts from what was
sent. When the server turns out to have something else, an earlier checkpoint that it confirms takes its place, and
base 0 with everything is always right.

Values are immutable: calls that overlap each work on the value they started with, and whichever ends later leaves a
value that was true when the server answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from condense_grpc.client.adapters.base import MessageAdapter

MAX_CHECKPOINTS = 128


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state of the transcript: `objects` of the caller's list are `length` messages with this etag."""

    length: int = 0
    etag: str = ""
    objects: int = 0


START = Checkpoint()


@dataclass(frozen=True, slots=True)
class SentHistory:
    """Snapshots of the objects that were sent, how many messages each one is, and the checkpoints, ascending."""

    snapshots: Sequence[object] = ()
    piece_counts: Sequence[int] = ()
    checkpoints: tuple[Checkpoint, ...] = ()

    def count_unchanged(self, adapter: MessageAdapter[Any], objects: Sequence[Any]) -> int:
        """How many objects at the head of a list are what was sent."""
        for index, (item, snapshot) in enumerate(zip(objects, self.snapshots, strict=False)):
            if not adapter.is_unchanged(item, snapshot):
                return index
        return min(len(objects), len(self.snapshots))

    def base_for(self, unchanged: int) -> Checkpoint:
        """The latest checkpoint within that many objects."""
        return next((it for it in reversed(self.checkpoints) if it.objects <= unchanged), START)

    def base_after_mismatch(self, refused: Checkpoint, metadata: Mapping[str, str]) -> Checkpoint:
        """Where to send from after the server has refused a base: before it, and where the server agrees.

        An etag of ours at the server's own length has to be the server's. Below that length, or up to a common
        length that the server names, the latest checkpoint is the best guess.
        """
        common = _number(metadata.get("commonLength"))
        length = _number(metadata.get("serverLength"))
        etag = metadata.get("serverEtag", "")
        for checkpoint in reversed(self.checkpoints):
            if checkpoint.length >= refused.length:
                continue
            if common is not None:
                is_likely = checkpoint.length <= common
            elif length is not None:
                is_likely = checkpoint.length < length or (checkpoint.length == length and checkpoint.etag == etag)
            else:
                is_likely = True
            if is_likely:
                return checkpoint
        return START

    def cut_to(self, base: Checkpoint) -> "SentHistory":
        """Without the checkpoints behind a base."""
        kept = tuple(it for it in self.checkpoints if it.length <= base.length)
        return SentHistory(self.snapshots, self.piece_counts, kept)

    def extended(self, snapshots: Sequence[object], piece_counts: Sequence[int], new: Checkpoint) -> "SentHistory":
        """After an answer: these snapshots, and the checkpoints before the new one that are about the same objects.

        The caller has cut away the checkpoints that the answered delta has overwritten.
        """
        kept = tuple(it for it in self.checkpoints if it.length < new.length)
        return SentHistory(snapshots, piece_counts, thinned((*kept, new)))


def thinned(checkpoints: tuple[Checkpoint, ...]) -> tuple[Checkpoint, ...]:
    """At most `MAX_CHECKPOINTS`: of the older half every second one goes, so that early bases get rare, not absent."""
    if len(checkpoints) <= MAX_CHECKPOINTS:
        return checkpoints
    half = MAX_CHECKPOINTS // 2
    return checkpoints[:half:2] + checkpoints[half:]


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
