"""What waits for a flush, turn by turn: the calls that capture would take, and the tokens that a gap measures."""

from collections import Counter
from collections.abc import Mapping

from condense_grpc.domain.capture import BranchView, CapturedBatch, CapturedCall, ready_calls
from condense_grpc.domain.config import BatchingMode
from condense_grpc.domain.messages import TOOL_RESULT
from condense_grpc.domain.numbers import token_estimate
from condense_grpc.domain.pairing import Pairs
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import CallSkeleton
from condense_grpc.engine.live.layout import Layout


class Waiting:
    """The batches that wait, and what they come to. Owned by one live view."""

    def __init__(self, layout: Layout, protection: Protection) -> None:
        self._layout = layout
        self._protection = protection
        self._batches: dict[int, CapturedBatch] = {}
        self._groups: Counter[int] = Counter()
        self._strays: dict[int, CallSkeleton | None] = {}
        self._gaps: list[int] = []
        self.chars = 0
        """Length of the texts of all calls that wait."""
        self.gap_tokens = 0
        """Estimated tokens of everything that no flush has settled."""

    def batches(self) -> list[CapturedBatch]:
        """The batches in order, one for each assistant message."""
        return [self._batches[turn] for turn in sorted(self._batches)]

    def count(self, mode: BatchingMode) -> int:
        """How many batches a flush would make of these. Groups never come back, so that each of them is one run."""
        return len(self._groups) if mode == BatchingMode.AGENT_MESSAGE else len(self._batches)

    def look_at_all(self, positions: Mapping[str, int]) -> None:
        """See what waits in all turns, none of which was looked at; `positions` are those of all results by key."""
        self._gaps = [0] * len(self._layout)
        index = self._layout.decisions.index
        waits = [positions[key] for key in index.unsettled(positions) if key not in index.pins]
        for turn in sorted(set(map(self._layout.turn_of, waits))):
            self.look_at(turn)

    def look_at(self, turn: int) -> None:
        """See what waits in a turn."""
        if turn == len(self._gaps):
            self._gaps.append(0)
        else:
            self._take_out(turn)
        results = self._layout.count_aligned(turn)
        if results is None:
            self._look_at_any(turn)
        elif results:
            self._look_at_aligned(turn, results)

    def _look_at_aligned(self, turn: int, results: int) -> None:
        """The same for a turn whose first results answer its first calls one after another, as in most turns."""
        transcript, first = self._layout.transcript, self._layout.firsts[turn]
        calls: list[CapturedCall] = []
        gap = 0
        for ordinal, call in enumerate(transcript.skeletons[first].calls[:results]):
            position = first + 1 + ordinal
            key = transcript.keys[position]
            if self._stays(key):
                continue
            result = transcript.skeletons[position]
            if not self._protection.call(result.tool_name, call.paths):
                gap += token_estimate(result.json_chars)
            if not self._protection.call(call.name, call.paths):
                calls.append(CapturedCall(ordinal, position, key, transcript.numbers[position]))
        self._take_in(turn, gap, tuple(calls))

    def _look_at_any(self, turn: int) -> None:
        transcript, stays = self._layout.transcript, self._stays
        first, end = self._layout.bounds(turn)
        open_results = [
            position
            for position, message in enumerate(transcript.skeletons[first:end], first)
            if message.role is TOOL_RESULT and not stays(transcript.keys[position])
        ]
        if not open_results:
            return
        pairs = self._layout.pairs(turn)
        gap = sum(self._gap(position, pairs) for position in open_results)
        branch = BranchView(transcript.skeletons, transcript.keys, transcript.numbers, pairs)
        self._take_in(turn, gap, ready_calls(branch, first, stays, self._protection) if turn else ())

    def _take_in(self, turn: int, gap: int, calls: tuple[CapturedCall, ...]) -> None:
        self._gaps[turn] = gap
        self.gap_tokens += gap
        if calls:
            batch = CapturedBatch(turn - 1, self._layout.users_before[turn], self._layout.firsts[turn], calls)
            self._batches[turn] = batch
            self._groups[batch.group] += 1
            self.chars += self._chars(batch)

    def _stays(self, key: str) -> bool:
        """Whether a flush leaves the result of a key alone: it is settled or pinned."""
        index = self._layout.decisions.index
        return index.is_settled(key) or key in index.pins

    def _take_out(self, turn: int) -> None:
        self.gap_tokens -= self._gaps[turn]
        self._gaps[turn] = 0
        batch = self._batches.pop(turn, None)
        if batch is not None:
            self._groups[batch.group] -= 1
            if not self._groups[batch.group]:
                del self._groups[batch.group]
            self.chars -= self._chars(batch)

    def _chars(self, batch: CapturedBatch) -> int:
        skeletons = self._layout.transcript.skeletons
        return sum(skeletons[call.result_position].text_chars for call in batch.calls)

    def _gap(self, position: int, pairs: Pairs) -> int:
        """The tokens of a result that is not settled; protected ones count nothing."""
        skeletons = self._layout.transcript.skeletons
        message = skeletons[position]
        place = pairs.call_of.get(position)
        call = skeletons[place[0]].calls[place[1]] if place else self._call_of_stray(position)
        is_protected = self._protection.call(message.tool_name, call.paths if call else ())
        return 0 if is_protected else token_estimate(message.json_chars)

    def _call_of_stray(self, position: int) -> CallSkeleton | None:
        """The nearest earlier call with the id of a result that answers none."""
        if position not in self._strays:
            layout, skeletons = self._layout, self._layout.transcript.skeletons
            wanted = skeletons[position].tool_call_id
            turns = range(layout.turn_of(position), 0, -1)
            calls = (call for turn in turns for call in reversed(skeletons[layout.firsts[turn]].calls))
            self._strays[position] = next((call for call in calls if call.id == wanted), None)
        return self._strays[position]
