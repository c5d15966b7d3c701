"""Enum values of the contract and what they stand for, each pair in one place.

Towards the wire every value must be known: a table without it is a defect, which a test finds. From the wire a value
that this release does not know is the caller's to judge: `None`.
"""

from collections.abc import Mapping
from typing import Generic, TypeVar

from condense_grpc.api.condense.v1 import (
    capabilities_pb2,
    config_pb2,
    diagnostics_pb2,
    edit_pb2,
    flush_event_pb2,
    flush_pb2,
    summary_pb2,
    tool_call_pb2,
    transcript_pb2,
    view_pb2,
)
from condense_grpc.domain.compression import SkippedChainReason
from condense_grpc.domain.config import BatchingMode, PruneOn
from condense_grpc.domain.diagnostics import DiagnosticKind
from condense_grpc.domain.edits import InsertKind
from condense_grpc.domain.validity import ViolationKind
from condense_grpc.domain.view import StubReason
from condense_grpc.engine.events import BatchOutcome, FlushOutcome
from condense_grpc.engine.requests import CallState, FlushTrigger, SummaryKind, TokenBasis, ViewKind
from condense_grpc.native.formats import NativeFormat

W = TypeVar("W")
V = TypeVar("V")


class Pairs(Generic[W, V]):
    """Values of one enum of the contract with what they stand for."""

    def __init__(self, meanings: Mapping[W, V]) -> None:
        self._meanings = dict(meanings)
        self._names = {meaning: name for name, meaning in meanings.items()}

    def read(self, name: W) -> V | None:
        """What a value from the wire stands for; None for one that is unspecified or not known here."""
        return self._meanings.get(name)

    def write(self, meaning: V) -> W:
        """The value for the wire."""
        return self._names[meaning]

    @property
    def meanings(self) -> list[V]:
        """Everything that can be written."""
        return list(self._names)


