"""The archive of a chain: what would be lost with it and has no record yet, and the text that stands for it.

Candidates are positions first, so that they can be found without any body; records are made of them by fetching
their messages. Protected results are no candidates (they are relocated), nor are calls without a result.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from condense_grpc.domain.arguments import captured_arguments
from condense_grpc.domain.batches import Call, Record, RecordContext, Spill, record_of
from condense_grpc.domain.capture import MessageAt, SourceOf
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.json_text import compact, parse_or_text
from condense_grpc.domain.messages import TOOL_RESULT, calls_of, has_other_parts, text_of
from condense_grpc.domain.numbers import half_up
from condense_grpc.domain.pairing import Pairs
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.text import head_preview, utf8_bytes

ARCHIVE_TURN_INDEX = -1
SHOWN_ARGS_CHARS = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class Candidate:
    """A result to archive and the call it is filed under, by positions in one list.

    `timestamp_ms` is the result's own, else that of the call's message; `occurrence` the result's number.
    """

    call: int
    ordinal: int
    result: int
    key: str
    occurrence: int | None
    timestamp_ms: int | None


@frozen
class Bodies:
    """How complete records are made: where messages and their stored places come from, and what is spilled.

    `spill_threshold` in characters, None: nothing is.
    """

    message_at: MessageAt
    source_of: SourceOf | None = None
    path_arguments: tuple[str, ...] = ("path",)
    spill_threshold: int | None = None
    spill_preview_bytes: int = 0


def archive_candidates(
    messages: Sequence[MessageSkeleton],
    keyed: tuple[Sequence[str], Sequence[int | None]],
    span: tuple[int, int],
    protected_ids: Collection[str],
    has_record: Callable[[str], bool],
) -> list[Candidate]:
    """Results strictly inside the span that have neither record nor protection, in order.

    `keyed` is what `pairing.keys_of` says of the list. A stray result is filed under the nearest earlier call with
    its id inside the span; without one it is left out.
    """
    keys, numbers = keyed
    start, end = span
    inside = range(start + 1, end)
    fresh = {at for at in inside if messages[at].role is TOOL_RESULT and not has_record(keys[at])}
    if not fresh:
        return []
    pairs = Pairs(messages, start + 1, end)
    latest: dict[str, tuple[int, int]] = {}
    found: list[Candidate] = []
    for position in inside:
        message = messages[position]
        for ordinal, call in enumerate(message.calls):
            latest[call.id] = (position, ordinal)
        tool_call_id = message.tool_call_id
        if position not in fresh or tool_call_id in protected_ids:
            continue
        call_at = pairs.call_of.get(position) or latest.get(tool_call_id)
        if call_at is None:
            continue
        times = (message.timestamp_ms, messages[call_at[0]].timestamp_ms, messages[start].timestamp_ms)
        time = next((one for one in times if one is not None), None)
        found.append(Candidate(*call_at, position, keys[position], numbers[position], time))
    return found


def archived_record(candidate: Candidate, bodies: Bodies) -> Record:
    """The record of a candidate, complete with its text."""
    message = bodies.message_at(candidate.result)
    part = calls_of(bodies.message_at(candidate.call))[candidate.ordinal]
    text = text_of(message)
    place = (candidate.call, candidate.ordinal, candidate.result)
    call = Call(
        tool_call_id=message.tool_call_id,
        tool_name=part.name,
        args_json=captured_arguments(part),
        result_text=text,
        is_error=message.is_error,
        result_timestamp_ms=message.timestamp_ms,
        occurrence=candidate.occurrence,
        parts=message.parts if has_other_parts(message) else (),
        source=bodies.source_of(*place) if bodies.source_of else None,
    )
    spill = None
    if bodies.spill_threshold is not None and len(text) >= bodies.spill_threshold:
        spill = Spill(utf8_bytes(text), head_preview(text, bodies.spill_preview_bytes))
    context = RecordContext(ARCHIVE_TURN_INDEX, candidate.timestamp_ms, bodies.path_arguments)
    return record_of(call, context, spill)


def as_filed(record: Record) -> Record:
    """The record without bodies if these lie in stored messages, else as it is."""
    return record._replace(text=None, args_json=None, parts=()) if record.source else record


def record_time(record: Record) -> int:
    """When the result came: its own time, else that of its batch."""
    own = record.result_timestamp_ms
    return own if own is not None else record.timestamp_ms or 0


def first_and_last(records: Sequence[Record]) -> tuple[Record, Record]:
    """The earliest and the latest record; of equal times the first and the last in the given order."""
    ordered = sorted(records, key=record_time)
    return ordered[0], ordered[-1]


def build_deterministic_body(records: Sequence[Record], refs: Sequence[str], args_of: Callable[[Record], str]) -> str:
    """What stands for a chain that no summary covers: counts, span, first and last call, refs.

    `args_of` gives the arguments as JSON text (empty: none) and is asked for the first and the last record only.
    Without records the lines that name one are left out.
    """
    counts: Mapping[str, int] = Counter(record.tool_name for record in records)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = [
        "Deterministic chain compression (no per-batch summary existed for this span; "
        "raw outputs recoverable via context_tree_query).",
        f"Calls: {len(records)}",
        f"Tools: {', '.join(f'{name} x{count}' for name, count in ranked)}",
    ]
    if records:
        first, last = first_and_last(records)
        start_ms, end_ms = record_time(first), record_time(last)
        seconds = half_up((end_ms - start_ms) / 1000)
        lines += [
            f"Span: {_iso(start_ms)} -> {_iso(end_ms)} ({seconds}s)",
            f"First: {first.tool_name} {_shown_args(args_of(first))}",
            f"Last: {last.tool_name} {_shown_args(args_of(last))}",
        ]
    named = refs or [record.tool_call_id for record in records]
    return "\n".join([*lines, f"Refs: {', '.join(named)}"])


def _shown_args(args_json: str) -> str:
    text = compact(parse_or_text(args_json)) if args_json else ""
    return text if len(text) <= SHOWN_ARGS_CHARS else f"{text[:SHOWN_ARGS_CHARS]}..."


def _iso(time_ms: int) -> str:
    try:
        time = _EPOCH + timedelta(milliseconds=time_ms)
    except OverflowError:  # outside the years 1 to 9999: still a text
        return f"{time_ms}ms"
    return f"{time.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
