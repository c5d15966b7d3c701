"""The ports of the engine: what it needs from a store, a summarizer and a clock.

A store keeps, for each session, one row, a tree of messages and a tree of commits. A message names the message before
it (`parent`), a commit the commit before it; the row names the current end of both (`head_node`, `head_commit`).
Rewinding moves the heads back and removes nothing, so that an abandoned branch can be taken up again.

Bodies, skeletons and entries are opaque bytes here: the engine encodes and decodes them.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple, Protocol, runtime_checkable

from condense_grpc.domain.batches import Batch
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.frozen import frozen


@frozen
class SessionRow:
    """What is known of a session without its history. Times are epoch milliseconds.

    `version` counts the writes: each write names the version that it saw and makes the next one.
    """

    session_id: str
    create_time_ms: int
    update_time_ms: int
    version: int = 0
    head_node: int = 0
    head_commit: int = 0
    length: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    config_json: str = "{}"
    create_request_id: str = ""
    facts_json: str = "{}"


class StoredMessage(NamedTuple):
    """One message, a tuple since a load makes thousands. `node` counts the messages of the session from 1.

    `position` is its place on its path, `digest` the rolling digest after it.
    """

    node: int
    parent: int
    position: int
    digest: bytes
    timestamp_ms: int
    skeleton: bytes
    body: bytes = b""


@frozen
class StoredCommit:
    """Decisions that were taken together. `number` counts them from 1; `anchor_node` is the last message then."""

    number: int
    parent: int
    anchor_node: int
    anchor_length: int
    time_ms: int
    entries: bytes


@frozen
class StoredDiagnostic:
    """One diagnostic of a session, in the order of `number` (from 1), with the length of the transcript then."""

    number: int
    time_ms: int
    kind: str
    detail: str
    transcript_length: int = 0


@frozen
class StoredSession:
    """A session as it is loaded: all messages of all branches without bodies, and all commits, by number."""

    row: SessionRow
    messages: Sequence[StoredMessage]
    commits: Sequence[StoredCommit]


@frozen
class Changes:
    """One write: everything in it becomes durable together, or nothing does.

    `row` is the whole new row; its `version` is the version that the writer saw. `skeletons` and `bodies` stand in
    place of those of messages that are there; everything else of a message never changes.
    """

    row: SessionRow
    messages: Sequence[StoredMessage] = ()
    commits: Sequence[StoredCommit] = ()
    diagnostics: Sequence[StoredDiagnostic] = ()
    skeletons: Mapping[int, bytes] = field(default_factory=dict)
    bodies: Mapping[int, bytes] = field(default_factory=dict)


@frozen
class SessionFilter:
    """Which sessions a listing shows: those with all of these labels, updated at or after this time."""

    labels: Mapping[str, str] = field(default_factory=dict)
    updated_since_ms: int = 0


class Store(Protocol):
    """Durable storage of sessions. Safe to use from many tasks of one event loop.

    Every method may raise StoreUnavailable; nothing was changed then, or the change is complete and repeating the
    call says so. A call that is cancelled was not made, or is complete, when its task ends. Session ids are opaque:
    ids that differ in a single code point are different sessions. No text has a NUL or a lone surrogate in it.
    """

    @property
    def kind(self) -> str:
        """`memory`, `sqlite` or `postgresql`."""
        ...

    async def open(self) -> None:
        """Connect, and bring the schema up to date."""
        ...

    async def close(self) -> None:
        """Finish what was accepted, then let go of everything. Idempotent."""
        ...

    async def create(self, row: SessionRow, content: Changes | None = None) -> SessionRow:
        """Make a new session, version 1 (whatever `row` says), with what `content` adds (its row does not count).

        Raises SessionAlreadyExists.
        """
        ...

    async def read_row(self, session_id: str) -> SessionRow | None:
        """The row of a session; None if there is none."""
        ...

    async def load(self, session_id: str) -> StoredSession | None:
        """Everything of a session except bodies; None if there is none."""
        ...

    async def read_bodies(self, session_id: str, nodes: Sequence[int]) -> dict[int, bytes]:
        """The bodies of these messages, byte for byte as they were written. Unknown nodes are left out."""
        ...

    async def write(self, changes: Changes) -> SessionRow:
        """Compare and set: if the stored version is that of `changes.row`, write all of it and return the new row.

        Raises RevisionConflict when the version differs, or `create_time_ms` (the session was deleted and made
        again meanwhile), SessionNotFound when the session is gone, ValueError for a node or number that exists
        already, or for a skeleton or a body of a node that does not. When this returns, the changes survive a crash
        of the process and of the machine.
        """
        ...

    async def write_many(self, changes: Sequence[Changes]) -> Sequence[SessionRow | Exception]:
        """Many writes of different sessions at the cost of few: for each, in order, what `write` returns or raises.

        What stops one of them stops no other. As after `write`, what is returned as written survives a crash.
        """
        ...

    async def fork(self, source_id: str, row: SessionRow, nodes: Sequence[int], commits: Sequence[int]) -> SessionRow:
        """Make a new session, version 1, with copies of these messages and commits under their numbers.

        Diagnostics stay behind. Raises SessionNotFound for the source, SessionAlreadyExists for the new id,
        ValueError for a node or number that the source does not have.
        """
        ...

    async def delete(self, session_id: str) -> bool:
        """Remove a session and everything of it; False if there was none."""
        ...

    async def list_rows(self, where: SessionFilter, after_id: str, limit: int) -> list[SessionRow]:
        """Rows by session id in code point order, those behind `after_id` first, at most `limit`."""
        ...

    async def read_diagnostics(self, session_id: str, after: int, limit: int) -> list[StoredDiagnostic]:
        """Diagnostics with a number above `after`, in order, at most `limit`."""
        ...


@runtime_checkable
class WaitsForOthers(Protocol):
    """What a store has besides that may have to wait for another program to let go of the database."""

    def wait_no_more(self) -> None:
        """Time is up: what waits for others, or will have to, raises StoreUnavailable in a moment. Until `close`."""
        ...


@frozen
class Usage:
    """What one reply of a summarizer took. `cost` in dollars, None when the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


