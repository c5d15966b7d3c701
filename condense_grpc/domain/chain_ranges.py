"""Chain ranges in a view: a compressed chain shows as one block behind the user message that opened it.

Between the boundaries everything of the work goes (assistant messages, results, our summaries); what others said
there stays. Protected results move into the block. Applying this to its own output changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from condense_grpc.domain.batches import Ref
from condense_grpc.domain.chain_body import is_block_text, synthetic_text
from condense_grpc.domain.chains import Boundaries
from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import ASSISTANT, TOOL_RESULT, USER, Part
from condense_grpc.domain.occurrence import bare_id
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.view import Block, Diagnostic, Element, block_element

Digests = Mapping[str, int]


@frozen
class ResultBody:
    """Text and other parts of a result that is shown inside a block."""

    text: str
    parts: tuple[Part, ...] = ()


@frozen
class ChainRange:
    """An accepted chain with the indexes of its boundaries."""

    entry: ChainEntry
    start: int
    final: int


@frozen
class ChainPhase:
    """What the phase needs besides the list. `body_of` gives the escaped body of an entry (as it is inserted)."""

    entries: Sequence[ChainEntry]
    body_of: Callable[[ChainEntry], str]
    result_body: Callable[[int], ResultBody]
    strip_final_thinking: bool
    digests: Digests | None = None


class Resolver(Protocol):
    """Finds the boundaries of an entry; `chains.Boundaries` is one."""

    def resolve(self, entry: ChainEntry) -> tuple[int, int] | None:
        """The indexes of start and final message; None if they are not there."""
        ...


def accept_ranges(entries: Sequence[ChainEntry], resolver: Resolver) -> tuple[list[ChainRange], list[Diagnostic]]:
    """Resolve in order; what is not there, nests or repeats a start is reported and left out."""
    resolved: list[ChainRange] = []
    diagnostics: list[Diagnostic] = []
    for entry in entries:
        found = resolver.resolve(entry)
        if found is None:
            detail = (
                f"blockId={entry.block_id} start={entry.start_user_timestamp_ms} "
                f"final={_json_number(entry.final_assistant_timestamp_ms)}"
            )
            diagnostics.append(Diagnostic("unresolved-range", entry.block_id, detail))
        else:
            resolved.append(ChainRange(entry, *found))
    accepted: list[ChainRange] = []
    starts: set[int] = set()
    around = _enclosing(resolved)
    for index, candidate in enumerate(resolved):
        outer = around[index]
        if outer is not None:
            why = f"range nests inside blockId={outer.entry.block_id}"
        elif candidate.start in starts:
            why = f"range duplicates startIndex={candidate.start} already claimed"
        else:
            accepted.append(candidate)
            starts.add(candidate.start)
            continue
        detail = f"blockId={candidate.entry.block_id} skipped: {why}"
        diagnostics.append(Diagnostic("unresolved-range", f"overlap:{candidate.entry.block_id}", detail))
    return accepted, diagnostics


def _json_number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _enclosing(ranges: Sequence[ChainRange]) -> list[ChainRange | None]:
    """For each range the first other one, in list order, that its start lies strictly inside of.

    A sweep over the starts keeps this near linear for the usual case of ranges that do not overlap.
    """
    by_start = sorted(range(len(ranges)), key=lambda index: ranges[index].start)
    found: list[ChainRange | None] = [None] * len(ranges)
    open_ranges: list[int] = []
    for index in by_start:
        start = ranges[index].start
        open_ranges = [other for other in open_ranges if ranges[other].final > start]
        inside = [other for other in open_ranges if ranges[other].start < start]
        if inside:
            found[index] = ranges[min(inside)]
        open_ranges.append(index)
    return found


def apply_chain_ranges(elements: list[Element], phase: ChainPhase) -> tuple[list[Element], list[Diagnostic]]:
    """The phase on a list of elements."""
    resolver = Boundaries([element.skeleton for element in elements], phase.digests)
    accepted, diagnostics = accept_ranges(phase.entries, resolver)
    if not accepted:
        return elements, diagnostics
    dropped: set[int] = set()
    ids: set[str] = set()
    keys: set[str] = set()
    blocks: dict[int, Element] = {}
    for chain in accepted:
        inside = elements[chain.start + 1 : chain.final]
        chain_ids = collect_names([one.skeleton for one in inside], [one.key for one in inside], keys)
        ids |= chain_ids
        diagnostics += range_mismatch(chain.entry, chain_ids)
        dropped.update(chain.start + 1 + offset for offset, element in enumerate(inside) if is_work(element.skeleton))
        body = phase.body_of(chain.entry)
        if not is_in_place(elements[chain.start + 1].skeleton, chain.entry, body):
            blocks[chain.start] = block_element(make_block(chain.entry, body, inside, phase.result_body))
        if phase.strip_final_thinking and elements[chain.final].skeleton.thinking:
            elements[chain.final].stripped = True
    shown: list[Element] = []
    for index, element in enumerate(elements):
        if index not in dropped and not overlaps(element.skeleton.summary_refs, keys, ids):
            shown.append(element)
        if index in blocks:
            shown.append(blocks[index])
    return shown, diagnostics


_WORK = (ASSISTANT, TOOL_RESULT)


def is_work(message: MessageSkeleton) -> bool:
    """Whether a message goes when it lies inside of a compressed chain."""
    return message.role in _WORK or message.is_summary


def collect_names(messages: Sequence[MessageSkeleton], keys: Sequence[str], found: set[str]) -> set[str]:
    """The bare ids of a range, given as messages with their keys; the keys of its results are added to `found`."""
    found.update(keys)
    found.discard("")  # what stands for the key of any other message
    ids = {message.tool_call_id for message in messages if message.role is TOOL_RESULT}
    ids.update([call.id for message in messages for call in message.calls])
    return ids


def range_mismatch(entry: ChainEntry, actual: set[str]) -> list[Diagnostic]:
    """The report about a range that holds other ids than the entry recorded."""
    recorded = {bare_id(item) for item in entry.dropped_tool_call_ids}
    if recorded == actual:
        return []
    detail = f"blockId={entry.block_id} recorded={len(recorded)} actual={len(actual)}"
    return [Diagnostic("range-id-mismatch", entry.block_id, detail)]


def overlaps(refs: Sequence[Ref], keys: set[str], ids: set[str]) -> bool:
    """Whether a summary with these refs speaks of a result that a compressed chain holds."""
    return any(
        ref.key in keys if ref.result_timestamp_ms is not None else bare_id(ref.tool_call_id) in ids for ref in refs
    )


def is_in_place(behind_start: MessageSkeleton, entry: ChainEntry, body: str) -> bool:
    """Whether the message behind the start of a range is the block that would be inserted there."""
    text = behind_start.block_text
    return behind_start.role is USER and text is not None and is_block_text(text, entry, body)


def make_block(
    entry: ChainEntry, body: str, inside: Sequence[Element], result_body: Callable[[int], ResultBody]
) -> Block:
    """The block of a range; the protected results inside of it are shown in it."""
    protected = set(entry.protected_tool_call_ids)
    outputs: list[tuple[str, str]] = []
    parts: list[Part] = []
    for element in inside:
        message = element.skeleton
        if message.role is not TOOL_RESULT or message.tool_call_id not in protected:
            continue
        shown = ResultBody(element.stub.text) if element.stub else result_body(element.position)
        outputs.append((message.tool_name, shown.text))
        parts += shown.parts
    return Block(entry, synthetic_text(entry, body, outputs), tuple(parts))
