"""What the use cases take and give, as plain values."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any, Final

from condense_grpc.domain.batches import Record
from condense_grpc.domain.budget import Usage as ContextUsage
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.entries import ContextMetrics, FlushMetricsEntry, Frontier, Stats
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message, Part
from condense_grpc.domain.pins import Pin
from condense_grpc.domain.stats import StatsDelta
from condense_grpc.domain.text_search import MatchingLine
from condense_grpc.domain.validity import Violation
from condense_grpc.engine.background import BackgroundCounts
from condense_grpc.engine.edit_list import EditList
from condense_grpc.engine.ports import SummarizerHealth, SummaryCheck
from condense_grpc.engine.recognition import Recognised, SentPrints
from condense_grpc.native.changes import NativeEdit
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_read import RawElement


class ViewKind(StrEnum):
    """What a prune gives back: edits to the client's own list, the whole list, or neither."""

    EDITS = "edits"
    FULL = "full"
    NONE = "none"


# The same by name, for the hot path: to read a member from its class takes many times as long.
EDITS: Final = ViewKind.EDITS
FULL: Final = ViewKind.FULL
NONE: Final = ViewKind.NONE


@frozen
class NativeElements:
    """Messages in a provider's shape, as they came."""

    format: NativeFormat
    elements: Sequence[RawElement]


@frozen
class Delta:
    """New messages behind `base_length` messages whose etag is `base_etag` (empty: trust the length).

    Afterwards the transcript is exactly the base and these messages; with `native` these elements instead, and the
    base counts elements. `config` holds changed settings by field name (nested blocks as dicts) for a session that
    this delta creates. `known` stands for messages before `messages`; `prints` are those of all of them.
    """

    base_length: int
    base_etag: str
    messages: Sequence[Message]
    create_if_missing: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)
    native: NativeElements | None = None
    known: Recognised | None = None
    prints: SentPrints | None = None


@frozen
class AppendResult:
    """Where the transcript stands after an append."""

    length: int
    etag: str
    created: bool = False
    violations: Sequence[Violation] = ()


@frozen
class PruneRequest:
    """One prune. Without a delta the transcript stays as it is.

    `create`: not None, but the settings of the session that is made without a delta if there is none.
    `names_sent`: the caller has the messages of the delta at hand, so that a full view may name them.
    """

    session_id: str
    delta: Delta | None = None
    view: ViewKind = ViewKind.EDITS
    known_revision: str = ""
    dry_run: bool = False
    min_savings_chars: int | None = None
    usage: ContextUsage | None = None
    names_sent: bool = False
    create: Mapping[str, Any] | None = None


@frozen
class AsSent:
    """Successive messages of a full view that are those of the request's delta from `index` on, with these times."""

    index: int
    times_ms: Sequence[int]


class TokenBasis(StrEnum):
    """What a number of tokens is: characters / 4, an estimate that knows scripts, or counted on by the host's count."""

    CHARACTERS = "characters"
    SCRIPTS = "scripts"
    HOST = "host"


@frozen
class Reclaim:
    """Sizes of the list before and after; 0 when nothing differs. Tokens are what `basis` says."""

    before_chars: int = 0
    after_chars: int = 0
    before_tokens: int = 0
    after_tokens: int = 0
    basis: TokenBasis = TokenBasis.CHARACTERS


@frozen
class CacheReport:
    """How the view differs from the one before it.

    `first_changed_index` is a position in the view; its length when nothing has changed and nothing is new.
    """

    first_changed_index: int
    unchanged_prefix_chars: int
    breaks_cache: bool


@frozen
class Applied:
    """How many of each the view has. `stubs` are all of them, `spilled_stubs` and `duplicate_stubs` those of a kind."""

    stubs: int = 0
    purged_arguments: int = 0
    compressed_chains: int = 0
    summaries: int = 0
    dropped_messages: int = 0
    swept_orphans: int = 0
    moved_messages: int = 0
    stripped_thinking: int = 0
    spilled_stubs: int = 0
    duplicate_stubs: int = 0


class FlushTrigger(StrEnum):
    """Why a flush runs."""

    MANUAL = "manual"
    MESSAGE_END = "message-end"
    BUDGET = "budget"
    DELTA = "delta"


@frozen
class FlushAdvice:
    """Whether a flush is worth it now. `started`: the service has started one by itself."""

    trigger: FlushTrigger | None = None
    pending_batches: int = 0
    pending_chars: int = 0
    running: bool = False
    started: bool = False


@frozen
class NativeAnswer:
    """What a client with a history in a provider's shape is shown instead of edits and messages of the contract."""

    edits: Sequence[NativeEdit] = ()
    json: str = ""


