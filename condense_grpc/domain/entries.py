"""Session entries: the append-only log of what the service decided.

The state of a session is the replay of its messages and of the entries that are active on its path. Every entry is
an immutable value; where it stands (the length of the transcript when it was made) is kept beside it.
"""

from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from condense_grpc.domain.batches import Record, Ref, SummaryDetails
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.occurrence import ParsedKey


@frozen
class IndexEntry:
    """Records filed together. `refs` belong to spilled and archived records; `backfilled` marks an archive."""

    records: tuple[Record, ...]
    refs: tuple[Ref, ...] | None = None
    backfilled: bool = False


@frozen
class SummaryEntry:
    """A summary as the model sees it: its final text and what it covers. `timestamp_ms` is the time it was made.

    `is_extractive`: written by the built-in summarizer after others had failed.
    """

    text: str
    details: SummaryDetails
    timestamp_ms: int | None = None
    is_extractive: bool = False


@frozen
class AliasEntry:
    """A duplicate: it shares the ref of its original and has a record of its own (None in some imports).

    `new_identity` is given where the new key, read as text, would name another id.
    """

    new_key: str
    original_key: str
    record: Record | None = None
    new_identity: ParsedKey | None = None


class SkipReason(StrEnum):
    """Why a call was looked at and left alone."""

    TRIVIAL = "trivial"
    OVERSIZED = "oversized"


@frozen
class SkippedCall:
    """One call with a skip mark."""

    tool_call_id: str
    result_timestamp_ms: int | None = None
    occurrence: int | None = None


@frozen
class SkipEntry:
    """Calls that are settled without a summary."""

    reason: SkipReason
    calls: tuple[SkippedCall, ...]


class FrontierOutcome(StrEnum):
    """What became of the last processed batch."""

    SUMMARIZED = "summarized"
    SKIPPED_OVERSIZED = "skipped-oversized"
    SKIPPED_DEDUPED = "skipped-deduped"
    SKIPPED_TRIVIAL = "skipped-trivial"


@frozen
class Frontier:
    """A report about the last call that a flush looked at; nothing is decided by it."""

    last_attempted_tool_call_id: str
    last_attempted_tool_name: str = "unknown"
    last_attempted_turn_index: int = 0
    last_attempted_timestamp_ms: int = 0
    attempted_batch_count: int = 0
    attempted_tool_call_count: int = 0
    raw_char_count: int = 0
    summary_char_count: int = 0
    outcome: str = FrontierOutcome.SUMMARIZED


@frozen
class FrontierEntry:
    """The frontier after a flush."""

    frontier: Frontier


@frozen
class Stats:
    """Totals of a session, written as a full snapshot each time. Cost in dollars.

    What was wasted is part of the totals. Calls without a known price are missing in the costs.
    """

    total_input_tokens: int = 0
    total_output_tokens: int = 0
    total_cost: float = 0
    call_count: int = 0
    chains_compressed: int = 0
    ranges_summarized: int = 0
    wasted_input_tokens: int = 0
    wasted_output_tokens: int = 0
    wasted_cost: float = 0
    unpriced_calls: int = 0


@frozen
class StatsEntry:
    """The statistics after a flush or a compression."""

    stats: Stats


@frozen
class ArchivedRef:
    """A ref of a compressed chain that none of its summaries covers."""

    ref: str
    tool: str


@frozen
class ChainEntry:
    """A compressed chain. The digests name its boundaries; the timestamps do so for entries that have none."""

    block_id: str
    start_user_timestamp_ms: int
    dropped_tool_call_ids: tuple[str, ...] = ()
    final_assistant_timestamp_ms: int | None = None
    tool_refs: tuple[str, ...] = ()
    compressed_at_ms: int = 0
    range_summary_text: str | None = None
    body_source: str | None = None
    archived_refs: tuple[ArchivedRef, ...] = ()
    protected_tool_call_ids: tuple[str, ...] = ()
    dropped_occurrence_keys: tuple[str, ...] = ()
    start_digest: str = ""
    final_digest: str = ""

    @property
    def is_fused(self) -> bool:
        """Whether the body was written by a fuser, so that block placeholders in it are expanded."""
        return self.range_summary_text is not None and self.body_source != "deterministic"


@frozen
class DiagnosticEntry:
    """Something a render or a compression noticed. Stored entries carry no key."""

    kind: str
    detail: str


@frozen
class ContextMetrics:
    """Measures of the transcript. Token numbers are estimates (characters / 4)."""

    open_cycle_thinking_tokens: int = 0
    largest_chain_share_pct: int = 0
    frontier_gap_tokens: int = 0


@frozen
class FlushMetricsEntry:
    """The report that ends every flush; `metrics` are those at its start."""

    ts_ms: int
    trigger: str
    captured_batches: int
    processed_batches: int
    outcome: str
    metrics: ContextMetrics = field(default_factory=ContextMetrics)
    flush_id: str = ""


@frozen
class PinEntry:
    """Results, by their keys, that are shown verbatim from here on; or, with `unpin`, no longer.

    `expires_ms` None: the pin does not end by itself.
    """

    keys: tuple[str, ...]
    expires_ms: int | None = None
    unpin: bool = False


@frozen
class CarriedEntry:
    """What an imported file holds besides messages and decisions, packed; nothing follows from it.

    `header` is the first line of the file, `session_id` the id under which it was imported.
    """

    packed: bytes
    header: str = ""
    session_id: str = ""


Entry: TypeAlias = (
    IndexEntry
    | SummaryEntry
    | AliasEntry
    | SkipEntry
    | FrontierEntry
    | StatsEntry
    | ChainEntry
    | DiagnosticEntry
    | FlushMetricsEntry
    | PinEntry
    | CarriedEntry
)
