"""What the rules of a provider ask of the messages before a turn, kept so that the next turn adds only its own."""

from collections.abc import Sequence
from dataclasses import dataclass

from condense_grpc.engine.transcript import Transcript


@dataclass(slots=True)
class KeptBefore:
    """The ids of all calls in the first `length` messages, and how many cache marks these have.

    Owned by a session's state. It grows with the transcript, and begins anew after a rewind or when messages have come
    again in other bytes.
    """

    digests: Sequence[bytes]
    restyles: int
    length: int
    ids: set[str]
    marks: int

    @classmethod
    def until(cls, transcript: Transcript, length: int, kept: "KeptBefore | None") -> "KeptBefore":
        """What there is in the first `length` messages; the one that was kept is used up."""
        is_same = kept is not None and kept.digests is transcript.digests and kept.restyles == transcript.restyles
        if kept is None or not is_same or kept.length > length:
            kept = cls(transcript.digests, transcript.restyles, 0, set(), 0)
        for skeleton in transcript.skeletons[kept.length : length]:
            kept.ids.update(call.id for call in skeleton.calls)
            kept.marks += 0 if skeleton.native is None else skeleton.native.marks
        kept.length = length
        return kept