@frozen
class PruneResult:
    """The answer to a prune. `edits` is empty when `unchanged`; `messages` only for a full view.

    `native`: what stands for both in a session whose history is in a provider's shape.
    """

    length: int
    etag: str
    revision: str
    unchanged: bool
    pruned: bool
    edits: EditList
    messages: Sequence[Message | AsSent] | None
    reclaim: Reclaim
    cache: CacheReport | None
    applied: Applied
    advice: FlushAdvice
    violations: Sequence[Violation]
    created: bool
    status_line: str
    native: NativeAnswer | None = None


@frozen
class FlushRequest:
    """One flush. `attach`: follow a running one instead of failing; `compact`: ignore the rolling window.

    `create`: as that of a prune.
    """

    session_id: str
    delta: Delta | None = None
    trigger: FlushTrigger = FlushTrigger.MANUAL
    dry_run: bool = False
    compact: bool = False
    attach: bool = False
    create: Mapping[str, Any] | None = None


@frozen
class SessionInfo:
    """A session as clients see it. Times are epoch milliseconds. `native`: the shape of its history, if it has one."""

    session_id: str
    create_time_ms: int
    update_time_ms: int
    labels: Mapping[str, str]
    config: SessionConfig
    length: int
    etag: str
    revision: str
    pending_batches: int
    rearmed: bool
    status_line: str
    native: NativeFormat | None = None


class CallState(StrEnum):
    """What became of a tool call."""

    PENDING = "pending"
    SUMMARIZED = "summarized"
    SPILLED = "spilled"
    DUPLICATE = "duplicate"
    PROTECTED = "protected"
    SKIPPED = "skipped"
    ARCHIVED = "archived"


@frozen
class CallFacts:
    """A record with what the index knows about it and what its stored text measures.

    `arguments_json` and `parts` are those of the call and the result, also where the record itself does not hold them.
    """

    record: Record
    ref: str
    state: CallState
    duplicate_of: str = ""
    summary_id: str = ""
    block_id: str = ""
    text_chars: int = 0
    text_bytes: int = 0
    sha256: str = ""
    arguments_json: str = "{}"
    parts: tuple[Part, ...] = ()
    pin: Pin | None = None


@frozen
class DiagnosticsReport:
    """Everything about a session. `counts` per diagnostic kind since the session was loaded."""

    counts: Mapping[str, int]
    metrics: ContextMetrics
    stats: Stats
    session_delta: StatsDelta
    reclaim: Reclaim
    frontier: Frontier | None
    pending_batches: int
    pending_chars: int
    summarizer: SummarizerHealth
    flushes: Sequence[FlushMetricsEntry]
    status_line: str
    flush_running: bool
    advice: FlushAdvice = field(default_factory=FlushAdvice)
    usage: ContextUsage | None = None
    running_flush_id: str = ""
    checks: SummaryCheck | None = None
    background: BackgroundCounts | None = None


class SummaryKind(StrEnum):
    """What a summary stands for, and who wrote it."""

    BATCH = "batch"
    EXTRACTIVE = "extractive"
    CHAIN = "chain"


@frozen
class SummaryFacts:
    """A summary of a batch, or the block of a chain (whose id it has then). `turn_index` -1: none.

    `block_id` names the block that has taken its place, empty if it is shown itself.
    """

    summary_id: str
    kind: SummaryKind
    text: str
    refs: Sequence[str]
    tool_names: Sequence[str]
    turn_index: int
    create_time_ms: int
    transcript_length: int
    source_chars: int
    block_id: str = ""


@frozen
class CallPage:
    """Some calls, the summaries that cover them by id, and where the next page begins (None: this is the last)."""

    calls: Sequence[CallFacts]
    summaries: Mapping[str, SummaryFacts]
    next_position: int | None


@frozen
class SearchRequest:
    """What to search for: words or a phrase in any case, or with `regex` an expression.

    `tool_names`: only results of these (empty: of all). `max_results` records, each with `max_lines` lines at most.
    """

    query: str
    regex: bool = False
    tool_names: Collection[str] = ()
    max_results: int = 20
    max_lines: int = 10


@frozen
class SearchHit:
    """A record that matches, its first matching lines, and how many match in all."""

    facts: CallFacts
    lines: Sequence[MatchingLine]
    line_count: int


@frozen
class PinResult:
    """The results that were named, as they are now, and the names that stand for nothing."""

    facts: Sequence[CallFacts]
    unknown_refs: Sequence[str]
    revision: str


@frozen
class ImportCounts:
    """What a file holds: messages on the active branch, decisions that were taken over, lines that were ignored."""

    messages: int = 0
    entries: int = 0
    ignored_lines: int = 0


@frozen
class ImportResult:
    """A session that was made of a file, and what was found in the file."""

    info: SessionInfo
    counts: ImportCounts
