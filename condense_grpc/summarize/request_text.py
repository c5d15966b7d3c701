"""What is sent for a request: the batch without its secrets, made to fit, behind the instructions."""

from dataclasses import field

from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.ports import FuseRequest, SummaryRequest
from condense_grpc.summarize.payload_budget import bounded_payload
from condense_grpc.summarize.prompts import Prompts, built_in_prompts
from condense_grpc.summarize.redaction import Redactor

# A reply longer than its source is rejected anyway; one that is this much longer has lost its way.
_RUNAWAY_FACTOR = 2
_RUNAWAY_CHARS = 20_000


class Unsendable(Exception):
    """A request that cannot be sent. `reason` is a short word for machines."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@frozen
class RequestText:
    """The prompt, how many secrets were taken out of it, and from which length on an answer is hopeless."""

    prompt: str
    redactions: int
    max_reply_chars: int


@frozen
class Writer:
    """Writes requests. `batch_budget_chars` 0: no limit. Safe to use from any thread."""

    prompts: Prompts = field(default_factory=built_in_prompts)
    redactor: Redactor = field(default_factory=Redactor)
    batch_budget_chars: int = 0

    def write(self, request: SummaryRequest | FuseRequest) -> RequestText:
        """The text of a request. Raises Unsendable."""
        if isinstance(request, FuseRequest):
            return self._fusing(request)
        try:
            batch, redactions = self.redactor.redact_batch(request.batch)
        except Exception:
            raise Unsendable("redaction-failed") from None
        payload = bounded_payload(batch, request.result_budget_chars, self.batch_budget_chars)
        if payload is None:
            raise Unsendable("batch-too-large")
        source_chars = sum(len(call.result_text) for call in request.batch.calls)
        return RequestText(self.prompts.for_batch(payload), redactions, _hopeless(source_chars))

    def _fusing(self, request: FuseRequest) -> RequestText:
        if self.batch_budget_chars and len(request.text) > self.batch_budget_chars:
            raise Unsendable("batch-too-large")
        try:
            text, redactions = self.redactor.redact(request.text)
        except Exception:
            raise Unsendable("redaction-failed") from None
        return RequestText(self.prompts.for_fusing(text), redactions, _hopeless(len(request.text)))


def _hopeless(source_chars: int) -> int:
    return _RUNAWAY_FACTOR * source_chars + _RUNAWAY_CHARS