PRUNE_ON = Pairs(
    {
        config_pb2.PRUNE_ON_AGENT_MESSAGE: PruneOn.AGENT_MESSAGE,
        config_pb2.PRUNE_ON_ON_DEMAND: PruneOn.ON_DEMAND,
    }
)
BATCHING_MODE = Pairs(
    {
        config_pb2.BATCHING_MODE_TURN: BatchingMode.TURN,
        config_pb2.BATCHING_MODE_AGENT_MESSAGE: BatchingMode.AGENT_MESSAGE,
    }
)
THINKING_LEVEL = Pairs(
    {
        config_pb2.THINKING_LEVEL_DEFAULT: "default",
        config_pb2.THINKING_LEVEL_OFF: "off",
        config_pb2.THINKING_LEVEL_MINIMAL: "minimal",
        config_pb2.THINKING_LEVEL_LOW: "low",
        config_pb2.THINKING_LEVEL_MEDIUM: "medium",
        config_pb2.THINKING_LEVEL_HIGH: "high",
        config_pb2.THINKING_LEVEL_XHIGH: "xhigh",
    }
)
VIEW = Pairs(
    {
        view_pb2.VIEW_UNSPECIFIED: ViewKind.EDITS,
        view_pb2.VIEW_EDITS: ViewKind.EDITS,
        view_pb2.VIEW_FULL: ViewKind.FULL,
        view_pb2.VIEW_NONE: ViewKind.NONE,
    }
)
TRIGGER = Pairs(
    {
        flush_pb2.FLUSH_TRIGGER_MANUAL: FlushTrigger.MANUAL,
        flush_pb2.FLUSH_TRIGGER_MESSAGE_END: FlushTrigger.MESSAGE_END,
        flush_pb2.FLUSH_TRIGGER_BUDGET: FlushTrigger.BUDGET,
        flush_pb2.FLUSH_TRIGGER_DELTA: FlushTrigger.DELTA,
    }
)
FLUSH_OUTCOME = Pairs(
    {
        flush_pb2.FLUSH_OUTCOME_SUMMARIZED: FlushOutcome.SUMMARIZED,
        flush_pb2.FLUSH_OUTCOME_SKIPPED_OVERSIZED: FlushOutcome.SKIPPED_OVERSIZED,
        flush_pb2.FLUSH_OUTCOME_SKIPPED_DEDUPED: FlushOutcome.SKIPPED_DEDUPED,
        flush_pb2.FLUSH_OUTCOME_SKIPPED_TRIVIAL: FlushOutcome.SKIPPED_TRIVIAL,
        flush_pb2.FLUSH_OUTCOME_ERROR: FlushOutcome.ERROR,
        flush_pb2.FLUSH_OUTCOME_COMPRESSED: FlushOutcome.COMPRESSED,
        flush_pb2.FLUSH_OUTCOME_EMPTY: FlushOutcome.EMPTY,
        flush_pb2.FLUSH_OUTCOME_DISABLED: FlushOutcome.DISABLED,
        flush_pb2.FLUSH_OUTCOME_CANCELLED: FlushOutcome.CANCELLED,
    }
)
BATCH_OUTCOME = Pairs(
    {
        flush_pb2.BATCH_OUTCOME_SUMMARIZED: BatchOutcome.SUMMARIZED,
        flush_pb2.BATCH_OUTCOME_EXTRACTIVE: BatchOutcome.EXTRACTIVE,
        flush_pb2.BATCH_OUTCOME_SKIPPED_TRIVIAL: BatchOutcome.SKIPPED_TRIVIAL,
        flush_pb2.BATCH_OUTCOME_SKIPPED_OVERSIZED: BatchOutcome.SKIPPED_OVERSIZED,
        flush_pb2.BATCH_OUTCOME_SKIPPED_DEDUPED: BatchOutcome.SKIPPED_DEDUPED,
        flush_pb2.BATCH_OUTCOME_FAILED: BatchOutcome.FAILED,
    }
)
BODY_SOURCE = Pairs(
    {
        flush_event_pb2.BODY_SOURCE_SUMMARIES: "summaries",
        flush_event_pb2.BODY_SOURCE_FUSED: "fused",
        flush_event_pb2.BODY_SOURCE_DETERMINISTIC: "deterministic",
    }
)
NOTICE_LEVEL = Pairs(
    {
        flush_event_pb2.NOTICE_LEVEL_INFO: "info",
        flush_event_pb2.NOTICE_LEVEL_WARNING: "warning",
        flush_event_pb2.NOTICE_LEVEL_ERROR: "error",
    }
)
REPLACE_REASON = Pairs(
    {
        edit_pb2.REPLACE_REASON_SUMMARIZED: StubReason.SUMMARIZED,
        edit_pb2.REPLACE_REASON_SPILLED: StubReason.SPILLED,
        edit_pb2.REPLACE_REASON_DUPLICATE: StubReason.DUPLICATE,
    }
)
INSERT_KIND = Pairs(
    {
        edit_pb2.INSERT_KIND_SUMMARY: InsertKind.SUMMARY,
        edit_pb2.INSERT_KIND_COMPRESSED_CHAIN: InsertKind.COMPRESSED_CHAIN,
        edit_pb2.INSERT_KIND_NOTICE: InsertKind.NOTICE,
    }
)
CALL_STATE = Pairs(
    {
        tool_call_pb2.TOOL_CALL_STATE_PENDING: CallState.PENDING,
        tool_call_pb2.TOOL_CALL_STATE_SUMMARIZED: CallState.SUMMARIZED,
        tool_call_pb2.TOOL_CALL_STATE_SPILLED: CallState.SPILLED,
        tool_call_pb2.TOOL_CALL_STATE_DUPLICATE: CallState.DUPLICATE,
        tool_call_pb2.TOOL_CALL_STATE_PROTECTED: CallState.PROTECTED,
        tool_call_pb2.TOOL_CALL_STATE_SKIPPED: CallState.SKIPPED,
        tool_call_pb2.TOOL_CALL_STATE_ARCHIVED: CallState.ARCHIVED,
    }
)
# As stored: an entry of a newer release can have a kind that is not there.
DIAGNOSTIC_KIND = Pairs(
    {
        diagnostics_pb2.DIAGNOSTIC_KIND_UNRESOLVED_RANGE: DiagnosticKind.UNRESOLVED_RANGE.value,
        diagnostics_pb2.DIAGNOSTIC_KIND_RANGE_ID_MISMATCH: DiagnosticKind.RANGE_ID_MISMATCH.value,
        diagnostics_pb2.DIAGNOSTIC_KIND_ORPHAN_SWEEP: DiagnosticKind.ORPHAN_SWEEP.value,
        diagnostics_pb2.DIAGNOSTIC_KIND_BACKFILL_EMPTY: DiagnosticKind.BACKFILL_EMPTY.value,
        diagnostics_pb2.DIAGNOSTIC_KIND_MALFORMED_ENTRY: DiagnosticKind.MALFORMED_ENTRY.value,
        diagnostics_pb2.DIAGNOSTIC_KIND_MALFORMED_ENTRY: DiagnosticKind.MALFORMED_ENTRY.value,
        diagnostics_pb2.DIAGNOSTIC_KIND_SUMMARY_FAILED: DiagnosticKind.SUMMARY_FAILED.value,
    }
)
SUMMARY_KIND = Pairs(
    {
        summary_pb2.SUMMARY_KIND_BATCH: SummaryKind.BATCH,
        summary_pb2.SUMMARY_KIND_EXTRACTIVE: SummaryKind.EXTRACTIVE,
        summary_pb2.SUMMARY_KIND_CHAIN: SummaryKind.CHAIN,
    }
)
CHAIN_SKIP = Pairs(
    {
        flush_event_pb2.CHAIN_SKIP_REASON_ALREADY_COMPRESSED: SkippedChainReason.ALREADY_COMPRESSED.value,
        flush_event_pb2.CHAIN_SKIP_REASON_NO_SUMMARY: SkippedChainReason.NO_SUMMARY.value,
    }
)
STORE_KIND = Pairs(
    {
        capabilities_pb2.STORE_KIND_MEMORY: "memory",
        capabilities_pb2.STORE_KIND_SQLITE: "sqlite",
        capabilities_pb2.STORE_KIND_POSTGRESQL: "postgresql",
    }
)
TOKEN_BASIS = Pairs(
    {
        view_pb2.TOKEN_BASIS_CHARACTERS: TokenBasis.CHARACTERS,
        view_pb2.TOKEN_BASIS_SCRIPTS: TokenBasis.SCRIPTS,
        view_pb2.TOKEN_BASIS_HOST: TokenBasis.HOST,
    }
)
MESSAGE_FORMAT = Pairs(
    {
        transcript_pb2.MESSAGE_FORMAT_PI: NativeFormat.PI,
        transcript_pb2.MESSAGE_FORMAT_OPENAI_CHAT: NativeFormat.OPENAI_CHAT,
        transcript_pb2.MESSAGE_FORMAT_OPENAI_RESPONSES: NativeFormat.OPENAI_RESPONSES,
        transcript_pb2.MESSAGE_FORMAT_ANTHROPIC: NativeFormat.ANTHROPIC,
        transcript_pb2.MESSAGE_FORMAT_GEMINI: NativeFormat.GEMINI,
    }
)
# Two kinds of ours are one of the contract's, so this table goes one way only.
VIOLATION_KIND: Mapping[ViolationKind, transcript_pb2.ViolationKind.ValueType] = {
    ViolationKind.UNANSWERED_CALL: transcript_pb2.VIOLATION_KIND_UNANSWERED_CALL,
    ViolationKind.ORPHAN_RESULT: transcript_pb2.VIOLATION_KIND_STRAY_RESULT,
    ViolationKind.DUPLICATE_RESULT: transcript_pb2.VIOLATION_KIND_REPEATED_RESULT,
    ViolationKind.INTERRUPTED_RESULTS: transcript_pb2.VIOLATION_KIND_DISPLACED_RESULT,
    ViolationKind.REPEATED_CALL_ID: transcript_pb2.VIOLATION_KIND_AMBIGUOUS_ID,
    ViolationKind.EMPTY_ID: transcript_pb2.VIOLATION_KIND_AMBIGUOUS_ID,
    ViolationKind.EMPTY_CONTENT: transcript_pb2.VIOLATION_KIND_EMPTY_CONTENT,
    ViolationKind.MALFORMED: transcript_pb2.VIOLATION_KIND_MALFORMED,
    ViolationKind.ROLE_ORDER: transcript_pb2.VIOLATION_KIND_ROLE_ORDER,
    ViolationKind.REPEATED_ID: transcript_pb2.VIOLATION_KIND_REPEATED_ID,
    ViolationKind.BROKEN_REASONING: transcript_pb2.VIOLATION_KIND_BROKEN_REASONING,
}
