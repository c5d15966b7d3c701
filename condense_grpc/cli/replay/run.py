"""The replay of one session: every request as its host sent it, a flush at every answer, then every original back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from condense_grpc.api.condense.v1.flush_pb2 import FLUSH_TRIGGER_BUDGET, FLUSH_TRIGGER_MESSAGE_END, FlushTrigger
from condense_grpc.api.condense.v1.tool_call_pb2 import TOOL_CALL_STATE_DUPLICATE, ToolCallRecord
from condense_grpc.cli.replay.decisions import decisions_about_results, decisions_of_view
from condense_grpc.cli.replay.history import extends, is_text_only
from condense_grpc.cli.replay.shapes import ContractShape, Shape
from condense_grpc.cli.replay.tool_calls import keys_by_id
from condense_grpc.client import Session
from condense_grpc.client.errors import ResultNotFound
from condense_grpc.domain.numbers import token_estimate

Json = dict[str, Any]


@dataclass(slots=True)
class ReplayReport:
    """What a replay found. Tokens are estimates (characters / 4), summed over all requests; peaks are single ones.

    `results` counts the tool results of the file, `recovered_exact` those that came back byte for byte. A view is
    invalid when it has a defect that the history itself has not; `violations` counts the history's own. `decisions`
    names what was decided, view by view, and about all results at the end: in whatever shape a session is sent, that
    is the same.
    """

    file: str
    requests: int = 0
    raw_tokens: int = 0
    condensed_tokens: int = 0
    raw_peak_tokens: int = 0
    condensed_peak_tokens: int = 0
    cache_breaks: int = 0
    flushes: int = 0
    refs: int = 0
    results: int = 0
    recovered_exact: int = 0
    invalid_views: int = 0
    violations: int = 0
    decisions: list[str] = field(default_factory=list)
    per_request: list[tuple[int, int]] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether every check held."""
        return self.recovered_exact == self.results and not self.invalid_views

    def as_json(self) -> Json:
        """The totals: without the single requests, and without what only comparisons of shapes look at."""
        left_out = ("per_request", "decisions")
        return {name: getattr(self, name) for name in self.__slots__ if name not in left_out}


class Replay:
    """One session on its way through a server. `between_calls` runs before every call, for tests that interfere."""

    def __init__(
        self,
        name: str,
        messages: Sequence[Json],
        session: Session[Json],
        between_calls: Callable[[], None] = lambda: None,
        *,
        flush_above_tokens: int | None = None,
        shape: Shape | None = None,
        records: Callable[[], Sequence[ToolCallRecord]] = tuple,
    ) -> None:
        """`records`: those of all results in their order, as the server tells them; shapes without times need them."""
        self._messages = messages
        self._session = session
        self._between_calls = between_calls
        self._flush_above_tokens = flush_above_tokens
        self._shape = shape or ContractShape(messages)
        self._records = records
        self._shown: list[Json] = []
        self.report = ReplayReport(name)

    def steps(self) -> Iterator[None]:
        """Run it; yields after every request."""
        for position, message in enumerate(self._messages):
            if message.get("role") != "assistant":
                continue
            self._request(self._shape.history(position))
            if is_text_only(message):
                self._flush(self._shape.history(position + 1), FLUSH_TRIGGER_MESSAGE_END)
            yield
        self._flush(self._shape.history(len(self._messages)), FLUSH_TRIGGER_MESSAGE_END)
        records = self._records()
        self._recover(keys_by_id(records))
        self.report.violations = self._shape.violations()
        self.report.decisions.append(decisions_about_results(records))

    def _request(self, history: Sequence[Json]) -> None:
        view = self._view(history)
        report, shape = self.report, self._shape
        raw, condensed = shape.tokens(history), shape.tokens(view)
        report.requests += 1
        report.raw_tokens += raw
        report.condensed_tokens += condensed
        report.raw_peak_tokens = max(report.raw_peak_tokens, raw)
        report.condensed_peak_tokens = max(report.condensed_peak_tokens, condensed)
        report.per_request.append((raw, condensed))
        report.cache_breaks += not extends(view, self._shown)
        report.invalid_views += shape.is_worse(history, view)
        self._shown = view

    def _view(self, history: Sequence[Json]) -> list[Json]:
        """What the host sends. Above the budget it flushes in the middle of the work, when that is worth it."""
        self._between_calls()
        view = self._session.prune(history)
        self.report.decisions.append(decisions_of_view(view))
        budget = self._flush_above_tokens
        pending = token_estimate(view.advice.pending_chars)
        if budget is None or pending < budget // 8 or self._shape.tokens(view.messages) <= budget:
            return view.messages
        self._flush(history, FLUSH_TRIGGER_BUDGET)
        self._between_calls()
        view = self._session.prune(history)
        self.report.decisions.append(decisions_of_view(view))
        return view.messages

    def _flush(self, history: Sequence[Json], trigger: "FlushTrigger.ValueType") -> None:
        self._between_calls()
        with self._session.flush(history, trigger=trigger) as events:
            events.wait()
        self.report.flushes += 1

    def _recover(self, keys: Mapping[str, Sequence[str]]) -> None:
        """Every result by its key, and by its ref where it has one."""
        wanted = self._shape.originals(keys)
        self.report.results = len(wanted)
        refs: set[str] = set()
        for key, text in wanted.items():
            self._between_calls()
            exact = self._read(key) == text
            record = next((one for one in self._session.query([key]).records if one.occurrence_key == key), None)
            if record is not None and record.ref:
                refs.add(record.ref)
                # A duplicate shares the ref of its original, whose spacing may differ.
                is_own = record.state != TOOL_CALL_STATE_DUPLICATE
                exact = exact and (not is_own or self._read(record.ref) == text)
            self.report.recovered_exact += exact
        self.report.refs = len(refs)

    def _read(self, name: str) -> str | None:
        try:
            return "".join(self._session.read(name))
        except ResultNotFound:
            return None
