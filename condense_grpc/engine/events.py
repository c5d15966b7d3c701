"""What a flush or compaction tells while it runs. The last event is always FlushCompleted."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeAlias

from condense_grpc.domain.entries import Frontier, Stats
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.stats import StatsDelta
from condense_grpc.engine.ports import SummaryCheck, Usage


class BatchOutcome(StrEnum):
    """What became of one batch."""

    SUMMARIZED = "summarized"
    EXTRACTIVE = "extractive"
    SKIPPED_TRIVIAL = "skipped-trivial"
    SKIPPED_OVERSIZED = "skipped-oversized"
    SKIPPED_DEDUPED = "skipped-deduped"
    FAILED = "failed"


class FlushOutcome(StrEnum):
    """What a whole flush came to."""

    SUMMARIZED = "summarized"
    SKIPPED_OVERSIZED = "skipped-oversized"
    SKIPPED_DEDUPED = "skipped-deduped"
    SKIPPED_TRIVIAL = "skipped-trivial"
    ERROR = "error"
    COMPRESSED = "compressed"
    EMPTY = "empty"
    DISABLED = "disabled"
    CANCELLED = "cancelled"


@frozen
class BatchPreview:
    """A batch before it is summarized."""

    batch_index: int
    turn_index: int
    tool_names: tuple[str, ...]
    call_count: int
    raw_chars: int


@frozen
class FlushStarted:
    """The flush took its snapshot."""

    trigger: str
    batches: tuple[BatchPreview, ...]
    dry_run: bool = False
    transcript_length: int = 0


@frozen
class BatchStarted:
    """A batch went to a summarizer; comes again when another one takes over."""

    batch_index: int
    raw_chars: int
    summarizer: str = ""


@frozen
class BatchProgress:
    """Characters of a summary received so far."""

    batch_index: int
    received_chars: int
    raw_chars: int


@frozen
class DuplicateCall:
    """A call that shares the ref of its original."""

    occurrence_key: str
    ref: str


@frozen
class BatchFinished:
    """A batch is done: stored, skipped or failed. `text` is the final summary if one was stored.

    `wasted`: what attempts that came to nothing have used besides.
    """

    batch_index: int
    turn_index: int
    outcome: BatchOutcome
    occurrence_keys: tuple[str, ...]
    refs: tuple[str, ...] = ()
    duplicates: tuple[DuplicateCall, ...] = ()
    text: str = ""
    usage: Usage | None = None
    failure_reason: str = ""
    source_chars: int = 0
    summary_chars: int = 0
    check: SummaryCheck | None = None
    wasted: Usage | None = None
    summary_id: str = ""


@frozen
class ChainCompressed:
    """A chain became a block. `body_source`: `deterministic`, `fused` or `summaries`; `body` as it was decided.

    `start_index` and `final_index` are where its first and its last message stand in the client's history.
    """

    block_id: str
    refs: tuple[str, ...]
    body_source: str
    body: str
    start_index: int = -1
    final_index: int = -1
    reclaimed_tokens: int = 0


@frozen
class SkippedChain:
    """A chain that could have been compressed and was not. `reason`: `already-compressed` or `no-summary`."""

    reason: str
    start_index: int


@frozen
class Notice:
    """Something a person may want to know. `level`: info, warning or error."""

    level: str
    text: str


@frozen
class FlushCounts:
    """Numbers of a flush. Every batch has one outcome; calls and characters are those of processed batches.

    `captured_calls` counts all; `summary_chars` also what was rejected.
    """

    captured_batches: int = 0
    processed_batches: int = 0
    summarized_batches: int = 0
    failed_batches: int = 0
    captured_calls: int = 0
    raw_chars: int = 0
    summary_chars: int = 0
    extractive_batches: int = 0
    trivial_batches: int = 0
    oversized_batches: int = 0
    deduped_batches: int = 0
    processed_calls: int = 0


@frozen
class FlushCompleted:
    """The end of a flush or compaction. `outcome` None: it was only a preview.

    `skipped_chains` counts those of `skipped` for which nothing could stand.
    """

    outcome: FlushOutcome | None
    counts: FlushCounts
    frontier: Frontier | None
    stats: Stats
    revision: str
    blocks: Sequence[str] = ()
    skipped_chains: int = 0
    reclaimed_tokens: int = 0
    skipped: Sequence[SkippedChain] = ()
    since_load: StatsDelta | None = None


FlushEvent: TypeAlias = (
    FlushStarted | BatchStarted | BatchProgress | BatchFinished | ChainCompressed | Notice | FlushCompleted
)


@frozen
class NumberedEvent:
    """An event with its place in the flush (from 1) and its time."""

    sequence: int
    time_ms: int
    flush_id: str
    event: FlushEvent
