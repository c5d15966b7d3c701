"""Measures of a transcript: how much thinking is in flight, how large the largest chain is, what waits for a flush.

All numbers are estimates over skeletons; no body is read. In a session the list is the transcript with its summaries
where they stand.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate

from condense_grpc.domain.chains import Chain, detect_chains, never
from condense_grpc.domain.entries import ContextMetrics, Frontier
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import ASSISTANT, TOOL_RESULT, USER
from condense_grpc.domain.numbers import half_up, token_estimate
from condense_grpc.domain.pairing import Pairs
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import CallSkeleton, MessageSkeleton


@frozen
class MetricsInput:
    """One list to measure. `frontier` None: everything that is not settled counts as gap."""

    messages: Sequence[MessageSkeleton]
    keys: Sequence[str]
    is_settled: Callable[[str], bool]
    protection: Protection
    frontier: Frontier | None = None
    is_own_block: Callable[[int], bool] = never


def compute_context_metrics(source: MetricsInput) -> ContextMetrics:
    """The three measures; all zero for an empty list."""
    if not source.messages:
        return ContextMetrics()
    return ContextMetrics(
        open_cycle_thinking_tokens=_open_thinking(source.messages),
        largest_chain_share_pct=_largest_share(source),
        frontier_gap_tokens=_gap(source),
    )


def _open_cycle(messages: Sequence[MessageSkeleton]) -> int:
    """The first position behind the last text-only assistant message."""
    for position in range(len(messages) - 1, -1, -1):
        if messages[position].is_text_only_assistant:
            return position + 1
    return 0


def _open_thinking(messages: Sequence[MessageSkeleton]) -> int:
    opened = messages[_open_cycle(messages) :]
    return token_estimate(sum(message.thinking.block_chars for message in opened if message.thinking))


def _largest_share(source: MetricsInput) -> int:
    messages = source.messages
    before = [0, *accumulate(message.json_chars for message in messages)]
    total = before[-1]
    chains = detect_chains(messages, source.keys, source.protection, source.is_own_block)
    extents = _Extents(messages)
    largest = total - before[_open_cycle(messages)]
    for chain in chains:
        extent = extents.of(chain)
        if extent is not None:
            largest = max(largest, before[extent[1]] - before[extent[0]])
    return half_up(100 * largest / total) if total else 0


class _Extents:
    """Where chains begin and end when only their timestamps are known; absent ones are equal to each other."""

    def __init__(self, messages: Sequence[MessageSkeleton]) -> None:
        self._users: list[int] = []
        self._first_user: dict[int | None, int] = {}
        self._assistants: dict[int | None, list[int]] = {}
        self._end = len(messages)
        for position, message in enumerate(messages):
            if message.role is USER:
                self._users.append(position)
                self._first_user.setdefault(message.timestamp_ms, position)
            elif message.role is ASSISTANT:
                self._assistants.setdefault(message.timestamp_ms, []).append(position)

    def of(self, chain: Chain) -> tuple[int, int] | None:
        """First position and the one behind the last; None when an end is not found."""
        start = self._first_user.get(chain.start_user_timestamp_ms)
        if start is None:
            return None
        if chain.final is None:
            later = bisect_left(self._users, start + 1)
            return start, self._users[later] if later < len(self._users) else self._end
        finals = self._assistants.get(chain.final_assistant_timestamp_ms, [])
        found = bisect_left(finals, start)
        return (start, finals[found] + 1) if found < len(finals) else None


def _gap(source: MetricsInput) -> int:
    """Tokens of results that a flush would still look at."""
    messages = source.messages
    pairs = Pairs(messages)
    first, exempt, exempt_until = _behind(messages, source.frontier)
    latest: dict[str, CallSkeleton] = {}
    tokens = 0
    for position, message in enumerate(messages):
        for call in message.calls:
            latest[call.id] = call
        if message.role is not TOOL_RESULT or position < first:
            continue
        if position < exempt_until and message.tool_call_id in exempt:
            continue
        place = pairs.call_of.get(position)
        own = messages[place[0]].calls[place[1]] if place else latest.get(message.tool_call_id)
        paths = own.paths if own else ()
        if not source.is_settled(source.keys[position]) and not source.protection.call(message.tool_name, paths):
            tokens += token_estimate(message.json_chars)
    return tokens


def _behind(messages: Sequence[MessageSkeleton], frontier: Frontier | None) -> tuple[int, set[str], int]:
    """Where the gap begins, which ids the frontier's message has settled, and up to where that holds."""
    everything: tuple[int, set[str], int] = (0, set(), 0)
    if frontier is None:
        return everything
    assistants = [position for position, message in enumerate(messages) if message.role is ASSISTANT]
    turn = frontier.last_attempted_turn_index
    if not 0 <= turn < len(assistants):
        return everything
    ids = [call.id for call in messages[assistants[turn]].calls]
    if frontier.last_attempted_tool_call_id not in ids:
        return everything
    settled = set(ids[: ids.index(frontier.last_attempted_tool_call_id) + 1])
    until = assistants[turn + 1] if turn + 1 < len(assistants) else len(messages)
    return assistants[turn] + 1, settled, until
