"""Capture: which finished calls a flush takes, and what a batch says of them.

Finding works on skeletons in one pass; bodies are touched only by `hydrate`. A call is taken when it has its own
result in its turn, the key of that result is not settled, and it is not protected. Nothing else counts: no turn
number, no earlier flush.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from condense_grpc.domain.arguments import captured_arguments
from condense_grpc.domain.batches import Batch, Call, Source
from condense_grpc.domain.config import BatchingMode
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import ASSISTANT, USER, Message, ToolCallPart, calls_of, has_other_parts, text_of
from condense_grpc.domain.pairing import Pairs, keys_of
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import MessageSkeleton, skeletons_of
from condense_grpc.domain.text import trim

NO_RESULT = "(no result)"

MessageAt: TypeAlias = Callable[[int], Message]
SourceOf: TypeAlias = Callable[[int, int, int], Source]


@frozen
class ScanStart:
    """Where a scan begins: the position of an assistant message, and the assistant and user messages before it."""

    position: int = 0
    turn_index: int = 0
    group: int = 0


@frozen
class CapturedCall:
    """A call that is ready: its place among the calls of its message, and its result."""

    ordinal: int
    result_position: int
    key: str
    occurrence: int | None = None


@frozen
class CapturedBatch:
    """The ready calls of the assistant message at `position`. `turn_index` and `group` count over the session."""

    turn_index: int
    group: int
    position: int
    calls: tuple[CapturedCall, ...]

    @property
    def scan_start(self) -> ScanStart:
        """Where a later scan may begin, as long as nothing before this batch becomes ready."""
        return ScanStart(self.position, self.turn_index, self.group)


@frozen
class BranchView:
    """The branch as a scan sees it: keys and numbers as `keys_of` gives them; pairs from where the scan starts."""

    messages: Sequence[MessageSkeleton]
    keys: Sequence[str]
    numbers: Sequence[int | None]
    pairs: Pairs


def branch_view(messages: Sequence[MessageSkeleton]) -> BranchView:
    """Keys and pairs of a whole list."""
    keys, numbers = keys_of(messages)
    return BranchView(messages, keys, numbers, Pairs(messages))


def find_batches(
    branch: BranchView,
    is_settled: Callable[[str], bool],
    protection: Protection,
    start: ScanStart | None = None,
) -> list[CapturedBatch]:
    """The batches that wait to be summarized, in order, one for each assistant message with a ready call."""
    start = start or ScanStart()
    turn_index, group = start.turn_index, start.group
    found: list[CapturedBatch] = []
    for position in range(start.position, len(branch.messages)):
        message = branch.messages[position]
        if message.role is USER:
            group += 1
        elif message.role is ASSISTANT:
            if message.calls:
                calls = ready_calls(branch, position, is_settled, protection)
                if calls:
                    found.append(CapturedBatch(turn_index, group, position, calls))
            turn_index += 1
    return found


def ready_calls(
    branch: BranchView, position: int, is_settled: Callable[[str], bool], protection: Protection
) -> tuple[CapturedCall, ...]:
    """The calls of the assistant message at a position that are ready, in order."""
    ready: list[CapturedCall] = []
    for ordinal, call in enumerate(branch.messages[position].calls):
        result = branch.pairs.result_of.get((position, ordinal))
        if result is None:
            continue
        key = branch.keys[result]
        if not is_settled(key) and not protection.call(call.name, call.paths):
            ready.append(CapturedCall(ordinal, result, key, branch.numbers[result]))
    return tuple(ready)


def hydrate(
    captured: CapturedBatch,
    message_at: MessageAt,
    timestamp_ms: int,
    source_of: SourceOf | None = None,
) -> Batch:
    """The batch with its texts. `message_at` and `source_of` (call, ordinal, result) go by position."""
    message = message_at(captured.position)
    parts = calls_of(message)
    calls = []
    for call in captured.calls:
        place = (captured.position, call.ordinal, call.result_position)
        source = source_of(*place) if source_of else None
        result = message_at(call.result_position)
        calls.append(_answered(parts[call.ordinal], result, call.occurrence, source))
    return Batch(captured.turn_index, timestamp_ms, trim(text_of(message)), tuple(calls), captured.group)


def capture_batch(message: Message, results: Sequence[Message], turn_index: int, timestamp_ms: int) -> Batch:
    """The batch of one turn, with all of its calls; what has no result says so. Numbers count over `results`."""
    branch = branch_view(skeletons_of([message, *results], ()))
    calls = []
    for ordinal, part in enumerate(calls_of(message)):
        result = branch.pairs.result_of.get((0, ordinal))
        if result is None:
            calls.append(Call(part.id, part.name, captured_arguments(part), NO_RESULT))
        else:
            calls.append(_answered(part, results[result - 1], branch.numbers[result], None))
    return Batch(turn_index, timestamp_ms, trim(text_of(message)), tuple(calls))


def _answered(part: ToolCallPart, result: Message, occurrence: int | None, source: Source | None) -> Call:
    return Call(
        tool_call_id=part.id,
        tool_name=part.name,
        args_json=captured_arguments(part),
        result_text=text_of(result),
        is_error=result.is_error,
        result_timestamp_ms=result.timestamp_ms,
        occurrence=occurrence,
        parts=result.parts if has_other_parts(result) else (),
        source=source,
    )


class _Grouped(Protocol):
    """What neighbours are compared by. None: stands alone."""

    @property
    def group(self) -> int | None: ...


_GroupedT = TypeVar("_GroupedT", bound=_Grouped)


def group_runs(batches: Sequence[_GroupedT], mode: BatchingMode | str) -> list[list[_GroupedT]]:
    """The batches that become one, as lists: neighbours of one group in mode `agent-message`, else each alone.

    A group that reappears later starts a new run. The number of runs is the number of pending batches.
    """
    runs: list[list[_GroupedT]] = []
    for batch in batches:
        joins = mode == BatchingMode.AGENT_MESSAGE and runs and batch.group is not None
        if joins and runs[-1][-1].group == batch.group:
            runs[-1].append(batch)
        else:
            runs.append([batch])
    return runs


def group_batches(batches: Sequence[Batch], mode: BatchingMode | str) -> list[Batch]:
    """The batches after grouping; a merged one has turn index and timestamp of its latest."""
    return [_merged(run) for run in group_runs(batches, mode)]


def _merged(run: Sequence[Batch]) -> Batch:
    if len(run) == 1:
        return run[0]
    text = "\n\n".join(batch.assistant_text for batch in run if batch.assistant_text)
    calls = tuple(call for batch in run for call in batch.calls)
    return Batch(run[-1].turn_index, run[-1].timestamp_ms, text, calls, run[-1].group)
