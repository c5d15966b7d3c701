"""The state of a live session: the replay of its messages and of the decisions on its active path.

Memory first, then the store: a use case changes the state while it holds the session's lock, and the change is
written before anybody is told of a decision. When a write of decisions fails the state is thrown away; the session
goes on as the store has it, with what was only appended.
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import eq
from typing import Any

from condense_grpc.domain.budget import Usage
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.diagnostics import DiagnosticKind, DiagnosticSink
from condense_grpc.domain.entries import Entry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.text import storable
from condense_grpc.engine.arrival import Arrival
from condense_grpc.engine.branches import LeftCommits, loaded_commit, stored_commit
from condense_grpc.engine.config_codec import config_from_json, config_to_json
from condense_grpc.engine.decisions import Commit, Decisions
from condense_grpc.engine.kept_before import KeptBefore
from condense_grpc.engine.kept_outline import KeptOutline
from condense_grpc.engine.live.live_view import LiveView
from condense_grpc.engine.live.shown import LiveShown
from condense_grpc.engine.ports import (
    Changes,
    SessionRow,
    StoredCommit,
    StoredDiagnostic,
    StoredMessage,
    StoredSession,
    SummaryCheck,
)
from condense_grpc.engine.record_paths import RecordPaths
from condense_grpc.engine.requests import Reclaim
from condense_grpc.engine.shown_view import ShownAt, ShownView
from condense_grpc.engine.transcript import Extension, Transcript, path_to

INFO_FACT = "info"
"""The fact under which a row says what clients are told of its session, as long as nothing has changed since."""

LEFT_FACT = "left"
"""The fact under which a row says where the branch ends that was left last."""

NEXT_NODE_FACT = "nextNode"
"""The fact under which the row of a fork says from which node on nothing in it has another meaning.

