"""What a session answers: the view to send to the model, and what was read back from the archive."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from condense_grpc.api.condense.v1.edit_pb2 import Edit
from condense_grpc.api.condense.v1.flush_pb2 import FlushAdvice
from condense_grpc.api.condense.v1.query_pb2 import QueryResult
from condense_grpc.api.condense.v1.tool_call_pb2 import ToolCallRecord
from condense_grpc.api.condense.v1.transcript_pb2 import Violation
from condense_grpc.api.condense.v1.view_pb2 import AppliedCounts, CacheReport, PruneMessagesResponse, Reclaim

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class View(Generic[T]):
    """What to send to the model instead of the raw history, and what the server says about it.

    `messages` are the caller's own objects: those without an edit are the very same ones. Do not send a view to the
    service; it wants the raw history. `edits` and `violations` count messages of the transcript, which for shapes
    with several messages in one object are more than objects.
    """

    messages: list[T]
    edits: Sequence[Edit]
    response: PruneMessagesResponse
    """The whole answer. Its own edits are empty if they are the ones that the client already held."""

    @property
    def pruned(self) -> bool:
        """Whether the view differs from the raw history."""
        return self.response.pruned

    @property
    def unchanged(self) -> bool:
        """Whether the edits are those of the view before."""
        return self.response.unchanged

    @property
    def revision(self) -> str:
        """What identifies the edits."""
        return self.response.revision

    @property
    def reclaim(self) -> Reclaim:
        """What the view saves."""
        return self.response.reclaim

    @property
    def cache(self) -> CacheReport:
        """What the view means for the provider's prompt cache."""
        return self.response.cache

    @property
    def applied(self) -> AppliedCounts:
        """How many edits of each kind."""
        return self.response.applied

    @property
    def advice(self) -> FlushAdvice:
        """Whether it is a good moment to flush."""
        return self.response.advice

    @property
    def violations(self) -> Sequence[Violation]:
        """What the server found wrong with the new messages."""
        return self.response.violations

    @property
    def status_line(self) -> str:
        """One line for people; empty if it is switched off."""
        return self.response.status_line


@dataclass(frozen=True, slots=True)
class Answer:
    """Originals that were read back. `text` is ready to be handed to the model; `results` has one member per ref."""

    text: str
    results: Sequence[QueryResult]

    @property
    def records(self) -> list[ToolCallRecord]:
        """The records that were found, in the order of the text, each once."""
        found = [block.record for result in self.results for block in result.blocks if block.HasField("record")]
        return list({record.occurrence_key: record for record in found}.values())