@frozen
class SummaryProgress:
    """Characters received so far."""

    received_chars: int


@frozen
class SummaryAttempt:
    """A summarizer begins to work on it; comes again when another one takes over."""

    summarizer: str


@frozen
class SummaryNotice:
    """Something a person may want to know about the work. `level`: info, warning or error. Never content."""

    level: str
    text: str


@frozen
class SummaryCheck:
    """What a look at a reply has found. Counts only; what was wrong is not shown.

    Quoted facts are paths, identifiers and error texts of the reply, unfounded ones those that the source does not
    have. Stripped marks are labels and refs that name nothing of the batch. `redactions`: secrets that the model
    did not get to see.
    """

    quoted_facts: int = 0
    unfounded_facts: int = 0
    stripped_marks: int = 0
    unlabelled_calls: int = 0
    redactions: int = 0


@frozen
class SummaryReply:
    """The end of an attempt that gave a usable text. Labels are still in it.

    `wasted`: what attempts before this one have taken for nothing.
    """

    text: str
    usage: Usage | None = None
    check: SummaryCheck | None = None
    wasted: Usage | None = None


CANNOT_FUSE = "cannot-fuse"
"""The reason of a summarizer that fuses for some sessions and not for this one."""


@frozen
class SummaryFailure:
    """The end of an attempt without a usable text. `reason` is a short word for machines, never content.

    `wasted`: what it has taken all the same.
    """

    reason: str
    wasted: Usage | None = None


SummaryEvent = SummaryAttempt | SummaryProgress | SummaryNotice | SummaryReply | SummaryFailure


@frozen
class SummaryRequest:
    """One batch to summarize. `result_budget_chars` bounds what is shown of one result.

    `known_text` stands elsewhere in the context: a summary need not repeat what is in it. `config` are the settings
    of the session.
    """

    session_id: str
    batch: Batch
    result_budget_chars: int
    known_text: str = ""
    config: SessionConfig = field(default_factory=SessionConfig)


@frozen
class FuseRequest:
    """The summaries of one chain, to be written as one text. `config` are the settings of the session."""

    session_id: str
    text: str
    config: SessionConfig = field(default_factory=SessionConfig)


class Summarizer(Protocol):
    """Writes summaries. Safe to use from many tasks.

    Where a batch goes (which model, during an outage) is decided when `summarize` is called, not when its events are
    read: callers ask for all batches of a flush in their order first and read afterwards.

    A failure is a value (SummaryFailure), not an exception; cancellation of the task is passed on to the provider.
    The last event is a reply or a failure; before it come attempts, progress and notices.
    """

    @property
    def name(self) -> str:
        """What is shown to people: `extractive`, or `provider:model`."""
        ...

    @property
    def can_fuse(self) -> bool:
        """Whether `fuse` is available."""
        ...

    def summarize(self, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        """Summarize one batch."""
        ...

    def fuse(self, request: FuseRequest) -> AsyncIterator[SummaryEvent]:
        """Write one text from the summaries of a chain."""
        ...


@frozen
class SummarizerHealth:
    """Who writes the summaries of a session now. `fallback`: who stands in, empty for nobody.

    `is_remote`: it is a model, which takes its time and has its price.
    `last_probe_ms`: when the chosen one was last tried, or last failed; None if it never has. `announcement_owed`:
    both have failed, and the switch was not announced yet.
    """

    name: str
    fallback: str = ""
    in_fallback: bool = False
    last_probe_ms: int | None = None
    announcement_owed: bool = False
    is_remote: bool = False


@runtime_checkable
class KeepsOutages(Protocol):
    """What a summarizer that can fail over has besides."""

    def health(self, session_id: str, config: SessionConfig) -> SummarizerHealth:
        """Who writes the summaries of a session now."""
        ...

    def forget(self, session_id: str) -> None:
        """The session is gone: what was known of its outage does not hold for a new one of that name. Idempotent."""
        ...


class Clock(Protocol):
    """The time. A fake one makes tests exact."""

    def now_ms(self) -> int:
        """Epoch milliseconds."""
        ...