A fork has decisions and lines of branches whose messages it does not have: no other message takes the place of these.
"""

# What a state knows and the store does not; `Decisions.baseline` belongs to it.
_REMEMBERED = (
    "loaded_length",
    "boundary_due",
    "failure_counts",
    "checks",
    "sink",
    "reclaim",
    "usage",
    "usage_fraction",
    "host_count",
    "shown_tokens",
    "flushed_since_load",
)
# What counts further when the newest decisions have come to nothing.
_OUTLASTING = ("failure_counts", "usage", "usage_fraction", "host_count", "view_shown")
# About what a message and a filed result take in memory, with all that is derived from them; a message on a branch that
# was left is only kept as it is stored.
_MESSAGE_BYTES = 1300
_LEFT_BYTES = 450
_RECORD_BYTES = 1500
_STATE_BYTES = 10_000


class SessionState:
    """One session in memory. Not thread-safe; every change happens under the session's lock."""

    def __init__(self, stored: StoredSession) -> None:
        self.row = stored.row
        self.config: SessionConfig = config_from_json(stored.row.config_json)
        self.protection = Protection(self.config.protected_tools, self.config.protected_paths)
        self.transcript = Transcript.load(stored.messages, stored.row.head_node, self.config.path_arguments)
        self.facts: dict[str, Any] = json.loads(stored.row.facts_json)
        by_number = {commit.number: commit for commit in stored.commits}
        active: list[Commit] = []
        number = stored.row.head_commit
        while number:
            active.append(loaded_commit(by_number.pop(number)))
            number = active[-1].parent
        self.decisions = Decisions(self._as_they_are_now(active[::-1]))
        self.transcript.next_node = max(self.transcript.next_node, int(self.facts.get(NEXT_NODE_FACT, 1)))
        self.next_commit = max((commit.number for commit in stored.commits), default=0) + 1
        self._left = LeftCommits(by_number.values(), int(self.facts.get(LEFT_FACT, 0)))
        self._unwritten_commits: list[StoredCommit] = []
        self._unwritten_diagnostics: list[StoredDiagnostic] = []
        self._row_changed = False
        self._info: dict[str, Any] | None = None
        self.loaded_length = len(self.transcript)
        self.boundary_due = False
        self.failure_counts: dict[str, int] = {}
        self.checks: SummaryCheck | None = None
        self.view = LiveView()
        self.native_outline: KeptOutline | None = None
        self.native_before: KeptBefore | None = None
        self.sink = DiagnosticSink()
        self._forget_measures()
        shown = self.facts.get("shown")
        self.shown_at: ShownAt | None = None if shown is None else ShownAt(**shown)
        self.view_shown: bool = bool(self.facts.get("viewShown"))
        self.next_diagnostic: int = int(self.facts.get("nextDiagnostic", 1))

    def _forget_measures(self) -> None:
        """What a load or a rewind forgets: diagnostics, reclaim, the last report of usage."""
        self.sink.reset()
        self.reclaim = Reclaim()
        self.usage: Usage | None = None
        self.usage_fraction: float | None = None
        self.host_count: tuple[int, int] | None = None
        """The tokens that the host has counted of a view, and what we estimate of the same view."""
        self.shown_tokens: int | None = None
        """What we estimate of the view that was shown last."""
        self.flushed_since_load = False

    def remembered(self) -> dict[str, Any]:
        """What the store does not know although everything is written."""
        remembered = {name: getattr(self, name) for name in _REMEMBERED}
        return remembered | {"baseline": self.decisions.baseline, "shown": self.view.written_down()}

    def remember(self, remembered: Mapping[str, Any]) -> None:
        """Take over what another state of this session has remembered."""
        for name in _REMEMBERED:
            setattr(self, name, remembered[name])
        self.decisions.baseline = remembered["baseline"]
        self.view = LiveView(remembered["shown"])

    @property
    def size_bytes(self) -> int:
        """About what it takes of memory."""
        records = self.decisions.index.known_count
        messages = _MESSAGE_BYTES * len(self.transcript) + _LEFT_BYTES * self.transcript.left_count
        return _STATE_BYTES + messages + _RECORD_BYTES * records + self.transcript.unwritten_bytes

    def copy(self) -> "SessionState":
        """A state of its own to try something on."""
        twin = copy.copy(self)
        twin.transcript = self.transcript.copy()
        twin.decisions = Decisions(self.decisions.commits)
        twin._left = self._left.copy()
        twin._unwritten_commits = [*self._unwritten_commits]
        twin._unwritten_diagnostics = [*self._unwritten_diagnostics]
        twin.failure_counts = {**self.failure_counts}
        twin.facts = {**self.facts}
        twin.sink = copy.deepcopy(self.sink)
        twin.view = self.view.copy()
        twin.native_before = None  # it grows, and must not do so twice
        return twin

    @property
    def shown(self) -> ShownView | None:
        """What the client was shown last."""
        return self.view.written_down()

    # Changes

    def append(self, base_length: int, arrivals: Sequence[Arrival], now_ms: int) -> Extension:
        """Make the transcript the first `base_length` messages and these ones.

        Decisions behind a rewind stop, returning ones come back.
        """
        before = self.transcript.head_node
        extension = self.transcript.take_in(base_length, arrivals, now_ms)
        if extension.rewound:
            self.loaded_length = extension.kept_length
            self._leave_decisions(extension.kept_length)
        if self.transcript.head_node != before:
            self._take_back_decisions()
            self._row_changed = True
        return extension

    def decide(
        self, entries: Sequence[Entry], now_ms: int, *, applied: bool = False, anchor: int | None = None
    ) -> None:
        """Record decisions at the present length, or behind `anchor` messages. Not durable before the next write.

        `applied`: the index has taken them in already.
        """
        if not entries:
            return
        length = len(self.transcript) if anchor is None else anchor
        if self.decisions.commits:
            length = max(length, self.decisions.commits[-1].anchor_length)
        node = self.transcript.node_at(length)
        commit = Commit(self.next_commit, self.decisions.head, node, length, now_ms, tuple(entries))
        self.next_commit += 1
        self.decisions.add(commit, applied=applied)
        self._unwritten_commits.append(stored_commit(commit))

    def note(self, kind: str, key: str, detail: str, now_ms: int) -> None:
        """Report a diagnostic; one that is new goes to the store with the next write."""

        def record(_: object) -> None:
            length = self.transcript.element_count
            found = StoredDiagnostic(self.next_diagnostic, now_ms, kind, storable(detail), length)
            self._unwritten_diagnostics.append(found)
            self.next_diagnostic += 1

        self.sink.report(DiagnosticKind(kind), key, detail, record)

    def configure(self, config: SessionConfig, labels: dict[str, str] | None) -> None:
        """Take other settings, and other labels if there are some."""
        if self.shown_at is not None and not self.shown_at.config_json and config != self.config:
            self.shown_at = replace(self.shown_at, config_json=self.row.config_json)
        self.take_config(config)
        kept = self.row.labels if labels is None else labels
        self.row = replace(self.row, config_json=config_to_json(config), labels=kept)
        self._row_changed = True

    def take_config(self, config: SessionConfig) -> None:
        """Work with other settings, without keeping them."""
        self.config = config
        self.protection = Protection(config.protected_tools, config.protected_paths)
        self.transcript.path_arguments = config.path_arguments

    def show(self, shown: LiveShown | ShownView, *, is_plain: bool) -> None:
        """Remember what the client is shown now."""
        self.view.remember(shown)
        transcript = self.transcript
        at = ShownAt(len(transcript), transcript.head_node, self.decisions.head, is_plain)
        self._row_changed |= at != self.shown_at
        self.shown_at = at

    def show_views(self) -> None:
        """Remember that a pruned view was shown, so that the next ones are not withheld."""
        if not self.view_shown:
            self.view_shown = True
            self._row_changed = True

    # Writing

    @property
    def has_unwritten(self) -> bool:
        """Whether the store does not know everything yet."""
        return self._info is not None or self._has_news

    @property
    def _has_news(self) -> bool:
        return bool(
            self._row_changed
            or self.transcript.unwritten
            or self.transcript.restyled
            or self.transcript.reskeletoned
            or self._unwritten_commits
            or self._unwritten_diagnostics
        )

    @property
    def has_unwritten_decisions(self) -> bool:
        """Whether there are decisions that the store does not know yet."""
        return bool(self._unwritten_commits)

    def describe(self, info: dict[str, Any] | None) -> None:
        """Have the next write, and no later one, say beside the row what clients are told of the session."""
        self._info = info if self._has_news or info != self.facts.get(INFO_FACT) else None

    def changes(self, now_ms: int) -> Changes:
        """Everything that the store does not know yet. A description alone is no update of the session."""
        self.facts |= {"viewShown": self.view_shown, "nextDiagnostic": self.next_diagnostic}
        if self._left.latest:
            self.facts[LEFT_FACT] = self._left.latest
        self.facts.pop(INFO_FACT, None)
        if self._info is not None:
            self.facts[INFO_FACT] = self._info
        if self.shown_at is not None:
            self.facts["shown"] = self.shown_at.written_down()
        row = replace(
            self.row,
            update_time_ms=now_ms if self._has_news else self.row.update_time_ms,
            head_node=self.transcript.head_node,
            head_commit=self.decisions.head,
            length=len(self.transcript),
            facts_json=json.dumps(self.facts),
        )
        return Changes(
            row,
            self.transcript.to_write(),
            tuple(self._unwritten_commits),
            tuple(self._unwritten_diagnostics),
            skeletons=self.transcript.reskeletoned
            | {node: skeleton for node, (_, skeleton) in self.transcript.restyled.items()},
            bodies={node: body for node, (body, _) in self.transcript.restyled.items()},
        )

    def written(self, changes: Changes, row: SessionRow) -> None:
        """The store has these changes now. What was decided or noticed since they were made is not among them."""
        self.transcript.written(changes.messages)
        del self._unwritten_commits[: len(changes.commits)]
        del self._unwritten_diagnostics[: len(changes.diagnostics)]
        self._row_changed = False
        self._info = None
        self.row = row

    def without_news(self, head_node: int) -> "Callable[[], SessionState] | None":
        """What makes, in any thread, the state as the store has it now, but with the transcript that ends here.

        None when that is all that the store has, or when messages came again in other bytes.
        """
        row, transcript = self.row, self.transcript
        if head_node == row.head_node or transcript.restyled or transcript.reskeletoned:
            return None
        news = {commit.number for commit in self._unwritten_commits}
        active = [commit for commit in self.decisions.commits if commit.number not in news]
        left = [commit for commit in self._left.stored() if commit.number not in news]
        waiting = {message.node: message for message in transcript.to_write()}
        written, outlasting = transcript.stored(), {name: getattr(self, name) for name in _OUTLASTING}

        def make() -> SessionState:
            messages = sorted(written)
            state = SessionState(StoredSession(row, messages, [*left, *map(stored_commit, active)]))
            state._go_to(path_to(head_node, {message.node: message for message in messages} | waiting))
            for name, value in outlasting.items():
                setattr(state, name, value)
            return state

        return make

    def _go_to(self, path: Sequence[StoredMessage]) -> None:
        """Make these messages the transcript; those with a body the store does not know."""
        nodes = self.transcript.nodes
        kept = sum(takewhile(bool, map(eq, nodes, [message.node for message in path])))
        if kept < len(nodes):
            self.transcript.rewind(kept)
            self.loaded_length = kept
            self._leave_decisions(kept)
        self.transcript.resume(path[kept:])
        self._take_back_decisions()
        self._row_changed = True

    # Branches

    def take_paths(self, config: SessionConfig, skeletons: Mapping[int, MessageSkeleton]) -> None:
        """Have calls and records say what is a path by the names of these settings; `configure` is to follow."""
        self.transcript.take_skeletons(skeletons)
        self.transcript.path_arguments = config.path_arguments
        self.facts["pathsChanged"] = True
        baseline, commits = self.decisions.baseline, self.decisions.commits
        self.decisions = Decisions(self._as_they_are_now(commits))
        self.decisions.baseline = baseline

    def _as_they_are_now(self, commits: Sequence[Commit]) -> Sequence[Commit]:
        """Commits with what their records say about paths by the names of now."""
        if not self.facts.get("pathsChanged"):
            return commits
        paths = RecordPaths(self.transcript)
        return [paths.commit(commit) for commit in commits]

    @property
    def has_left_decisions(self) -> bool:
        """Whether something was decided on branches that were left."""
        return bool(self._left)

    @property
    def left_end(self) -> int:
        """The last decision on the branch that was left last; 0 if that is not known."""
        return self._left.latest

    def left_commits(self) -> list[Commit]:
        """What was decided on branches that were left."""
        return self._left.all()

    def left_indexes(self) -> Iterator[SessionIndex]:
        """What was known on each branch that was left: the one left last, then those with later decisions first."""
        for commits in self._left.branches(self.decisions.commits):
            yield SessionIndex.rebuild(entry for commit in self._as_they_are_now(commits) for entry in commit.entries)

    def _leave_decisions(self, length: int) -> None:
        """Decisions that were made when the transcript was longer stop."""
        commits = self.decisions.commits
        kept = [commit for commit in commits if commit.anchor_length <= length]
        self._left.leave(commits[len(kept) :])
        if len(kept) < len(commits):
            self._left.latest = commits[-1].number
        self.decisions = Decisions(kept)
        self._forget_measures()

    def _take_back_decisions(self) -> None:
        """Decisions of a branch that was left hold again once the transcript is back on it."""
        while True:
            kept, following = self._left.take_back(self.decisions.commits, self.transcript)
            if not following:
                return
            if kept < len(self.decisions.commits):
                self.decisions = Decisions(self.decisions.commits[:kept])
            for commit in self._as_they_are_now(following):
                self.decisions.add(commit)
