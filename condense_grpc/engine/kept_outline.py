"""The outline that a session keeps of its last view, so that its next turn costs what the turn brings."""

from collections.abc import Sequence

from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.transcript import Transcript
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.outline import Outline


@frozen
class KeptOutline:
    """The outline of the last view, and of what it holds: these edits of this history, in these bytes."""

    outline: Outline
    edits_revision: str
    config: SessionConfig
    digests: Sequence[bytes]
    restyles: int

    def is_of(self, transcript: Transcript, config: SessionConfig, form: NativeFormat, edits_revision: str) -> bool:
        """Whether only messages were appended since."""
        return (
            self.edits_revision == edits_revision
            and self.outline.format is form
            and self.config is config
            and self.digests is transcript.digests
            and self.restyles == transcript.restyles
        )
