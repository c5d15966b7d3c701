"""The decisions of a session: its active commits, and everything that follows from replaying them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from condense_grpc.domain.entries import (
    Entry,
    FlushMetricsEntry,
    Frontier,
    FrontierEntry,
    Stats,
    StatsEntry,
    SummaryEntry,
)
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.messages import Message
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.summary_message import skeleton_of_summary, summary_message, summary_skeleton


@frozen
class Commit:
    """Decisions taken together, when the transcript had `anchor_length` messages. `parent`: the commit before."""

    number: int
    parent: int
    anchor_node: int
    anchor_length: int
    time_ms: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class PlacedSummary:
    """A summary behind the first `anchor_length` messages of the transcript. Most of them are never shown."""

    anchor_length: int
    entry: SummaryEntry
    skeleton: MessageSkeleton
    _made: Message | None = None

    @cached_property
    def message(self) -> Message:
        """The message that is shown of it; the same one every time."""
        return self._made or summary_message(self.entry)

    @classmethod
    def read(cls, anchor_length: int, entry: SummaryEntry) -> "PlacedSummary":
        """One of long ago."""
        return cls(anchor_length, entry, summary_skeleton(entry))

    @classmethod
    def new(cls, anchor_length: int, entry: SummaryEntry) -> "PlacedSummary":
        """One that was just made, and will be shown."""
        message = summary_message(entry)
        return cls(anchor_length, entry, skeleton_of_summary(message, entry.details.refs), message)


class Decisions:
    """The active commits in order, and the index, statistics, frontier, summaries and reports that they give.

    `recent_flushes` keeps the newest reports only; all of them stay in the log.
    """

    KEPT_FLUSHES = 50

    def __init__(self, commits: Sequence[Commit] = ()) -> None:
        self.commits: list[Commit] = []
        self.stats = Stats()
        self.frontier: Frontier | None = None
        self.summaries: list[PlacedSummary] = []
        self.recent_flushes: list[FlushMetricsEntry] = []
        self.index = SessionIndex.rebuild(entry for commit in commits for entry in commit.entries)
        for commit in commits:
            self._file(commit, PlacedSummary.read)
        self.baseline = self.stats

    @property
    def head(self) -> int:
        """The number of the newest active commit; 0 before the first."""
        return self.commits[-1].number if self.commits else 0

    def add(self, commit: Commit, *, applied: bool = False) -> None:
        """Take in one more commit. `applied`: its entries were applied to the index while they were decided."""
        if not applied:
            for entry in commit.entries:
                self.index.apply(entry)
        self._file(commit, PlacedSummary.new)

    def _file(self, commit: Commit, placed: Callable[[int, SummaryEntry], PlacedSummary]) -> None:
        self.commits.append(commit)
        for entry in commit.entries:
            match entry:
                case SummaryEntry() if entry.text:
                    self.summaries.append(placed(commit.anchor_length, entry))
                case StatsEntry():
                    self.stats = entry.stats
                case FrontierEntry() if entry.frontier.last_attempted_tool_call_id:
                    self.frontier = entry.frontier
                case FlushMetricsEntry():
                    self.recent_flushes = [*self.recent_flushes, entry][-self.KEPT_FLUSHES :]
                case _:
                    pass
