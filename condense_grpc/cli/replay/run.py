"""The replay of one session: every request as its host sent it, a flush at every answer, then every original back."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from condense_grpc.api.condense.v1.flush_pb2 import FLUSH_TRIGGER_MESSAGE_END
from condense_grpc.api.condense.v1.tool_call_pb2 import TOOL_CALL_STATE_DUPLICATE
from condense_grpc.cli.replay.history import Measures, extends, is_text_only, originals
from condense_grpc.client import Session
from condense_grpc.client.errors import ResultNotFound
from condense_grpc.domain.validity import find_violations
from condense_grpc.testing.validator import new_defects

Json = dict[str, Any]


@dataclass(slots=True)
class ReplayReport:
    """What a replay found. Tokens are estimates (characters / 4), summed over all requests; peaks are single ones.

    `results` counts the tool results of the file, `recovered_exact` those that came back byte for byte. A view is
    invalid when it has a defect that the history itself has not; `violations` counts the history's own.
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
    per_request: list[tuple[int, int]] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether every check held."""
        return self.recovered_exact == self.results and not self.invalid_views

    def as_json(self) -> Json:
        """The totals, without the single requests."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "per_request"}


class Replay:
    """One session on its way through a server. `between_calls` runs before every call, for tests that interfere."""

    def __init__(
        self, name: str, messages: Sequence[Json], session: Session[Json], between_calls: Callable[[], None]
    ) -> None:
        self._messages = messages
        self._session = session
        self._between_calls = between_calls
        self._measures = Measures()
        self._shown: list[Json] = []
        self.report = ReplayReport(name)

    def steps(self) -> Iterator[None]:
        """Run it; yields after every request."""
        for position, message in enumerate(self._messages):
            if message.get("role") != "assistant":
                continue
            self._request(self._messages[:position])
            if is_text_only(message):
                self._flush(self._messages[: position + 1])
            yield
        self._flush(self._messages)
        self._recover()
        self.report.violations = len(find_violations(self._measures.skeletons(self._messages)))

    def _request(self, history: Sequence[Json]) -> None:
        self._between_calls()
        view = self._session.prune(history).messages
        report, measures = self.report, self._measures
        raw, condensed = measures.tokens(history), measures.tokens(view)
        report.requests += 1
        report.raw_tokens += raw
        report.condensed_tokens += condensed
        report.raw_peak_tokens = max(report.raw_peak_tokens, raw)
        report.condensed_peak_tokens = max(report.condensed_peak_tokens, condensed)
        report.per_request.append((raw, condensed))
        report.cache_breaks += not extends(view, self._shown)
        report.invalid_views += bool(new_defects(measures.skeletons(history), measures.skeletons(view)))
        self._shown = view

    def _flush(self, history: Sequence[Json]) -> None:
        self._between_calls()
        with self._session.flush(history, trigger=FLUSH_TRIGGER_MESSAGE_END) as events:
            events.wait()
        self.report.flushes += 1

    def _recover(self) -> None:
        """Every result by its key, and by its ref where it has one."""
        wanted = originals(self._messages)
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
